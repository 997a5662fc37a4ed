#pragma once
#include <cstdint>

#include "components/coll/shm/segment/mismatch.h"
#include "components/coll/shm/segment/publish.h"

// The reading side of a segment: what a rank may wait for, and how each wait ends.
//
//   FlagWait   flags of one or all ranks, or of the result, hold this call's flag       satisfied by publish
//   DoneWait   every other rank is done with the number (their copies are over)         satisfied by done_and_wake
//   SlotWait   every rank is done with the number one ring earlier                      satisfied by done
//   TurnWait   this rank's collectives before this one are over                         satisfied by end_turn
//
// A wait that what it waits for cannot satisfy any more fails: a flag has another call's signature, another rank has
// found a mismatch, or (Wire::can_go_on) a member is gone or has reported a failure. It then ends the ticket: `done`
// covers all its numbers, so no rank waits for this one's slots, and the next collective has its turn. An algorithm
// only returns.
namespace ashlar::coll::shm {

/// What all of them have in common but TurnWait. Lives in a coroutine beside its ticket, whose number may go on between
/// waits but not during one.
struct TicketWait : Condition {
  const Ticket* ticket;
  bool announced = false;           // in the segment, that this rank may sleep
  std::uint32_t announcements = 0;  // how often it was about to sleep
  bool mismatched = false;          // calls do not agree

  bool failed() const { return !outcome.ok(); }
  /// Ends the wait, however it ended (WatchedCondition of framework/coll/co.h).
  void over(Status with) {
    if (announced) [[unlikely]]
      withdraw();
    if (!with.ok()) [[unlikely]]
      give_up();
  }

 protected:
  explicit TicketWait(const Ticket& of) : ticket(&of) { before_sleep = &TicketWait::announce; }
  /// Condition::holds of a wait with this seen().
  template <class Wait>
  static bool poll_flags(Condition& self) {
    auto& wait = static_cast<Wait&>(self);
    return wait.seen() || wait.mismatch_elsewhere();
  }
  /// Ends the wait as failed; true.
  [[gnu::cold]] bool fail_mismatched();
  /// The same when another rank has found that calls do not agree in this collective, or in a later one.
  bool mismatch_elsewhere() {
    return ticket->layout().header().mismatched.load(std::memory_order_relaxed) >= ticket->first && fail_mismatched();
  }

 private:
  static void announce(Condition& self);
  void withdraw();
  [[gnu::cold]] void give_up();
  void report_mismatch() const;
};

/// Until flags hold what this call's ranks store.
struct FlagWait : TicketWait {
  const FlagLine* line;
  std::uint64_t flag;
  std::uint32_t lines;     // from `line` on
  std::uint32_t next = 0;  // the first one not yet seen
  std::uint32_t writer = 0;

  /// The result, which one rank stores.
  static FlagWait result(const Ticket& of) { return FlagWait(of, of.result_line(), 1); }
  static FlagWait result_from(const Ticket& of, Rank writer) { return from(of, of.result_line(), writer); }
  /// This rank's line, which the root stores.
  static FlagWait own_line_from(const Ticket& of, Rank writer) { return from(of, of.line(of.me()), writer); }
  /// The lines of every rank, or of the first so many.
  static FlagWait contributions(const Ticket& of) { return FlagWait(of, of.line(0), of.ranks()); }
  static FlagWait contributions(const Ticket& of, std::uint32_t first) { return FlagWait(of, of.line(0), first); }
  /// Until all ranks have called arrive().
  static FlagWait all_arrived(const Ticket& of) { return of.member->flat ? contributions(of) : result(of); }

  bool seen() {
    for (; next < lines; ++next) {
      const std::uint64_t there = line[next].flag.load(std::memory_order_acquire);
      if (there != flag) return is_another_calls(there) && fail_mismatched();
    }
    return true;
  }

 private:
  FlagWait(const Ticket& of, const FlagLine& first, std::uint32_t count)
      : TicketWait(of), line(&first), flag(of.flag()), lines(count) {
    holds = &TicketWait::poll_flags<FlagWait>;
  }
  static FlagWait from(const Ticket& of, const FlagLine& line, Rank writer);
  /// A flag of this number that will never be this call's; not one that was never stored (0).
  bool is_another_calls(std::uint64_t there) const { return ((there ^ flag) & kNumberMask) == 0 && there != 0; }
  static bool writer_runs_elsewhere(Condition& self);
};

/// Until every other rank is done with the ticket's number.
struct DoneWait : TicketWait {
  std::uint32_t next = 0;

  explicit DoneWait(const Ticket& of) : TicketWait(of) { holds = &TicketWait::poll_flags<DoneWait>; }
  bool seen() {
    for (; next < ticket->ranks(); ++next) {
      if (next != ticket->me() && ticket->layout().rank(next).done.load(std::memory_order_acquire) < ticket->number)
        return false;
    }
    return true;
  }
};

/// Until this rank may write into the slot of the ticket's number.
struct SlotWait : TicketWait {
  explicit SlotWait(const Ticket& of) : TicketWait(of) { holds = &TicketWait::poll_flags<SlotWait>; }
  bool seen() const { return ticket->slot_free(); }
};

/// Until it is the ticket's turn on this rank. No flag can end it; where it fails all the same (Wire::can_go_on), its
/// caller abandons the ticket.
struct TurnWait : Condition {
  const Ticket* ticket;

  explicit TurnWait(const Ticket& of) : ticket(&of) { holds = &TurnWait::poll; }

 private:
  static bool poll(Condition& self) { return static_cast<TurnWait&>(self).ticket->is_turn(); }
};

}  // namespace ashlar::coll::shm
