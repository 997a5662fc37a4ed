#pragma once
#include <cstdint>

#include "components/coll/shm/segment.h"
#include "framework/coll/call.h"
#include "framework/coll/comm_state.h"
#include "framework/coll/op.h"

namespace ashlar::coll::shm {

/// This component's state of one communicator. Collectives on its segment take turns: a rank begins number s only when
/// its own number s - 1 is over, so several nonblocking ones may be outstanding. Guarded by the lane's lock.
class Group {
 public:
  enum class State : std::uint8_t { kNew, kAttached, kRefused };

  /// The group of op's communicator, or of a persistent operation itself, made when missing. nullptr: no memory, noted
  /// as op's failure.
  static Group* of(Op& op) {
    Slot& slot = op.slot();
    return slot.data != nullptr ? static_cast<Group*>(slot.data) : make(op, slot);
  }
  /// Whether every rank is done with number - ahead, so that places of `number` may be written.
  bool slot_free(std::uint64_t number, std::uint64_t ahead) {
    return all_done + ahead >= number || look_who_is_done(number, ahead);
  }

  State state = State::kNew;
  bool flat = false;
  Segment segment;
  std::uint64_t next_number = 1;  // for the next collective that is called
  std::uint64_t turn = 1;         // the number whose turn it is on this rank
  std::uint64_t all_done = 0;     // every rank is known to be done with this number

 private:
  static Group* make(Op& op, Slot& slot);
  bool look_who_is_done(std::uint64_t number, std::uint64_t ahead);
};

/// Whether a payload travels inside a line.
inline bool is_inline(MPI_Count bytes) { return bytes <= static_cast<MPI_Count>(kInline); }

/// One collective's stay in the segment. Trivial: it lives in a coroutine.
struct Visit {
  Group* group;
  std::uint64_t number;
  std::uint64_t ahead;    // how far ranks may run ahead of each other, for this payload
  bool served_otherwise;  // the segment cannot be used: another algorithm has done the work

  /// `bytes`: of the largest payload.
  static Visit begin(Op& op, MPI_Count bytes) {
    Group* const group = Group::of(op);
    if (group == nullptr) return Visit{nullptr, 0, 0, false};
    return Visit{group, group->next_number++, is_inline(bytes) ? kSlots : kLargeSlots, false};
  }
  /// Whether everything is in place: attached, our turn, and the slot free.
  bool enter() const {
    return group->turn == number && group->state == Group::State::kAttached && group->slot_free(number, ahead);
  }
  /// The next collective's turn.
  void leave() const { ++group->turn; }

  const Layout& layout() const { return group->segment.layout(); }
};

/// Makes what enter() found missing: waits for the turn, makes the segment (the first time; all members take part), and
/// waits for the slot. Where the members cannot all attach, they agree to go on without, and it runs `call` otherwise.
Co prepare(Op& op, const Call& call, Visit& visit);

/// Tells ranks that may be asleep to look. After a store that others wait for.
[[gnu::cold]] void wake_announced(Op& op, const Visit& visit);
inline void wake_sleepers(Op& op, const Visit& visit) {
  // The store before this must be seen by whoever is about to sleep, or his announcement by us.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (visit.layout().header().sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
    wake_announced(op, visit);
}

/// Waits until a line (all: each rank's contribution) carries the visit's number.
struct LineWait : Condition {
  const Line* line;
  std::uint64_t number;
  std::uint32_t ranks;  // lines to look at, from `line` on
  std::uint32_t next;   // the first one not seen yet
  Layout layout;
  std::uint32_t me;
  bool announced;  // we may be asleep

  /// For the visit's result; or for every rank's contribution.
  LineWait(const Op& op, const Visit& visit, bool contributions)
      : line(contributions ? &visit.layout().contribution(visit.number, 0) : &visit.layout().result(visit.number)),
        number(visit.number),
        ranks(contributions ? static_cast<std::uint32_t>(op.size()) : 1),
        next(0),
        layout(visit.layout()),
        me(static_cast<std::uint32_t>(op.rank())),
        announced(false) {
    holds = &LineWait::look;
    before_sleep = &LineWait::announce;
  }
  bool seen() {
    while (next < ranks) {
      if (line[next].number.load(std::memory_order_acquire) != number) return false;
      ++next;
    }
    return true;
  }
  /// After the wait.
  void over() {
    if (announced) [[unlikely]]
      take_back();
  }

 private:
  void take_back();
  static bool look(Condition& self);
  static void announce(Condition& self);
};

}  // namespace ashlar::coll::shm
