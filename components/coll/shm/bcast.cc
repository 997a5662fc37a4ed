#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/operands.h"

namespace ashlar::coll::shm {

/// The root writes into the slot and goes on; it waits only when it is a ring of slots ahead of the slowest rank. After
/// the message buffers of R. Graham, G. Shipman, "MPI support for multi-core architectures: optimized shared memory
/// collectives", EuroPVM/MPI 2008.
Co bcast(Op& op, const Call& call, Ticket ticket) {
  Status st;
  const DataView shared = Op::view(ticket.result(call.bytes), call.bytes);
  if (op.rank() == call.root) {
    op.copy(call.recv, shared);
    publish_result_and_wake(ticket);
    done(ticket);
    co_return st;
  }
  FlagWait wait = FlagWait::result_from(ticket, call.root);
  st = co_await wait;
  if (wait.failed()) co_return st;
  op.copy(shared, call.recv);
  done(ticket);
  co_return st;
}

}  // namespace ashlar::coll::shm
