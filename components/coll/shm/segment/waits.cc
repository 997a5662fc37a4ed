#include "components/coll/shm/segment/waits.h"

#include <sched.h>

namespace ashlar::coll::shm {
namespace {

/// A wait compares call records the first time that it is about to sleep, and then every so many times.
constexpr std::uint32_t kComparePeriod = 64;

}  // namespace

void TicketWait::announce(Condition& self) {
  auto& wait = static_cast<TicketWait&>(self);
  // Where all wait for each other in different algorithms, no rank ever stores a flag.
  if (wait.announcements++ % kComparePeriod == 0 && !records_agree(*wait.ticket)) wait.report_mismatch();
  if (wait.announced) return;
  wait.announced = true;
  // Before the poll that follows this: see publish.h.
  wait.ticket->member->state().sleeping.fetch_add(1, std::memory_order_seq_cst);
  wait.ticket->layout().header().sleepers.fetch_add(1, std::memory_order_seq_cst);
}

void TicketWait::withdraw() {
  ticket->layout().header().sleepers.fetch_sub(1, std::memory_order_relaxed);
  ticket->member->state().sleeping.fetch_sub(1, std::memory_order_relaxed);
  announced = false;
}

bool TicketWait::fail_mismatched() {
  outcome = mismatch(*ticket);
  mismatched = true;
  return true;
}

// Raised to the ticket's last number: no collective up to there can come to its end, and waits of it end.
void TicketWait::report_mismatch() const {
  std::atomic<std::uint64_t>& known = ticket->layout().header().mismatched;
  std::uint64_t before = known.load(std::memory_order_relaxed);
  while (before < ticket->last && !known.compare_exchange_weak(before, ticket->last, std::memory_order_seq_cst)) {
  }
}

void TicketWait::give_up() {
  if (mismatched) report_mismatch();
  ticket->member->state().done.store(ticket->last, std::memory_order_seq_cst);
  ticket->end_turn();
  wake_announced(*ticket);
}

FlagWait FlagWait::from(const Ticket& of, const FlagLine& line, Rank writer) {
  FlagWait wait(of, line, 1);
  wait.writer = static_cast<std::uint32_t>(writer);
  if (of.member->polls_for_writer) wait.soon = &FlagWait::writer_runs_elsewhere;
  return wait;
}

bool FlagWait::writer_runs_elsewhere(Condition& self) {
  const auto& wait = static_cast<FlagWait&>(self);
  const RankState& writer = wait.ticket->layout().rank(wait.writer);
  return writer.core.load(std::memory_order_relaxed) != static_cast<std::uint32_t>(sched_getcpu());
}

}  // namespace ashlar::coll::shm
