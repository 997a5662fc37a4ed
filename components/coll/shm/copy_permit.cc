#include "components/coll/shm/copy_permit.h"

#include "components/coll/shm/module.h"

namespace ashlar::coll::shm {

CopyPermit::CopyPermit(const Ticket& of, const Choices& choices) : TicketWait(of), limit(choices.copy_permits) {
  holds = &CopyPermit::poll;
  // Before the first poll, so that a rank which returns its permit after that finds this one.
  of.member->state().wants_permit.store(1, std::memory_order_relaxed);
}

bool CopyPermit::seen() {
  if (has) return true;
  std::atomic<std::uint32_t>& copying = ticket->layout().header().copying;
  std::uint32_t now = copying.load(std::memory_order_relaxed);
  while (!has && now < limit)
    has = copying.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel, std::memory_order_relaxed);
  if (!has) waited = true;
  return has;
}

void CopyPermit::over(Status with) {
  ticket->member->state().wants_permit.store(0, std::memory_order_relaxed);
  count_shared(module().counters.permits);
  if (waited) count_shared(module().counters.permits_waited_for);
  if (has && !with.ok()) ticket->layout().header().copying.fetch_sub(1, std::memory_order_release);
  TicketWait::over(with);
}

void CopyPermit::give_back() {
  const SegmentLayout& layout = ticket->layout();
  layout.header().copying.fetch_sub(1, std::memory_order_seq_cst);
  if (layout.header().sleepers.load(std::memory_order_seq_cst) == 0) return;
  for (std::uint32_t step = 1; step < ticket->ranks(); ++step) {
    const std::uint32_t other = (ticket->me() + step) % ticket->ranks();
    const RankState& state = layout.rank(other);
    if (state.wants_permit.load(std::memory_order_relaxed) == 0 || state.sleeping.load(std::memory_order_relaxed) == 0)
      continue;
    ticket->member->wire.wake(static_cast<Rank>(other));
    return;
  }
}

}  // namespace ashlar::coll::shm
