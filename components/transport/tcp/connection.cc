#include "components/transport/tcp/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "components/transport/tcp/interface.h"

// Sending over a connection.
namespace ashlar::tcp {
namespace {

constexpr std::size_t kFlushFrom = 64 << 10;  // bytes that are worth a system call of their own
constexpr std::size_t kFlushMost = 4 << 20;   // bytes that one flush sends at most
constexpr int kPartsAtOnce = 16;

}  // namespace

Connection::Connection(Interface& iface, Endpoint& peer, Descriptor socket, bool dialled, Use use)
    : Watched(std::move(socket)),
      iface_(iface),
      peer_(peer),
      dialled_(dialled),
      rail_(use == Use::kRail),
      begun_(!dialled || rail_),
      at_(SocketAddress::of_peer(fd())),
      own_out_(rail_ ? iface.make_outbox() : nullptr),
      out_(rail_ ? *own_out_ : peer.out) {
  last_used_ = iface.clock();
  iface_.counters.connections.raise();
  if (rail_ && dialled_) iface_.counters.rails.raise();
  iface_.watch(*this, EPOLLIN);
}

Connection::~Connection() {
  iface_.counters.connections.lower();
  if (rail_ && dialled_) iface_.counters.rails.lower();
  if (flight_.bounded()) iface_.counters.short_paths.lower();
}

bool Connection::make_room(std::size_t bytes) {
  if (peer_.has_room(bytes)) return true;
  flush();
  if (peer_.has_room(bytes)) return true;
  ask_if_due();
  return false;
}

std::size_t Connection::may_leave() const { return said_bye_ ? until_bye_ : out_.waiting(); }

bool Connection::sent_all() const { return may_leave() == 0 && chunk_.left == 0; }

/// The one frame that waits leaves, or what the socket takes of it.
void Connection::send_now() {
  iovec part;
  (void)out_.gather(&part, 1, 0, SIZE_MAX);
  const ssize_t sent = ::send(fd(), part.iov_base, part.iov_len, MSG_NOSIGNAL | MSG_DONTWAIT);
  iface_.counters.writes.add();
  if (sent > 0) {
    owes_ = false;
    out_.sent(static_cast<std::size_t>(sent));
  }
  if (sent == static_cast<ssize_t>(part.iov_len)) [[likely]]
    return;
  if (sent < 0 && errno != EAGAIN && errno != EINTR && errno != ENOBUFS) write_failed_ = true;  // reading tells why
  update_watch();
}

void Connection::send(const Frame& frame, const void* data) {
  iface_.expect_answer();
  last_used_ = iface_.clock();
  if (burst_round_ != iface_.round()) {
    burst_round_ = iface_.round();
    burst_ = 0;
  }
  const bool at_once =
      sent_all() && serving_.empty() && !said_bye_ && !write_failed_ && burst_ < iface_.config().coalesce_after;
  std::byte* const to = out_.append(sizeof frame + frame.length, frame.kind == Kind::kMessage);
  std::memcpy(to, &frame, sizeof frame);
  if (frame.length != 0) std::memcpy(to + sizeof frame, data, frame.length);
  if (at_once) {
    ++burst_;
    send_now();
    return ask_if_due();
  }
  ask_if_due();
  iface_.counters.coalesced.add();
  if (out_.waiting() >= kFlushFrom)
    flush();
  else
    iface_.flush_later(*this);
}

void Connection::commit() {
  iface_.expect_answer();
  last_used_ = iface_.clock();
  ask_if_due();
  flush();
}

/// Where traffic goes one way only, or neither side has room for a message, the peer has no frame that could say what
/// it has received. So an endpoint that has no room has bytes that leave, or a question under way.
void Connection::ask_if_due() {
  if (!peer_.should_ask() || rail_) [[likely]]
    return;
  peer_.asked = out_.next();
  const Frame ask = {.length = 0, .kind = Kind::kAsk, .id = 0, .ack = peer_.count(), .h0 = 0, .h1 = 0};
  std::memcpy(out_.append(sizeof ask, false), &ask, sizeof ask);
  iface_.flush_later(*this);
}

void Connection::begin(std::uint64_t to_skip) {
  to_skip_ = to_skip;
  flush();
}

/// What this connection serves is bounded where its path is short.
void Connection::fit_flight() {
  const bool changes = flight_.fit(fd(), iface_.in_flight(), iface_.clock());
  if (changes && flight_.bounded()) iface_.counters.short_paths.raise();
  if (changes && !flight_.bounded()) iface_.counters.short_paths.lower();
  iface_.tell_flight(peer_, flight_);
}

/// Puts the head of the next piece of exposed memory behind what waits.
void Connection::next_chunk() {
  if (chunk_.left != 0 || serving_.empty() || said_bye_ || out_.waiting() >= kFlushFrom) return;
  fit_flight();
  Serving& serving = serving_.front();
  const std::uint64_t chunk = iface_.get_chunk();
  const std::uint64_t length = std::min(serving.left, chunk != 0 ? chunk : flight_.piece());
  const Frame frame = {.length = static_cast<std::uint32_t>(length),
                       .kind = Kind::kGetData,
                       .id = 0,
                       .ack = peer_.count(),
                       .h0 = serving.request,
                       .h1 = serving.offset};
  std::memcpy(out_.append(sizeof frame, false), &frame, sizeof frame);
  chunk_ = {.at = serving.at, .left = length, .after = out_.waiting(), .region = serving.region};
  iface_.counters.served_bytes.add(length);
  serving.at += length;
  serving.offset += length;
  serving.left -= length;
  if (serving.left == 0) serving_.pop_front();
}

void Connection::begin_rail() {
  const Chosen chosen = {
      .frame = {.length = sizeof chosen.epoch, .kind = Kind::kChosen, .id = 0, .ack = 0, .h0 = 0, .h1 = 0}, .epoch = 0};
  std::memcpy(out_.append(sizeof chosen, false), &chosen, sizeof chosen);
  flush();
}

void Connection::flush() {
  Outbox& out = out_;
  for (std::size_t budget = kFlushMost; !write_failed_ && budget > 0;) {
    next_chunk();
    if (sent_all()) break;
    iovec parts[kPartsAtOnce];
    const std::size_t first = chunk_.left != 0 ? chunk_.after : may_leave();
    int count = out.gather(parts, kPartsAtOnce / 2, 0, first);
    std::size_t before = 0;  // bytes of these parts
    for (int i = 0; i < count; ++i) before += parts[i].iov_len;
    if (chunk_.left != 0 && before == first) {
      parts[count++] = {const_cast<std::byte*>(chunk_.at), chunk_.left};
      count += out.gather(parts + count, kPartsAtOnce - count, first, may_leave() - first);
    }
    msghdr message = {};
    message.msg_iov = parts;
    message.msg_iovlen = static_cast<std::size_t>(count);
    const ssize_t sent = sendmsg(fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    iface_.counters.writes.add();
    if (sent < 0) {
      write_failed_ = errno != EAGAIN && errno != EINTR && errno != ENOBUFS;
      break;
    }
    owes_ = false;
    auto left = static_cast<std::size_t>(sent);
    budget -= std::min(budget, left);
    before = std::min(left, before);
    left -= before;
    std::uint64_t of_chunk = 0;
    if (chunk_.left != 0) {
      of_chunk = std::min<std::uint64_t>(left, chunk_.left);
      chunk_.after -= before;
      chunk_.at += of_chunk;
      chunk_.left -= of_chunk;
    }
    const std::size_t of_out = static_cast<std::size_t>(sent) - of_chunk;
    if (said_bye_) until_bye_ -= of_out;
    out.sent(of_out);
  }
  update_watch();
  finish_if_over();
}

bool Connection::quiet() const {
  return sent_all() && carry_.empty() && direct_.left == 0 && !said_bye_ && serving_.empty() && peer_.gets.empty();
}

void Connection::say_bye(bool for_good) {
  for_good_ = for_good_ || for_good;
  if (said_bye_) return finish_if_over();
  said_bye_ = true;
  serving_.clear();
  const Frame bye = {.length = 0, .kind = Kind::kBye, .id = 0, .ack = peer_.count(), .h0 = for_good ? 1u : 0u, .h1 = 0};
  std::memcpy(out_.append(sizeof bye, false), &bye, sizeof bye);
  until_bye_ = out_.waiting();
  flush();
}

/// Both sides have said that they end: the last word is how many messages have come, so that none is sent again.
void Connection::finish_if_over() {
  if (!said_bye_ || !heard_bye_ || !sent_all() || closed) return;
  if (!said_over_) {
    const Frame over = {.length = 0, .kind = Kind::kOver, .id = 0, .ack = peer_.count(), .h0 = 0, .h1 = 0};
    // Where it does not go, the end of the stream is as good, but for a message or two that are sent again.
    (void)::send(fd(), &over, sizeof over, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(fd(), SHUT_WR);
    said_over_ = true;
  }
  if (heard_over_) iface_.ended(*this, "");
}

void Connection::update_watch() {
  if (closed) return;
  const bool more = (!sent_all() || (!serving_.empty() && !said_bye_)) && !write_failed_;
  iface_.watch(*this, EPOLLIN | (more ? static_cast<std::uint32_t>(EPOLLOUT) : 0u));
}

}  // namespace ashlar::tcp
