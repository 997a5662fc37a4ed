#include "components/coll/shm/movers.h"

#include "components/coll/shm/counters.h"

namespace ashlar::coll::shm {

Movers::Movers(const Op& op, const Visit& of) : VisitWait(op, of) {
  holds = &Movers::look;
  // Before the first look, so that whoever ends its turn after that knows of us.
  visit->layout().rank(me).wants_turn.store(1, std::memory_order_relaxed);
}

bool Movers::look(Condition& self) { return static_cast<Movers&>(self).seen(); }

bool Movers::seen() {
  if (has) return true;
  std::atomic<std::uint32_t>& moving = visit->layout().header().moving;
  std::uint32_t now = moving.load(std::memory_order_relaxed);
  while (!has && now < visit->group->movers)
    has = moving.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel, std::memory_order_relaxed);
  if (!has) waited = true;
  return has;
}

void Movers::over(Status with) {
  visit->layout().rank(me).wants_turn.store(0, std::memory_order_relaxed);
  count_shared(counters().turns);
  if (waited) count_shared(counters().turns_waited_for);
  if (has && !with.ok()) visit->layout().header().moving.fetch_sub(1, std::memory_order_release);
  VisitWait::over(with);
}

void Movers::next(Op& op) {
  const Layout& layout = visit->layout();
  layout.header().moving.fetch_sub(1, std::memory_order_seq_cst);
  if (layout.header().sleepers.load(std::memory_order_seq_cst) == 0) return;
  for (int step = 1; step < op.size(); ++step) {
    const Rank other = (op.rank() + step) % op.size();
    const RankLine& line = layout.rank(static_cast<std::uint32_t>(other));
    if (line.wants_turn.load(std::memory_order_relaxed) == 0 || line.sleeping.load(std::memory_order_relaxed) == 0)
      continue;
    op.wire().wake(other);
    return;
  }
}

}  // namespace ashlar::coll::shm
