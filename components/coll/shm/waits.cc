#include "components/coll/shm/waits.h"

#include <sched.h>

namespace ashlar::coll::shm {
namespace {

std::uint32_t this_core() { return static_cast<std::uint32_t>(sched_getcpu()); }

}  // namespace

void tell_core(const Op& op, const Visit& visit) {
  visit.layout().rank(static_cast<std::uint32_t>(op.rank())).core.store(this_core(), std::memory_order_relaxed);
}

void wake_announced(Op& op, const Visit& visit) {
  const Layout& layout = visit.layout();
  for (std::uint32_t r = 0; r < layout.header().ranks; ++r) {
    if (r != static_cast<std::uint32_t>(op.rank()) && layout.rank(r).sleeping.load(std::memory_order_relaxed) != 0)
      op.wire().wake(static_cast<Rank>(r));
  }
}

void VisitWait::announce(Condition& self) {
  auto& wait = static_cast<VisitWait&>(self);
  if (wait.announced) return;
  wait.announced = true;
  const Layout& layout = wait.visit->layout();
  layout.rank(wait.me).sleeping.fetch_add(1, std::memory_order_seq_cst);
  layout.header().sleepers.fetch_add(1, std::memory_order_seq_cst);
}

void VisitWait::take_back() {
  const Layout& layout = visit->layout();
  layout.header().sleepers.fetch_sub(1, std::memory_order_relaxed);
  layout.rank(me).sleeping.fetch_sub(1, std::memory_order_relaxed);
  announced = false;
}

bool LineWait::look(Condition& self) { return static_cast<LineWait&>(self).seen(); }
bool LineWait::runs_elsewhere(Condition& self) {
  const auto& wait = static_cast<LineWait&>(self);
  return wait.visit->layout().rank(wait.writer).core.load(std::memory_order_relaxed) != this_core();
}
bool DoneWait::look(Condition& self) { return static_cast<DoneWait&>(self).seen(); }
bool SlotWait::look(Condition& self) { return static_cast<SlotWait&>(self).seen(); }

}  // namespace ashlar::coll::shm
