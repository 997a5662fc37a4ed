#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/payload.h"

namespace ashlar::coll::shm {

/// Flat: everyone combines everyone's operands. Central: the last to arrive combines them and publishes the result.
/// R. Graham, G. Shipman, EuroPVM/MPI 2008; the counter is that of our barrier.
Co allreduce(Op& op, const Call& call, Visit visit) {
  Status st;
  const MPI_Count bytes = call.bytes;
  contribute(op, call, visit);
  if (visit.group->flat) {
    wake_sleepers(op, visit);
  } else if (last_to_arrive(op, visit)) {
    const bool alike = all_alike(visit);
    if (alike) combine_all(op, call, visit, result_place(visit, bytes));
    publish_for_all(op, visit, alike);
  }
  LineWait wait = LineWait::everyone(op, visit);
  st = co_await wait;
  if (wait.failed()) co_return st;
  if (visit.group->flat) {
    combine_all(op, call, visit, call.recv.data);
  } else {
    op.copy_bytes(result_place(visit, bytes), call.recv.data, bytes);
  }
  all_met(visit);
  done(op, visit);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm
