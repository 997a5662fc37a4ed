#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/payload.h"

namespace ashlar::coll::shm {

Stay small_stay(const Op&, const Call& call) { return Stay{call.bytes}; }

namespace {

/// Where ranks take turns on the cores: what follows is often what came before, with the same root. Who is there before
/// the rank that it waits for has a core that the other could use; a root that waits for all is better late, too.
void keep_order(Op& op, const Visit& visit) {
  const Group::Order order = visit.group->before;
  if (order.root < 0 || !op.blocking() || order.first == (order.root == op.rank())) return;
  const auto is_here = [&visit](Rank r) {
    return visit.layout().rank(static_cast<std::uint32_t>(r)).done.load(std::memory_order_relaxed) < visit.number;
  };
  bool wait = order.first && is_here(order.root);
  for (Rank r = 0; r < op.size() && !order.first && !wait; ++r) wait = is_here(r);
  if (wait) op.wire().give_way();
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
  if (!visit.group->flat) keep_order(op, visit);
  co_return st;
}

}  // namespace ashlar::coll::shm
