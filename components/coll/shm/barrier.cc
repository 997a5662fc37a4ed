#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/payload.h"

namespace ashlar::coll::shm {

Stay small_stay(const Op&, const Call& call) { return Stay{call.bytes}; }

namespace {

/// Where ranks take turns on the cores: what follows is often begun by the root of what came before, and who is there
/// before that rank only waits for it, on a core that others could have.
void let_leader_go(Op& op, const Visit& visit) {
  const Rank leader = visit.group->leader_before;
  if (leader == Group::kNobody || leader == op.rank() || !op.blocking()) return;
  const auto& line = visit.layout().rank(static_cast<std::uint32_t>(leader));
  if (line.done.load(std::memory_order_relaxed) < visit.number) op.wire().give_way();
}

}  // namespace

/// Flat: after the flag barrier of J. Mellor-Crummey, M. Scott, "Algorithms for scalable synchronization on
/// shared-memory multiprocessors", ACM TOCS 9(1), 1991, with one round. Central: their central counter with a number in
/// place of the sense.
Co barrier(Op& op, const Call&, Visit visit) {
  Status st;
  if (visit.group->flat) {
    sign(op, visit);
    wake_sleepers(op, visit);
  } else if (have_parted(visit)) {
    // Somebody may have counted himself in and left: only lines can be trusted.
    sign(op, visit);
    meet(op, visit);
  } else if (last_to_arrive(op, visit)) {
    publish(op, visit);
  }
  LineWait wait = LineWait::everyone(op, visit);
  st = co_await wait;
  if (wait.failed()) co_return st;
  all_met(visit);
  done(op, visit);
  if (!visit.group->flat) let_leader_go(op, visit);
  co_return st;
}

}  // namespace ashlar::coll::shm
