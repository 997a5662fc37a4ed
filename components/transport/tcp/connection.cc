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

}  // namespace

Connection::Connection(Interface& iface, Endpoint& peer, Descriptor socket, bool dialled)
    : Watched(std::move(socket)),
      iface_(iface),
      peer_(peer),
      dialled_(dialled),
      at_(SocketAddress::of_peer(fd()).text()) {
  last_used_ = iface.clock();
  iface_.counters.connections.raise();
  iface_.watch(*this, EPOLLIN);
}

Connection::~Connection() {
  iface_.counters.connections.lower();
  iface_.counters.buffered.lower(out_.size());
}

void Connection::queued(std::size_t bytes) { iface_.counters.buffered.raise(bytes); }

bool Connection::room_for(std::size_t bytes) {
  const std::size_t limit = iface_.config().send_buffer;
  const auto fits = [&] { return out_.empty() || out_.size() + bytes <= limit; };
  if (fits()) return true;
  flush();
  if (fits()) return true;
  iface_.counters.full.add();
  return false;
}

/// The message leaves at once, or what the socket does not take of it is queued.
ashlar_result Connection::send_now(const Frame& frame, const void* data) {
  iovec parts[2] = {{const_cast<Frame*>(&frame), sizeof frame}, {const_cast<void*>(data), frame.length}};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = frame.length != 0 ? 2 : 1;
  const ssize_t sent = sendmsg(fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  iface_.counters.writes.add();
  const std::size_t whole = sizeof frame + frame.length;
  if (sent == static_cast<ssize_t>(whole)) [[likely]]
    return ASHLAR_OK;
  if (sent < 0 && errno != EAGAIN && errno != EINTR && errno != ENOBUFS) {
    write_failed_ = true;  // reading tells why
    return ASHLAR_AGAIN;
  }
  std::size_t left = sent > 0 ? static_cast<std::size_t>(sent) : 0;
  const std::size_t of_head = std::min(left, sizeof frame);
  queued(whole - left);
  out_.append(reinterpret_cast<const std::byte*>(&frame) + of_head, sizeof frame - of_head);
  left -= of_head;
  out_.append(static_cast<const std::byte*>(data) + left, frame.length - left);
  update_watch();
  return ASHLAR_OK;
}

ashlar_result Connection::send(const Frame& frame, const void* data) {
  if (write_failed_) return ASHLAR_AGAIN;
  last_used_ = iface_.clock();
  if (burst_round_ != iface_.round()) {
    burst_round_ = iface_.round();
    burst_ = 0;
  }
  if (sent_all() && peer_.serving.empty() && burst_ < iface_.config().coalesce_after) {
    ++burst_;
    return send_now(frame, data);
  }
  std::byte* const to = reserve(frame);
  if (to == nullptr) return ASHLAR_AGAIN;
  if (frame.length != 0) std::memcpy(to, data, frame.length);
  iface_.counters.coalesced.add();
  if (out_.size() >= kFlushFrom)
    flush();
  else
    iface_.flush_later(*this);
  return ASHLAR_OK;
}

std::byte* Connection::reserve(const Frame& frame) {
  const std::size_t bytes = sizeof frame + frame.length;
  if (write_failed_ || !room_for(bytes)) return nullptr;
  last_used_ = iface_.clock();
  std::byte* const to = out_.append(bytes);
  queued(bytes);
  std::memcpy(to, &frame, sizeof frame);
  return to + sizeof frame;
}

void Connection::commit() { flush(); }

void Connection::retract(const Frame& frame) {
  out_.take_back(sizeof frame + frame.length);
  iface_.counters.buffered.lower(sizeof frame + frame.length);
}

void Connection::begin(Stream waiting) {
  if (!waiting.empty()) out_.append(waiting.data(), waiting.size());  // counted as buffered already
  flush();
}

/// Puts the head of the next piece of exposed memory behind what waits.
void Connection::next_chunk() {
  if (chunk_.left != 0 || peer_.serving.empty() || said_bye_ || out_.size() >= kFlushFrom) return;
  Serving& serving = peer_.serving.front();
  const std::uint64_t length = std::min<std::uint64_t>(serving.left, iface_.config().get_chunk);
  const Frame frame = {.length = static_cast<std::uint32_t>(length),
                       .kind = Kind::kGetData,
                       .id = 0,
                       .reserved = 0,
                       .h0 = serving.request,
                       .h1 = serving.offset};
  out_.append(&frame, sizeof frame);
  queued(sizeof frame);
  chunk_ = {.at = serving.at, .left = length, .after = out_.size(), .region = serving.region};
  iface_.counters.served_bytes.add(length);
  serving.at += length;
  serving.offset += length;
  serving.left -= length;
  if (serving.left == 0) peer_.serving.pop_front();
}

void Connection::flush() {
  for (std::size_t budget = kFlushMost; !write_failed_ && budget > 0;) {
    next_chunk();
    if (sent_all()) break;
    iovec parts[3];
    int count = 0;
    const std::size_t first = chunk_.left != 0 ? chunk_.after : out_.size();
    auto* const bytes = const_cast<std::byte*>(out_.data());
    if (first != 0) parts[count++] = {bytes, first};
    if (chunk_.left != 0) {
      parts[count++] = {const_cast<std::byte*>(chunk_.at), chunk_.left};
      if (out_.size() > first) parts[count++] = {bytes + first, out_.size() - first};
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
    auto left = static_cast<std::size_t>(sent);
    budget -= std::min(budget, left);
    const std::size_t before = std::min(left, first);
    out_.consume(before);
    iface_.counters.buffered.lower(before);
    left -= before;
    if (chunk_.left != 0) {
      chunk_.after -= before;
      const std::uint64_t of_chunk = std::min<std::uint64_t>(left, chunk_.left);
      chunk_.at += of_chunk;
      chunk_.left -= of_chunk;
      left -= of_chunk;
      out_.consume(left);
      iface_.counters.buffered.lower(left);
    }
  }
  update_watch();
  finish_if_over();
}

bool Connection::quiet() const {
  return sent_all() && carry_.empty() && direct_.left == 0 && !parked_ && !said_bye_ && peer_.serving.empty() &&
         peer_.gets.empty();
}

void Connection::say_bye() {
  if (said_bye_) return;
  said_bye_ = true;
  const Frame bye = {.length = 0, .kind = Kind::kBye, .id = 0, .reserved = 0, .h0 = 0, .h1 = 0};
  out_.append(&bye, sizeof bye);
  queued(sizeof bye);
  flush();
}

/// Of a connection whose last frame has left: the system is told, and after both last frames it is closed.
void Connection::finish_if_over() {
  if (!said_bye_ || !sent_all() || closed) return;
  if (!shut_) {
    shut_ = true;
    shutdown(fd(), SHUT_WR);
  }
  if (heard_bye_) iface_.ended(*this, "");
}

void Connection::park(bool parked) {
  parked_ = parked;
  update_watch();
}

void Connection::update_watch() {
  if (closed) return;
  const bool more = (!sent_all() || (!peer_.serving.empty() && !said_bye_)) && !write_failed_;
  iface_.watch(
      *this, (parked_ ? 0u : static_cast<std::uint32_t>(EPOLLIN)) | (more ? static_cast<std::uint32_t>(EPOLLOUT) : 0u));
}

}  // namespace ashlar::tcp
