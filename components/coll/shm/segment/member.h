#pragma once
#include <cstdint>

#include "components/coll/shm/segment/layout.h"
#include "framework/coll/wire.h"

namespace ashlar::coll::shm {

/// One rank's view of a segment. Collectives on a segment run one after the other: a rank begins number s only when its
/// own number s - 1 is over, so several nonblocking ones may be outstanding. Numbers are taken in the order of the
/// calls, which MPI makes the same on every rank.
/// Guarded by the lane's lock. Not copied: tickets and waits point to it.
struct Member {
  Member(Wire& of, Rank rank) : wire(of), me(rank) {}
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  /// Whether every rank is done with number - ahead, so that this rank may write into the slot of `number`.
  bool slot_free(std::uint64_t number, std::uint64_t ahead) {
    return all_done + ahead >= number || read_done(number, ahead);
  }
  /// The collective before `number` is over.
  void pass_turn(std::uint64_t number) {
    turn = number;
    if (abandoned_ != nullptr) [[unlikely]]
      pass_abandoned();
  }
  /// The collective with these numbers has failed before its turn. The turn passes over them when it comes there: those
  /// before are not over, so the ones behind must not begin yet.
  [[gnu::cold]] void abandon(std::uint64_t first, std::uint64_t last);
  /// The collective with these numbers, which has been taken, may use bounce buffers.
  void note_buffered(std::uint64_t first, std::uint64_t last) {
    buffered_before = buffered_last;
    buffered_first = first;
    buffered_last = last;
  }
  /// This rank's state, and whether any rank may be asleep.
  RankState& state() const { return layout.rank(static_cast<std::uint32_t>(me)); }
  bool any_sleeper() const { return layout.header().sleepers.load(std::memory_order_relaxed) != 0; }

  Wire& wire;  // wakes ranks
  const Rank me;
  SegmentLayout layout;  // from attaching on
  bool flat = false;     // every rank reads every flag; else the last rank to arrive acts for all
  /// Ranks store the core they run on, and a wait for one rank that runs on another core polls before it yields.
  bool polls_for_writer = false;
  std::uint64_t next_number = 1;  // for the next collective that is called
  std::uint64_t turn = 1;         // the number that may run now
  std::uint64_t all_done = 0;     // every rank is known to be done with this number
  // Of the collectives taken whose payloads may lie in bounce buffers: the numbers of the latest, and the last number
  // of the one before it.
  std::uint64_t buffered_first = 0, buffered_last = 0, buffered_before = 0;

 private:
  struct Abandoned {
    std::uint64_t first, last;
    Abandoned* next;
  };
  [[gnu::cold]] void pass_abandoned();
  bool read_done(std::uint64_t number, std::uint64_t ahead);

  Abandoned* abandoned_ = nullptr;  // in no order; owned
};

}  // namespace ashlar::coll::shm
