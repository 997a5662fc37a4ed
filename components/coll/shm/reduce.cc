#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/operands.h"

namespace ashlar::coll::shm {

/// Each rank leaves its operand in the segment and goes on; the root combines them in rank order. A rank waits only
/// when it is a ring of slots ahead of the slowest one. R. Graham, G. Shipman, EuroPVM/MPI 2008.
Co reduce(Op& op, const Call& call, Ticket ticket) {
  Status st;
  write_operand(op, call, ticket);
  if (op.rank() != call.root) {
    publish_and_wake(ticket);
    done(ticket);
    co_return st;
  }
  publish(ticket);
  FlagWait wait = FlagWait::contributions(ticket);
  st = co_await wait;
  if (wait.failed()) co_return st;
  combine_operands(op, call, ticket, call.recv.data);
  done(ticket);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm
