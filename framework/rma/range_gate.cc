#include "framework/rma/range_gate.h"

#include <sched.h>
#include <time.h>

#include <climits>

#include "framework/rma/patience.h"

namespace ashlar::rma {
namespace {

using namespace gate;

// Rounds of a process that holds back because others wait for it to be outside of all updates.
constexpr int kHoldBack = 1000;
// Polls for that, before a process asks the other to hold back.
constexpr int kPolls = 200;
// What a store takes at most to leave the processor it was made on, by far.
constexpr long kStoreNs = 1'000'000;
// Time that a process leaves to others between two pieces of a range, in pauses.
constexpr int kGiveWay = 32;

constexpr std::uint32_t kAwaited = kElementsWait | kRangeWaits;

// One round of waiting for the holder, once the gate says that and for what. `seen`: the gate as it was.
void wait_for_holder(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::uint32_t flag, Patience& patience) {
  if (patience.about_to_sleep()) flag |= kSleeps;
  const std::uint32_t waited = seen | flag;
  if (waited != seen && !word.compare_exchange_weak(seen, waited, std::memory_order_relaxed)) return;
  patience.round(word, waited);
}

// Ends `state` of the gate, which keeps its kFenced, and wakes those that sleep.
bool leave(std::atomic<std::uint32_t>& word, std::uint32_t state, std::uint32_t next) {
  if (!word.compare_exchange_weak(state, next, std::memory_order_acq_rel, std::memory_order_relaxed)) return false;
  if (state & kSleeps) wake(word, INT_MAX);
  return true;
}

}  // namespace

void join_updates(std::span<UpdateLine> lines) {
  if (register_for_barriers()) return;
  for (UpdateLine& line : lines) line.gate.fetch_or(kFenced, std::memory_order_seq_cst);
}

void ElementTurn::hold_back() {
  for (int i = 0; i < kHoldBack && own_.awaited.load(std::memory_order_relaxed) != 0; ++i) pause_briefly();
}

// Announced when called, and when it returns. Here the process fences itself, whether the gate demands it or not.
void ElementTurn::pass(UpdateLine& line) {
  bool held_back = false;
  for (Patience patience;;) {
    full_fence();
    const std::uint32_t seen = line.gate.load(std::memory_order_acquire);
    const bool asked = !held_back && own_.awaited.load(std::memory_order_relaxed) != 0;
    if ((seen & ~kFenced) == 0 && !asked) return;
    retract();
    if (asked) {
      hold_back();
      held_back = true;
    } else if (seen & kHolder) {
      wait_for_holder(line.gate, seen, kElementsWait, patience);
    } else {
      leave(line.gate, seen, seen & kFenced);
    }
    announce();
  }
}

void RangeTurn::close() {
  std::atomic<std::uint32_t>& word = guard_.line->gate;
  for (Patience patience;;) {
    std::uint32_t seen = word.load(std::memory_order_relaxed);
    if (seen & kHolder) {
      wait_for_holder(word, seen, kRangeWaits, patience);
      continue;
    }
    const std::uint32_t held = (seen & kFenced) | (guard_.own + 1);
    if (!word.compare_exchange_weak(seen, held, std::memory_order_seq_cst, std::memory_order_relaxed)) continue;
    if ((seen & kIdle) == 0) drain(seen);
    return;
  }
}

// The gate is closed, but processes may be past it: waits until every process has been outside of its updates once.
void RangeTurn::drain(std::uint32_t flags) {
  full_fence();
  if ((flags & kFenced) == 0 && !barrier_everywhere()) {
    // A filter has forbidden the call since this process has joined. From now on all fence themselves; those that have
    // passed the gate before they saw that have published it when their stores have drained.
    guard_.line->gate.fetch_or(kFenced, std::memory_order_seq_cst);
    const timespec drained{.tv_sec = 0, .tv_nsec = kStoreNs};
    nanosleep(&drained, nullptr);
    full_fence();
  }
  for (std::uint32_t i = 0; i < guard_.count; ++i) {
    OriginLine& origin = guard_.origins[i];
    bool asks = false;
    Patience patience(Patience::kUnwokenNs);  // updates of elements wake nothing when they are done
    for (int polls = 0;; ++polls) {
      const std::uint32_t updating = origin.updating.load(std::memory_order_acquire);
      if (updating == 0) break;
      if (polls == kPolls) {
        origin.awaited.fetch_add(1, std::memory_order_relaxed);
        asks = true;
      }
      patience.round(origin.updating, updating);
    }
    if (asks) origin.awaited.fetch_sub(1, std::memory_order_relaxed);
  }
}

void RangeTurn::open() {
  std::atomic<std::uint32_t>& word = guard_.line->gate;
  for (;;) {
    const std::uint32_t seen = word.load(std::memory_order_relaxed);
    const std::uint32_t next = (seen & kFenced) | ((seen & kElementsWait) != 0 ? 0 : kIdle);
    if (leave(word, seen, next)) return;
  }
}

void RangeTurn::give_way() {
  if ((guard_.line->gate.load(std::memory_order_relaxed) & kAwaited) == 0) return;
  open();
  sched_yield();
  for (int i = 0; i < kGiveWay; ++i) pause_briefly();
  close();
}

}  // namespace ashlar::rma
