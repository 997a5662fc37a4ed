#pragma once
#include "components/coll/shm/segment/mismatch.h"
#include "components/coll/shm/segment/ticket.h"

// The writing side: flags, arrival, the end of a number. waits.h has the reading side.
//
// A flag is stored with release behind its payload. A rank that is about to sleep first announces that in the segment
// and then polls once more (waits.h), so a writer that stores a flag, fences, and then finds no announcement knows that
// the sleeper's last poll sees the flag.
namespace ashlar::coll::shm {

/// Wakes the ranks that have announced to sleep.
[[gnu::cold]] void wake_announced(const Ticket& ticket);
/// After storing what other ranks wait for.
inline void wake_sleepers(const Ticket& ticket) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (ticket.member->any_sleeper()) [[unlikely]]
    wake_announced(ticket);
}
/// Where one rank alone waits for it.
inline void wake_sleeper(const Ticket& ticket, Rank other) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!ticket.member->any_sleeper()) [[likely]]
    return;
  if (ticket.layout().rank(static_cast<std::uint32_t>(other)).sleeping.load(std::memory_order_relaxed) != 0)
    ticket.member->wire.wake(other);
}

/// Publishes rank r's line, and the payload that belongs to it. Wakes no rank: for lines that no rank waits for yet, or
/// before arrive(), or before more lines and one wake_sleepers().
inline void publish_line(const Ticket& ticket, std::uint32_t r) {
  ticket.line(r).flag.store(ticket.flag(), std::memory_order_release);
}
/// This rank's own line.
inline void publish(const Ticket& ticket) { publish_line(ticket, ticket.me()); }
inline void publish_and_wake(const Ticket& ticket) {
  publish(ticket);
  wake_sleepers(ticket);
}
inline void publish_result(const Ticket& ticket) {
  ticket.result_line().flag.store(ticket.flag(), std::memory_order_release);
}
inline void publish_result_and_wake(const Ticket& ticket) {
  publish_result(ticket);
  wake_sleepers(ticket);
}
/// The same by the last rank to arrive, which alone has read every rank's flag.
inline void publish_result_for_all(const Ticket& ticket, bool calls_agree) {
  if (calls_agree) [[likely]]
    return publish_result_and_wake(ticket);
  Ticket of_no_call = ticket;
  of_no_call.signature = ~ticket.signature & ~kNumberMask;  // every rank finds the mismatch, this one as well
  publish_result_and_wake(of_no_call);
}

/// Counts this rank in; whether it is the last one. Central form only.
inline bool last_to_arrive(const Ticket& ticket) {
  auto& arrived = ticket.layout().arrived(ticket.number);
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 != ticket.ranks()) return false;
  arrived.store(0, std::memory_order_relaxed);
  return true;
}
/// This rank has published its line; FlagWait::all_arrived waits for the others to come as far.
inline void arrive(const Ticket& ticket) {
  if (ticket.member->flat) {
    wake_sleepers(ticket);
  } else if (last_to_arrive(ticket)) {
    publish_result_for_all(ticket, flags_agree(ticket));
  }
}
/// After a wait for every rank's line of this number: every rank had ended the number before.
inline void note_all_arrived(const Ticket& ticket) {
  if (ticket.member->all_done < ticket.number - 1) ticket.member->all_done = ticket.number - 1;
}

/// Says on which core this rank runs, to ranks that decide how to wait for it.
void store_core(const Ticket& ticket);
/// Ends this rank's part of the number: it reads nothing of the slot again. With the last number it is the next
/// collective's turn. There is no fence, so a rank that is falling asleep until the slot is free may miss the wake-up.
/// That is safe: its sleep is bounded, and it polls again.
inline void done(const Ticket& ticket) {
  ticket.member->state().done.store(ticket.number, std::memory_order_release);
  if (ticket.member->polls_for_writer) store_core(ticket);
  if (ticket.number == ticket.last) ticket.end_turn();
  if (ticket.member->any_sleeper()) [[unlikely]]
    wake_announced(ticket);
}
/// The same where another rank waits for it, in a DoneWait.
inline void done_and_wake(const Ticket& ticket) {
  ticket.member->state().done.store(ticket.number, std::memory_order_release);
  if (ticket.number == ticket.last) ticket.end_turn();
  wake_sleepers(ticket);
}

}  // namespace ashlar::coll::shm
