#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/operands.h"

namespace ashlar::coll::shm {

/// Flat: every rank combines every rank's operand. Central: the last rank to arrive combines them and publishes the
/// result. R. Graham, G. Shipman, EuroPVM/MPI 2008; the counter is that of our barrier.
Co allreduce(Op& op, const Call& call, Ticket ticket) {
  Status st;
  const MPI_Count bytes = call.bytes;
  const bool flat = ticket.member->flat;
  write_operand(op, call, ticket);
  publish(ticket);
  if (flat) {
    wake_sleepers(ticket);
  } else if (last_to_arrive(ticket)) {
    const bool agree = flags_agree(ticket);
    if (agree) combine_operands(op, call, ticket, ticket.result(bytes));
    publish_result_for_all(ticket, agree);
  }
  FlagWait wait = FlagWait::all_arrived(ticket);
  st = co_await wait;
  if (wait.failed()) co_return st;
  if (flat) {
    combine_operands(op, call, ticket, call.recv.data);
  } else {
    op.copy_bytes(ticket.result(bytes), call.recv.data, bytes);
  }
  note_all_arrived(ticket);
  done(ticket);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm
