#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/payload.h"

namespace ashlar::coll::shm {

/// Each rank leaves its operand in its line and goes on; the root takes them in rank order. A rank waits only when it
/// is kSlots collectives ahead of the slowest one. R. Graham, G. Shipman, EuroPVM/MPI 2008.
Co reduce(Op& op, const Call& call, Visit visit) {
  Status st;
  contribute(op, call, visit);
  if (op.rank() != call.root) {
    wake_sleepers(op, visit);
    done(op, visit);
    co_return st;
  }
  LineWait wait = LineWait::contributions(op, visit);
  st = co_await wait;
  if (wait.failed()) co_return st;
  combine_all(op, call, visit, call.recv.data);
  done(op, visit);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm
