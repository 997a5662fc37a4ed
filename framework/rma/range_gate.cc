#include "framework/rma/range_gate.h"

#include <sched.h>
#include <time.h>

#include <climits>

#include "framework/rma/patience.h"
#include "framework/rma/pvars.h"

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

// A process that waits for the holder of the gate: counted, so that the holder opens it or gives way.
class HolderWait {
 public:
  HolderWait(UpdateLine& line, std::atomic<std::uint32_t>& waiting) : line_(line), waiting_(waiting) {}
  ~HolderWait() {
    if (counted_) waiting_.fetch_sub(1, std::memory_order_relaxed);
  }
  HolderWait(const HolderWait&) = delete;
  HolderWait& operator=(const HolderWait&) = delete;

  // One round, of a gate that was `seen`.
  void round(std::uint32_t seen) {
    if (!counted_) waiting_.fetch_add(1, std::memory_order_relaxed);
    counted_ = true;
    if (!patience_.about_to_sleep()) {
      patience_.round(line_.gate, seen);
      return;
    }
    line_.asleep.fetch_add(1, std::memory_order_seq_cst);
    barrier_everywhere();  // what the holder stored before it has looked at `asleep` is visible now
    patience_.round(line_.gate, seen);
    line_.asleep.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  UpdateLine& line_;
  std::atomic<std::uint32_t>& waiting_;
  Patience patience_;
  bool counted_ = false;
};

}  // namespace

void fence_updates(std::span<UpdateLine> lines) {
  for (UpdateLine& line : lines) line.gate.fetch_or(kFenced, std::memory_order_seq_cst);
}

void ElementTurn::hold_back() {
  for (int i = 0; i < kHoldBack && own_.awaited.load(std::memory_order_relaxed) != 0; ++i) pause_briefly();
}

// Announced when called, and when it returns. Here the process fences itself, whether the gate demands it or not.
void ElementTurn::pass(UpdateLine& line) {
  bool held_back = false;
  for (HolderWait wait(line, line.elements_waiting);;) {
    full_fence();
    std::uint32_t seen = line.gate.load(std::memory_order_acquire);
    const bool asked = !held_back && own_.awaited.load(std::memory_order_relaxed) != 0;
    if ((seen & ~kFenced) == 0 && !asked) return;
    retract();
    if (asked) {
      hold_back();
      held_back = true;
    } else if (seen & kHolder) {
      wait.round(seen);
    } else {
      line.gate.compare_exchange_weak(seen, seen & kFenced, std::memory_order_acq_rel, std::memory_order_relaxed);
    }
    announce();
  }
}

void RangeTurn::close() {
  std::atomic<std::uint32_t>& word = guard_.line->gate;
  for (HolderWait wait(*guard_.line, guard_.line->ranges_waiting);;) {
    std::uint32_t seen = word.load(std::memory_order_relaxed);
    if (seen & kHolder) [[unlikely]] {
      wait.round(seen);
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
  counters.gates_closed.fetch_add(1, std::memory_order_relaxed);
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
  UpdateLine& line = *guard_.line;
  const std::uint32_t fenced = line.gate.load(std::memory_order_relaxed) & kFenced;
  const bool awaited = line.elements_waiting.load(std::memory_order_relaxed) != 0;
  line.gate.store(fenced | (awaited ? 0 : kIdle), std::memory_order_release);
  if (fenced != 0) {
    full_fence();
  } else {
    std::atomic_signal_fence(std::memory_order_seq_cst);  // HolderWait fences this process
  }
  if (line.asleep.load(std::memory_order_relaxed) != 0) [[unlikely]]
    wake(line.gate, INT_MAX);
}

void RangeTurn::give_way() {
  const UpdateLine& line = *guard_.line;
  if ((line.elements_waiting.load(std::memory_order_relaxed) | line.ranges_waiting.load(std::memory_order_relaxed)) ==
      0)
    return;
  open();
  sched_yield();
  for (int i = 0; i < kGiveWay; ++i) pause_briefly();
  close();
}

}  // namespace ashlar::rma
