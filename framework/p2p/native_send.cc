#include <algorithm>

#include "framework/p2p/lane_state.h"
#include "framework/p2p/links.h"
#include "framework/p2p/native.h"
#include "framework/p2p/send_now.h"
#include "framework/p2p/sending.h"

// Messages that the network matches: how they are sent, and how much of that may lie untaken at the receiver.
namespace ashlar::p2p {
namespace {

/// A message weighs its bytes and what a network keeps beside them.
constexpr std::uint64_t kWeightOfOne = 64;

}  // namespace

std::uint64_t weight_of_tagged(std::uint64_t bytes) { return bytes + kWeightOfOne; }

// The bound of a single peer is the kernel's. That of all peers together is shared by those there are, as no process
// knows what others have sent to the receiver.
bool NativeMatching::takes_whole(const Link& link, MPI_Count bytes) const ASHLAR_NO_THREAD_SAFETY {
  if (bytes > static_cast<MPI_Count>(most_)) return false;
  const Config& config = lane_.p2p->config;
  const std::uint64_t others = std::max<std::uint64_t>(lane_.peers.job_size(), 2) - 1;
  const std::uint64_t limit = std::min(config.unexpected_limit, config.unexpected_total_limit / others);
  const NativeLink& native = *link.native;
  return native.sent_weight - native.taken_there + weight_of_tagged(static_cast<std::uint64_t>(bytes)) <= limit;
}

NativeMatching* native_for(const Link& link, const Comm& comm, std::uint32_t context) ASHLAR_NO_THREAD_SAFETY {
  if (link.native == nullptr) [[likely]]
    return nullptr;
  NativeMatching* const native = link.lane->p2p->native.get();
  return native->carries(comm, context) ? native : nullptr;
}

namespace {

/// The receiver finds out whether it takes this link for a native one, too.
ashlar_result lead(NativeLink& native, ashlar_endpoint& endpoint) {
  if (native.led) return ASHLAR_OK;
  const ashlar_result result = endpoint.ops->am_short(&endpoint, kTaggedFirst, 0, 0, nullptr, 0);
  native.led = result == ASHLAR_OK;
  return result;
}

std::uint64_t immediate_of(std::uint64_t h0, std::uint64_t h1) {
  return std::uint64_t{low_word(h0)} << 32 | low_word(h1);
}

}  // namespace

ashlar_result NativeMatching::send(Link& link, std::uint64_t h0, std::uint64_t h1, const DataView& data,
                                   std::uint32_t bytes) ASHLAR_NO_THREAD_SAFETY {
  NativeLink& native = *link.native;
  if (const ashlar_result led = lead(native, *link.endpoint); led != ASHLAR_OK) return led;
  Piece piece{&data, 0};
  const std::uint64_t tag = layout_.make(high_word(h0), static_cast<Tag>(high_word(h1)), TagLayout::kWhole);
  const ashlar_result result = tags_.send(link.endpoint, tag, immediate_of(h0, h1), Piece::fill, &piece, bytes);
  if (result != ASHLAR_OK) return result;
  ++native.sent;
  native.sent_weight += weight_of_tagged(bytes);
  lane_.p2p->counters.native_sent.add();
  return result;
}

ashlar_result NativeMatching::announce(Link& link, std::uint64_t h0, std::uint64_t h1, const void* rts,
                                       std::uint32_t length) ASHLAR_NO_THREAD_SAFETY {
  NativeLink& native = *link.native;
  if (const ashlar_result led = lead(native, *link.endpoint); led != ASHLAR_OK) return led;
  const std::uint64_t tag = layout_.make(high_word(h0), static_cast<Tag>(high_word(h1)), TagLayout::kAnnounced);
  const ashlar_result result =
      tags_.announce(link.endpoint, tag, immediate_of(h0, h1), kTaggedRts, h0, h1, rts, length);
  if (result != ASHLAR_OK) return result;
  ++native.sent;
  native.sent_weight += weight_of_tagged(0);
  lane_.p2p->counters.native_sent.add();
  lane_.p2p->counters.native_announced.add();
  return result;
}

void NativeMatching::on_taken(const ashlar_am& am) {
  if (NativeLink* const link = link_of(am.peer)) link->taken_there = am.h0;
}

void NativeMatching::on_ask(Lane& lane, const ashlar_am& am) ASHLAR_NO_THREAD_SAFETY {
  if (NativeLink* const link = link_of(am.peer)) send_control(lane, link->link, kTaggedSent, link->sent, 0);
}

}  // namespace ashlar::p2p
