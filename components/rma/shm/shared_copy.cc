// Long puts and gets between memory that cannot be mapped: a target that waits copies a part of them, while the origin
// copies the rest.
#include <sched.h>

#include <algorithm>
#include <atomic>

#include "components/rma/shm/delegate.h"
#include "components/rma/shm/far.h"
#include "components/rma/shm/offers.h"
#include "framework/base/clock.h"
#include "framework/rma/neighbours.h"
#include "framework/rma/patience.h"

namespace ashlar::rma::shm {
namespace {

constexpr std::size_t kFrom = 64 * 1024;
constexpr std::size_t kLeast = 32 * 1024, kMost = 128 * 1024;  // of a part: the later one to end is waited for so long
constexpr int kParts = 8;                                      // of an offer: the target does nothing else meanwhile
constexpr int kPollsOfYield = 32;

std::size_t part_of(std::size_t total) {
  return std::clamp<std::size_t>(total / 8, kLeast, kMost) / kCacheLine * kCacheLine;
}

bool may_pay(const Access& a) {
  return delegate_from() != 0 && !a.window.lane().config.oversubscribed && a.origin.dense() && a.place.type->dense() &&
         static_cast<std::size_t>(a.origin.bytes()) >= kFrom;
}

/// Copies one part to or from the memory of another process.
int copy_part(ProcessMemory& memory, Direction direction, std::byte* here, std::uint64_t there, std::size_t bytes) {
  const iovec run{reinterpret_cast<void*>(static_cast<std::uintptr_t>(there)), bytes};
  return direction == Direction::kPut ? memory.write(here, {&run, 1}) : memory.read(here, {&run, 1});
}

/// Where the next part begins; at or past the end: there is none.
std::uint64_t take_part(Delegated& piece) { return piece.next.fetch_add(piece.part, std::memory_order_relaxed); }

std::size_t bytes_at(const Delegated& piece, std::uint64_t at) {
  return static_cast<std::size_t>(std::min<std::uint64_t>(piece.part, piece.work.bytes - at));
}

/// By the origin, which has no part left to take: waits for the one that the target may be at. Whether the target
/// has copied any since it was offered last.
bool end_offer(Mailbox& box) {
  std::uint32_t offered = Mailbox::kOffered;
  if (box.state.compare_exchange_strong(offered, Mailbox::kFree, std::memory_order_acq_rel)) return false;
  std::uint32_t state;
  for (int polls = 1;; ++polls) {
    state = box.state.load(std::memory_order_acquire);
    if (state == Mailbox::kDone || state == Mailbox::kRefused) break;
    carry_out_offer();
    pause_briefly();
    if (polls % kPollsOfYield == 0) sched_yield();
  }
  box.state.store(Mailbox::kFree, std::memory_order_release);
  return state == Mailbox::kDone;
}

/// A target that has done the parts of an offer, and has looked after its other work since, may do more. Whether it
/// has.
bool offer_again(Mailbox& box) {
  if (box.state.load(std::memory_order_acquire) != Mailbox::kDone) return false;
  box.state.store(Mailbox::kOffered, std::memory_order_release);
  return true;
}

}  // namespace

bool share_copy(Direction direction, const Access& access, std::uint64_t window, int* error) {
  if (!may_pay(access)) return false;
  Origin& own = origin();
  const std::unique_lock lock(own.mutex, std::try_to_lock);
  Taker* const taker = lock ? own.taker_of(access.window, access.target) : nullptr;
  if (taker == nullptr) return false;
  Mailbox* const box = taker->box;
  Reluctance& reluctance = taker->unshared;
  if (reluctance.holds()) return false;
  own.short_puts.finish();
  Delegated* const piece = own.piece();
  if (piece == nullptr) return false;
  auto* const here = static_cast<std::byte*>(access.origin.data);
  const std::uint64_t there = window + static_cast<std::uint64_t>(access.place.offset);
  piece->work.kind = direction == Direction::kPut ? Work::Kind::kSharedPut : Work::Kind::kSharedGet;
  piece->work.bytes = static_cast<std::uint64_t>(access.origin.bytes());
  piece->origin = reinterpret_cast<std::uintptr_t>(here);
  piece->row[0] = {.offset = access.place.offset, .block = piece->work.bytes, .count = 1};
  piece->part = part_of(piece->work.bytes);
  piece->failed_at = piece->work.bytes;
  piece->next.store(0, std::memory_order_relaxed);
  if (!place_offer(access.window, access.target, *box, *piece)) return false;
  ProcessMemory memory(owner_of(access.target).pid, 0);
  bool taken = false;
  for (std::uint64_t at = 0; *error == 0 && (at = take_part(*piece)) < piece->work.bytes;) {
    *error = copy_part(memory, direction, here + at, there + at, bytes_at(*piece, at));
    taken = offer_again(*box) || taken;
  }
  piece->next.store(piece->work.bytes, std::memory_order_relaxed);
  taken = end_offer(*box) || taken;
  if (taken)
    reluctance = {};
  else
    reluctance.failed(false);
  if (*error == 0 && piece->failed_at < piece->work.bytes)
    *error = copy_part(memory, direction, here + piece->failed_at, there + piece->failed_at,
                       bytes_at(*piece, piece->failed_at));
  return true;
}

bool share_copy_of(const Neighbour& origin, Delegated& piece, std::byte* window) {
  if (!copies_memory_of(origin).ok()) return false;
  const Direction direction = piece.work.kind == Work::Kind::kSharedPut ? Direction::kGet : Direction::kPut;
  ProcessMemory memory(origin.pid, 0);
  std::byte* const here = window + piece.row[0].offset;
  int parts = 0;
  for (; parts < kParts; ++parts) {
    const std::uint64_t at = take_part(piece);
    if (at >= piece.work.bytes) break;
    if (copy_part(memory, direction, here + at, piece.origin + at, bytes_at(piece, at)) == 0) continue;
    piece.failed_at = at;
    return false;
  }
  return parts != 0;
}

}  // namespace ashlar::rma::shm
