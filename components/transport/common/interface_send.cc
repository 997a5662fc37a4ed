#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "components/transport/common/interface.h"

// Sending. Short messages leave at once, copied by the library where it can; a row of them leaves together.
namespace ashlar::network {
namespace {

constexpr std::size_t kInjectMost = 256;
constexpr std::uint64_t kLeastPiece = 32 * 1024;  // of a read
// A library keeps injected messages that the network does not take, as many as there are: so now and then one goes
// whose end is told, and until then no other is injected.
constexpr std::uint32_t kInjectedMost = 64;

/// A transfer of more than the library takes at once: it is over with the last of its parts.
class Parts : public ashlar_completion {
 public:
  Parts(ashlar_completion* user, std::uint64_t count) : user_(user), missing_(count) {
    done = [](ashlar_completion* self, ashlar_result result) {
      auto& parts = *static_cast<Parts*>(self);
      if (result != ASHLAR_OK) parts.result_ = result;
      if (--parts.missing_ == 0) parts.user_->done(parts.user_, parts.result_);
    };
  }
  void hold(Registrations& from, Region& region, std::uint64_t bytes) { here_.emplace(from, region, bytes); }

 private:
  ashlar_completion* const user_;
  std::uint64_t missing_;
  ashlar_result result_ = ASHLAR_OK;
  std::optional<HeldRegion> here_;
};

}  // namespace

/// Whether a message to the peer goes behind others here.
bool Interface::queues(const Endpoint& peer) const {
  return peer.way != Endpoint::Way::kOpen || !peer.waiting.empty() || !peer.first.empty() || peer.batch != nullptr;
}

/// Whether the peer may have so many more bytes under way.
bool Interface::may_buffer(Endpoint& peer, std::uint64_t bytes) {
  if (peer.bytes_out == 0 || peer.bytes_out + bytes <= config_.send_buffer) [[likely]]
    return true;
  make_room(peer);
  if (peer.bytes_out == 0 || peer.bytes_out + bytes <= config_.send_buffer) return true;
  counters.full.add();
  pace_.heat();
  return false;
}

Buffer* Interface::buffer_for(Endpoint& peer, std::uint32_t length) {
  const std::uint64_t bytes = framed(length);
  if (!may_buffer(peer, bytes)) return nullptr;
  Buffer* const buffer = (length <= kMaxShort ? *small_ : *large_).take();
  if (buffer == nullptr) return nullptr;
  buffer->what = Operation::What::kSend;
  buffer->peer = &peer;
  buffer->end_at(bytes);
  return buffer;
}

void Interface::send(Endpoint& peer, Buffer& message, std::uint32_t length) {
  ++peer.number;
  counters.sent.add();
  pace_.expect();
  counters.sent_bytes.add(length);
  submit(peer, message);
}

ashlar_result Interface::send_short(Endpoint& peer, const Frame& frame, const void* data) {
  if (peer.burst_round != pace_.round()) {
    peer.burst_round = pace_.round();
    peer.burst = 0;
  }
  ashlar_result result = ASHLAR_OK;
  if (queues(peer) || peer.burst >= config_.coalesce_after) {
    result = collect(peer, frame, data);
  } else if (inject(peer, frame, data)) {
    ++peer.burst;
  } else {
    ++peer.burst;
    Buffer* const buffer = buffer_for(peer, frame.length);
    if (buffer == nullptr) return ASHLAR_AGAIN;
    buffer->frame() = frame;
    if (frame.length != 0) std::memcpy(buffer->payload(), data, frame.length);
    submit(peer, *buffer);
  }
  if (result != ASHLAR_OK) return result;
  ++peer.number;
  counters.sent.add();
  pace_.expect();
  counters.sent_bytes.add(frame.length);
  return ASHLAR_OK;
}

/// Sends without a completion, which costs system calls with libfabric's providers over sockets. False: it is to be
/// sent otherwise.
bool Interface::inject(Endpoint& peer, const Frame& frame, const void* data) {
  const std::size_t bytes = framed(frame.length);
  if (bytes > std::min(kInjectMost, fabric_->inject_most()) || peer.under_way != 0 || peer.injected >= kInjectedMost)
    return false;
  std::array<std::byte, kInjectMost> packet;
  std::memset(packet.data() + bytes - kFrameAlignment, 0, kFrameAlignment);
  std::memcpy(packet.data(), &frame, sizeof frame);
  if (frame.length != 0) std::memcpy(packet.data() + sizeof frame, data, frame.length);
  if (!fabric_->inject(packet.data(), bytes, peer.at)) return false;
  ++peer.injected;
  counters.injected.add();
  return true;
}

/// Puts the message behind others in one buffer, which leaves when it is full or in the next round of progress.
ashlar_result Interface::collect(Endpoint& peer, const Frame& frame, const void* data) {
  const auto room = static_cast<std::uint32_t>(framed(frame.length));
  if (peer.batch != nullptr && peer.batch->length + room > sizeof(Frame) + peer.max_bcopy) {
    close_batch(peer);
    (void)flush(peer);  // a failure is told in the next round
  }
  if (!may_buffer(peer, room)) return ASHLAR_AGAIN;
  if (peer.batch == nullptr) {
    Buffer* const buffer = large_->take();
    if (buffer == nullptr) return ASHLAR_AGAIN;
    buffer->what = Operation::What::kSend;
    buffer->peer = &peer;
    buffer->length = 0;
    peer.batch = buffer;
    flush_later(peer);
  } else {
    counters.coalesced.add();
  }
  std::byte* const to = peer.batch->bytes + peer.batch->length;
  std::memcpy(to, &frame, sizeof frame);
  if (frame.length != 0) std::memcpy(to + sizeof frame, data, frame.length);
  std::memset(to + sizeof frame + frame.length, 0, room - sizeof frame - frame.length);
  peer.batch->length += room;
  peer.bytes_out += room;
  counters.buffered.raise(room);
  return ASHLAR_OK;
}

/// The batch takes no more, and waits as other messages do.
void Interface::close_batch(Endpoint& peer) {
  if (peer.batch != nullptr) peer.waiting.push(*std::exchange(peer.batch, nullptr));
}

void Interface::control(Endpoint& peer, Kind kind, const void* data, std::uint32_t length) {
  if (Buffer* const buffer = frame_to(peer, kind, data, length); buffer != nullptr) submit(peer, *buffer);
}

/// A frame of a protocol of ours; nullptr: there is no memory.
Buffer* Interface::frame_to(Endpoint& peer, Kind kind, const void* data, std::uint32_t length) {
  Buffer* const buffer = small_->take();
  if (buffer == nullptr) return nullptr;
  buffer->what = Operation::What::kSend;
  buffer->peer = &peer;
  buffer->end_at(framed(length));
  buffer->frame() = {.token = peer.keys.token,
                     .h0 = 0,
                     .h1 = 0,
                     .number = peer.number,
                     .kind = kind,
                     .id = 0,
                     .length = static_cast<std::uint16_t>(length)};
  if (length != 0) std::memcpy(buffer->payload(), data, length);
  return buffer;
}

/// The buffer is among what waits for the peer, or is under way to it.
void Interface::count(Endpoint& peer, const Buffer& buffer) {
  peer.bytes_out += buffer.length;
  counters.buffered.raise(buffer.length);
}

/// It was not given to the library.
void Interface::drop(Endpoint& peer, Buffer& buffer) {
  peer.bytes_out -= buffer.length;
  counters.buffered.lower(buffer.length);
  buffer.pool->give_back(buffer);
}

void Interface::submit(Endpoint& peer, Buffer& buffer) {
  count(peer, buffer);
  if (!queues(peer)) {
    const Posted posted = post(peer, buffer);
    if (posted == Posted::kDone || posted == Posted::kYes) return;
  }
  close_batch(peer);
  peer.waiting.push(buffer);
  flush_later(peer);
}

Interface::Posted Interface::post(Endpoint& peer, Buffer& buffer) {
  if (counters.under_way.now.get() >= fabric_->sends()) return Posted::kLater;
  const Posted posted = fabric_->post(buffer, peer.at);
  if (posted == Posted::kDone || posted == Posted::kYes) [[likely]] {
    ++peer.under_way;
    counters.under_way.raise();
    if (posted == Posted::kYes) {
      peer.injected = 0;
    } else {
      ++peer.injected;
      counters.injected.add();
      sent(buffer);
    }
    return posted;
  }
  counters.again.add();
  pace_.heat();  // it takes more once its queue was read
  return posted;
}

Interface::Posted Interface::post(Endpoint& peer, Transfer& transfer) {
  if (counters.under_way.now.get() >= fabric_->sends()) return Posted::kLater;
  const Posted posted = fabric_->post(transfer, peer.at);
  if (posted == Posted::kYes) {
    peer.transfers.insert(&transfer);
    if (is_bounded(transfer)) peer.reading += transfer.length;
    if (is_measured(transfer)) peer.meter.ask(transfer.length, now_ns());
    counters.under_way.raise();
    return posted;
  }
  counters.again.add();
  pace_.heat();
  return posted;
}

/// Whether a transfer waits, and the first that does may begin. What a peer has sent beyond the bound waits in the
/// system, and has left the caches when it is read.
bool Interface::may_transfer(const Endpoint& peer) const {
  if (peer.transfers_waiting.empty()) return false;
  const Transfer& first = *peer.transfers_waiting.front();
  const std::uint64_t most = fabric_->in_flight();
  return most == 0 || !is_bounded(first) || peer.reading == 0 || peer.reading + first.length <= most;
}

bool Interface::has_to_send(const Endpoint& peer) const {
  return !peer.first.empty() ||
         (peer.way == Endpoint::Way::kOpen && (!peer.waiting.empty() || peer.batch != nullptr || may_transfer(peer)));
}

void Interface::flush_later(Endpoint& peer) {
  if (peer.to_flush || !has_to_send(peer)) return;
  peer.to_flush = true;
  to_flush_.push_back(&peer);
}

bool Interface::flush(Endpoint& peer) {
  bool more = true, failed = false;
  const auto gone = [&](Posted posted) {
    more = posted == Posted::kDone || posted == Posted::kYes;
    failed = posted == Posted::kFailed;
    return more;
  };
  const auto empty = [&](BufferQueue& queue) {
    while (more && !queue.empty()) {
      // Before it is posted: it has the link to the next one.
      Buffer* const buffer = queue.first();
      Buffer* const next = buffer->next;
      if (gone(post(peer, *buffer))) queue.drop_first(next);
    }
  };
  empty(peer.first);
  if (peer.way == Endpoint::Way::kOpen) {
    empty(peer.waiting);
    // While the library takes no more, the batch takes further messages.
    if (more) close_batch(peer);
    empty(peer.waiting);
    while (more && may_transfer(peer)) {
      Transfer* const transfer = peer.transfers_waiting.front();
      peer.transfers_waiting.pop_front();
      if (!gone(post(peer, *transfer))) peer.transfers_waiting.push_front(transfer);
    }
    leave(peer);
  }
  return !failed;
}

void Interface::flush_all() {
  std::vector<Endpoint*> peers;
  peers.swap(to_flush_);
  for (Endpoint* peer : peers) {
    peer->to_flush = false;
    if (!flush(*peer))
      fail(*peer, std::string(traits_.library) + " cannot send there: " + fabric_->reason(), Gone::kPerhaps);
    flush_later(*peer);
  }
}

ashlar_result Interface::transfer(Operation::What what, Endpoint& peer, void* here, const Key& key,
                                  std::uint64_t offset, std::uint64_t length, ashlar_completion* done) {
  const bool puts = what == Operation::What::kPut;
  if (!puts && rails_.last() != 0 && length >= config_.stripe_from &&
      read_striped(peer, here, key, offset, length, done))
    return ASHLAR_PENDING;
  std::uint64_t most = fabric_->transfer_most();
  // While one piece arrives, the next one is on its way.
  if (!puts && fabric_->in_flight() != 0) most = std::min(most, std::max(fabric_->in_flight() / 2, kLeastPiece));
  std::shared_ptr<Parts> parts;
  if (length > most) [[unlikely]]
    parts = std::make_shared<Parts>(done, (length + most - 1) / most);
  Region* region = nullptr;
  if (fabric_->uses_known_memory()) {
    region = memory_.take(here, length, puts ? Fabric::kSource : Fabric::kWritten);
    if (region == nullptr) return fail_to_register(length);
    if (parts != nullptr) parts->hold(memory_, *region, length);
  }
  for (std::uint64_t at = 0; at < length; at += most) {
    auto* const transfer = new (std::nothrow) Transfer;
    if (transfer == nullptr && parts == nullptr) {
      if (region != nullptr) memory_.give_back(*region, length);
      return ASHLAR_AGAIN;
    }
    if (transfer == nullptr) {
      parts->done(parts.get(), ashlar_fail_no_memory(&host_, "a part of a transfer", sizeof *transfer));
      continue;
    }
    transfer->what = what;
    transfer->peer = &peer;
    transfer->here = static_cast<std::byte*>(here) + at;
    transfer->there = key.remote;
    transfer->offset = offset + at;
    transfer->length = std::min(length - at, most);
    transfer->done = parts != nullptr ? parts.get() : done;
    transfer->region = region;
    transfer->keeps = parts;
    post_later(*transfer);
  }
  (puts ? counters.puts : counters.gets).add();
  pace_.expect();
  return ASHLAR_PENDING;
}

}  // namespace ashlar::network
