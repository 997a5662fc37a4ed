#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/payload.h"

namespace ashlar::coll::shm {

/// The root writes into the slot and goes on; it waits only when it is kSlots collectives ahead of the slowest rank.
/// After the message buffers of R. Graham, G. Shipman, "MPI support for multi-core architectures: optimized shared
/// memory collectives", EuroPVM/MPI 2008.
Co bcast(Op& op, const Call& call, Visit visit) {
  Status st;
  const MPI_Count bytes = call.bytes;
  const DataView shared = Op::view(result_place(visit, bytes), bytes);
  if (op.rank() == call.root) {
    op.copy(call.recv, shared);
    publish(op, visit);
    done(op, visit);
    co_return st;
  }
  LineWait wait = LineWait::from(op, visit, visit.layout().result(visit.number), call.root);
  st = co_await wait;
  if (wait.failed()) co_return st;
  op.copy(shared, call.recv);
  done(op, visit);
  co_return st;
}

}  // namespace ashlar::coll::shm
