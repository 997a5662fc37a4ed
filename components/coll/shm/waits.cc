#include "components/coll/shm/waits.h"

#include <sched.h>

namespace ashlar::coll::shm {
namespace {

/// Every so many times that a wait may be about to sleep it looks at what others have noted, and the first time.
constexpr std::uint32_t kNotesLookedAt = 64;

std::uint32_t this_core() { return static_cast<std::uint32_t>(sched_getcpu()); }

}  // namespace

void tell_core(const Op& op, const Visit& visit) {
  visit.layout().rank(static_cast<std::uint32_t>(op.rank())).core.store(this_core(), std::memory_order_relaxed);
}

void wake_announced(const Op& op, const Visit& visit) {
  const Layout& layout = visit.layout();
  for (std::uint32_t r = 0; r < layout.header().ranks; ++r) {
    if (r != static_cast<std::uint32_t>(op.rank()) && layout.rank(r).sleeping.load(std::memory_order_relaxed) != 0)
      op.wire().wake(static_cast<Rank>(r));
  }
}

void VisitWait::announce(Condition& self) {
  auto& wait = static_cast<VisitWait&>(self);
  // Where all wait for each other in different algorithms, no line is ever written.
  if (wait.announcements++ % kNotesLookedAt == 0 && !notes_agree(*wait.visit)) wait.tell_parted();
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

bool VisitWait::part() {
  outcome = disagreement(*visit, me);
  parted = true;
  return true;
}

void VisitWait::tell_parted() const {
  std::atomic<std::uint64_t>& known = visit->layout().header().parted;
  std::uint64_t before = known.load(std::memory_order_relaxed);
  while (before < visit->last && !known.compare_exchange_weak(before, visit->last, std::memory_order_seq_cst)) {
  }
}

// Nothing of the slots will be looked at again, so others may go on. Those who wait for us in vain learn of it.
void VisitWait::give_up() {
  const Layout& layout = visit->layout();
  if (parted) tell_parted();
  layout.rank(me).done.store(visit->last, std::memory_order_seq_cst);
  visit->leave();
  wake_announced(*by, *visit);
}

bool LineWait::look(Condition& self) {
  auto& wait = static_cast<LineWait&>(self);
  return wait.seen() || wait.parted_elsewhere();
}
bool LineWait::runs_elsewhere(Condition& self) {
  const auto& wait = static_cast<LineWait&>(self);
  return wait.visit->layout().rank(wait.writer).core.load(std::memory_order_relaxed) != this_core();
}
bool DoneWait::look(Condition& self) {
  auto& wait = static_cast<DoneWait&>(self);
  return wait.seen() || wait.parted_elsewhere();
}
bool SlotWait::look(Condition& self) {
  auto& wait = static_cast<SlotWait&>(self);
  return wait.seen() || wait.parted_elsewhere();
}

}  // namespace ashlar::coll::shm
