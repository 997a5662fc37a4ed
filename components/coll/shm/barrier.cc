#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/payload.h"

namespace ashlar::coll::shm {

Stay small_stay(const Op&, const Call& call) { return Stay{call.bytes}; }

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
  co_return st;
}

}  // namespace ashlar::coll::shm
