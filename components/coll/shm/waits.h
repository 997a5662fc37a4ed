#pragma once
#include <cstdint>

#include "components/coll/shm/agree.h"

namespace ashlar::coll::shm {

/// Tells ranks that may be asleep to look. After a store that others wait for.
[[gnu::cold]] void wake_announced(const Op& op, const Visit& visit);
inline void wake_sleepers(Op& op, const Visit& visit) {
  // The store before this must be seen by whoever is about to sleep, or his announcement by us.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (visit.layout().header().sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
    wake_announced(op, visit);
}

/// Tells one rank, if it may be asleep.
inline void wake_sleeper(Op& op, const Visit& visit, Rank other) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const Layout& layout = visit.layout();
  if (layout.header().sleepers.load(std::memory_order_relaxed) == 0) [[likely]]
    return;
  if (layout.rank(static_cast<std::uint32_t>(other)).sleeping.load(std::memory_order_relaxed) != 0)
    op.wire().wake(other);
}

/// Says where this rank runs, to those who think about waiting for it.
void tell_core(const Op& op, const Visit& visit);

/// A wait of one rank for others of its visit's group. Ends the visit when it fails.
struct VisitWait : Condition {
  const Op* by;
  const Visit* visit;
  std::uint32_t me;
  bool announced = false;  // we may be asleep
  bool parted = false;     // the ranks do not agree in their calls
  std::uint32_t announcements = 0;

  VisitWait(const Op& op, const Visit& of) : by(&op), visit(&of), me(static_cast<std::uint32_t>(op.rank())) {
    before_sleep = &VisitWait::announce;
  }
  bool failed() const { return !outcome.ok(); }
  /// After the wait.
  void over(Status with) {
    if (announced) [[unlikely]]
      take_back();
    if (!with.ok()) [[unlikely]]
      give_up();
  }

 protected:
  /// Ends the wait because what it waits for will not come; true.
  [[gnu::cold]] bool part();
  /// The same, where another rank has found that out.
  bool parted_elsewhere() {
    return visit->layout().header().parted.load(std::memory_order_relaxed) >= visit->first && part();
  }

  /// Others learn that no collective up to the visit's last number will come to its end.
  void tell_parted() const;

 private:
  void take_back();
  [[gnu::cold]] void give_up();
  static void announce(Condition& self);
};

/// Until a line (or each rank's contribution) carries the visit's number.
struct LineWait : VisitWait {
  const Line* line;
  std::uint64_t word;                             // what the lines are to carry
  std::uint64_t significant = ~std::uint64_t{0};  // of its bits; kNumberMask: each line has a mark of its own
  std::uint32_t ranks;                            // lines to look at, from `line` on
  std::uint32_t next;                             // the first one not seen yet
  std::uint32_t writer = 0;                       // of the line, where there is but one

  LineWait(const Op& op, const Visit& of, const Line& first, std::uint32_t lines)
      : VisitWait(op, of), line(&first), word(of.word()), ranks(lines), next(0) {
    holds = &LineWait::look;
  }
  /// For what one rank writes: where that runs on another core, it may come soon.
  static LineWait from(const Op& op, const Visit& of, const Line& line, Rank writer) {
    LineWait wait(op, of, line, 1);
    wait.writer = static_cast<std::uint32_t>(writer);
    wait.soon = &LineWait::runs_elsewhere;
    return wait;
  }
  static LineWait result(const Op& op, const Visit& of) { return LineWait(op, of, of.layout().result(of.number), 1); }
  static LineWait contributions(const Op& op, const Visit& of) {
    return LineWait(op, of, of.layout().contribution(of.number, 0), static_cast<std::uint32_t>(op.size()));
  }
  /// Each rank's contribution, of whatever size.
  static LineWait blocks(const Op& op, const Visit& of) {
    LineWait wait = contributions(op, of);
    wait.word = of.number;
    wait.significant = kNumberMask;
    return wait;
  }
  /// Until all have met(): flat, everyone looks at everyone; central, the last one to arrive says so.
  static LineWait everyone(const Op& op, const Visit& of) {
    return of.group->flat ? contributions(op, of) : result(op, of);
  }
  bool seen() {
    while (next < ranks) {
      const std::uint64_t there = line[next].number.load(std::memory_order_acquire) & significant;
      if (there != word) return parted_from(there);
      ++next;
    }
    return true;
  }

 private:
  /// A line that is not (yet) as it should be: whether it never will be, because its writer's call is another one.
  bool parted_from(std::uint64_t there) { return ((there ^ word) & kNumberMask) == 0 && part(); }
  static bool look(Condition& self);
  static bool runs_elsewhere(Condition& self);
};

/// Until every other rank is done with the visit's number.
struct DoneWait : VisitWait {
  std::uint32_t next = 0;

  DoneWait(const Op& op, const Visit& of) : VisitWait(op, of) { holds = &DoneWait::look; }
  bool seen() {
    const Layout& layout = visit->layout();
    for (; next < layout.header().ranks; ++next) {
      if (next != me && layout.rank(next).done.load(std::memory_order_acquire) < visit->number) return false;
    }
    return true;
  }

 private:
  static bool look(Condition& self);
};

/// Until the places of the visit's number may be written.
struct SlotWait : VisitWait {
  SlotWait(const Op& op, const Visit& of) : VisitWait(op, of) { holds = &SlotWait::look; }
  bool seen() const { return visit->group->slot_free(visit->number, visit->ahead); }

 private:
  static bool look(Condition& self);
};

}  // namespace ashlar::coll::shm
