#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "components/transport/tcp/connection.h"
#include "components/transport/tcp/interface.h"
#include "framework/base/stream_socket.h"

// Arriving over a connection: frames, and the bytes of gets, which go where they belong without a copy.
namespace ashlar::tcp {
namespace {

constexpr std::size_t kReadAtOnce = 256 << 10;
// While this process waits for bytes of gets: what stands before them, as they are to be read into their memory.
constexpr std::size_t kReadBeforeGets = 4 << 10;
constexpr int kReadsPerLook = 8;
constexpr ssize_t kMuch = 16 << 10;  // bytes of a read behind which more may wait for room in the sender's window
// Where a read of a long get brings less than this, the next one is put off: many small reads keep the sender's system
// from sending, and a processor from doing anything else. At 5 GB/s a third of what is left arrives meanwhile, at most.
constexpr ssize_t kWorthARead = 64 << 10;
constexpr std::uint64_t kMostPaused = 20'000;  // ns
constexpr std::uint64_t kBytesPerPausedNs = 16;
constexpr std::uint32_t kLongestFrame = 64 << 20;

}  // namespace

unsigned Connection::ready(std::uint32_t events) {
  unsigned handled = 0;
  if ((events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) handled = receive();
  if (!closed && (events & EPOLLOUT) != 0) flush();
  return handled;
}

unsigned Connection::receive() {
  unsigned events = 0;
  for (int reads = 0; reads < kReadsPerLook && !closed; ++reads) {
    const std::size_t before = carry_.size();
    const std::size_t room = peer_.gets.empty() || before >= sizeof(Frame) ? kReadAtOnce : kReadBeforeGets;
    std::vector<std::byte>& scratch = iface_.scratch(before + room);
    if (before != 0) std::memcpy(scratch.data(), carry_.data(), before);
    // While the bytes of a get arrive, nothing is carried.
    const bool direct = direct_.left != 0 && direct_.to != nullptr;
    iovec parts[2] = {{direct_.to, direct_.left}, {scratch.data() + before, room}};
    const ssize_t got = direct ? readv(fd(), parts, 2) : recv(fd(), parts[1].iov_base, parts[1].iov_len, 0);
    iface_.counters.reads.add();
    if (is_later(got)) break;
    if (got <= 0) {
      // Either side closes a rail that it does not need.
      end(got != 0 ? std::strerror(errno) : rail_ ? "" : "it closed its connection");
      return events + 1;
    }
    heard_ = true;
    iface_.heard(*this);
    last_used_ = peer_.last_heard = iface_.clock();
    if (peer_.rails != nullptr) peer_.rails->heard(*this);
    auto bytes = static_cast<std::size_t>(got);
    const std::size_t wanted = parts[1].iov_len + (direct ? direct_.left : 0);
    if (direct) {
      const std::uint64_t taken = std::min<std::uint64_t>(bytes, direct_.left);
      bytes -= taken;
      arrived(taken);
      ++events;
    }
    const std::size_t have = before + bytes;
    const std::size_t used = parse(scratch.data(), have, &events);
    if (closed) return events + 1;
    carry_.assign(iface_.scratch(0).begin() + static_cast<std::ptrdiff_t>(used),
                  iface_.scratch(0).begin() + static_cast<std::ptrdiff_t>(have));
    if (static_cast<std::size_t>(got) < wanted) {
      if (got < kWorthARead) pause();
      if (got >= kMuch || !carry_.empty() || direct_.left != 0) iface_.acknowledge_later(*this);
      break;
    }
  }
  return events;
}

/// In the middle of a get.
void Connection::pause() {
  if (direct_.left == 0 || direct_.to == nullptr) return;
  const auto get = peer_.gets.find(direct_.request);
  if (get == peer_.gets.end()) return;
  iface_.pause(std::min((get->second.length - get->second.received) / kBytesPerPausedNs, kMostPaused));
}

/// Returns how many of the bytes were whole frames, or belonged to a get.
std::size_t Connection::parse(const std::byte* bytes, std::size_t count, unsigned* events) {
  std::size_t at = 0;
  while (!closed) {
    if (direct_.left != 0) {
      const std::uint64_t taken = std::min<std::uint64_t>(count - at, direct_.left);
      if (taken == 0) break;
      if (direct_.to != nullptr) {
        std::memcpy(direct_.to, bytes + at, taken);
        iface_.counters.copied_bytes.add(taken);
      }
      at += taken;
      arrived(taken);
      ++*events;
      continue;
    }
    Frame frame;
    if (count - at < sizeof frame) break;
    std::memcpy(&frame, bytes + at, sizeof frame);
    if (frame.length > kLongestFrame || (heard_bye_ && frame.kind != Kind::kOver)) {
      end("it sent what is no frame");
      break;
    }
    if (!rail_ && !peer_.out.acknowledge(frame.ack)) {
      iface_.disagree(*this);
      break;
    }
    if (frame.kind != Kind::kGetData && count - at - sizeof frame < frame.length) break;
    const std::byte* const data = bytes + at + sizeof frame;
    at += sizeof frame + (frame.kind == Kind::kGetData ? 0 : frame.length);
    ++*events;
    if (!take(frame, data, events)) break;
  }
  return at;
}

/// False: the connection is over.
bool Connection::take(const Frame& frame, const std::byte* data, unsigned*) {
  if (begun_ != (frame.kind != Kind::kChosen)) return end("it did not begin as it has to");
  if (rail_ && frame.kind != Kind::kGet && frame.kind != Kind::kGetData && frame.kind != Kind::kGetFailed)
    return end("it sent what does not belong on a rail");
  switch (frame.kind) {
    case Kind::kMessage:
      on_message(frame, data);
      return !closed;
    case Kind::kGet:
      serve(frame, data);
      return !closed;
    case Kind::kGetData: {
      const auto get = peer_.gets.find(frame.h0);
      const bool good =
          get != peer_.gets.end() && frame.h1 == get->second.received && frame.length <= get->second.length - frame.h1;
      direct_ = {.to = good ? get->second.to + frame.h1 : nullptr, .left = frame.length, .request = frame.h0};
      return true;
    }
    case Kind::kGetFailed:
      iface_.end_get(peer_, frame.h0, false);
      return !closed;
    case Kind::kBye:
      heard_bye_ = true;
      iface_.take_leave(*this, frame.h0 != 0);
      return !closed;
    case Kind::kOver:
      heard_over_ = true;
      finish_if_over();
      return !closed;
    case Kind::kChosen:
      return on_chosen(frame, data);
    case Kind::kAsk:
      iface_.counters.acknowledgements.add();
      send({.length = 0, .kind = Kind::kAck, .id = 0, .ack = peer_.count(), .h0 = 0, .h1 = 0}, nullptr);
      return !closed;
    case Kind::kWake:
    case Kind::kAck:
      return true;
  }
  return end("it sent what is no frame");
}

void Connection::on_message(const Frame& frame, const std::byte* data) {
  if (to_skip_ > 0) [[unlikely]] {
    --to_skip_;
    iface_.counters.skipped.add();
    return;
  }
  ++peer_.received;
  iface_.deliver(peer_, frame, data);
}

/// The side that was called is there.
bool Connection::on_chosen(const Frame& frame, const std::byte* data) {
  Chosen chosen = {.frame = frame, .epoch = 0};
  if (frame.length != sizeof chosen.epoch) return end("it did not begin as it has to");
  std::memcpy(&chosen.epoch, data, sizeof chosen.epoch);
  if (chosen.epoch != peer_.epoch) return end("it began another connection");
  begun_ = true;
  to_skip_ = iface_.messages_to_skip(peer_, frame.h1);
  return true;
}

/// The peer reads memory of this process.
void Connection::serve(const Frame& frame, const std::byte* data) {
  GetRequest wanted = {};
  if (frame.length == sizeof wanted) std::memcpy(&wanted, data, sizeof wanted);
  const std::byte* const at = iface_.exposed(wanted.region, wanted.offset, wanted.length);
  if (at == nullptr) return iface_.refuse_get(*this, frame.h0);
  if (said_bye_) return;  // it asks anew, over the next connection
  serving_.push_back(
      {.request = frame.h0, .region = wanted.region, .at = at, .offset = frame.h1, .left = wanted.length});
  flush();
}

void Connection::arrived(std::uint64_t bytes) {
  direct_.left -= bytes;
  if (direct_.to == nullptr) return;
  direct_.to += bytes;
  const auto get = peer_.gets.find(direct_.request);
  if (get == peer_.gets.end()) return;
  get->second.received += bytes;
  iface_.counters.get_bytes.add(bytes);
  if (get->second.received < get->second.length) return;
  if (direct_.left == 0) direct_.to = nullptr;
  iface_.end_get(peer_, direct_.request, true);
}

void Connection::forget_get(std::uint64_t request) {
  if (direct_.left != 0 && direct_.request == request) direct_.to = nullptr;
}

void Connection::forget_region(std::uint64_t region) {
  if (chunk_.left == 0 || chunk_.region != region) return;
  // The frame has begun and must be whole; the peer learns that what comes after it is missing.
  chunk_copy_.assign(chunk_.at, chunk_.at + chunk_.left);
  chunk_.at = chunk_copy_.data();
  chunk_.region = 0;
}

bool Connection::take_serving_of(std::uint64_t region, std::uint64_t* request) {
  const auto found =
      std::find_if(serving_.begin(), serving_.end(), [&](const Serving& serving) { return serving.region == region; });
  if (found == serving_.end()) return false;
  *request = found->request;
  serving_.erase(found);
  return true;
}

bool Connection::end(const char* reason) {
  iface_.ended(*this, reason);
  return false;
}

}  // namespace ashlar::tcp
