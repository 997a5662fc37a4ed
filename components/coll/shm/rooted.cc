#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/operands.h"

namespace ashlar::coll::shm {

/// Each rank leaves its block in the segment and goes on; the root copies them out. As our reduce.
Co gather(Op& op, const Call& call, Ticket ticket) {
  const MPI_Count bytes = call.bytes;
  Status st;
  if (op.rank() != call.root) {
    op.copy(call.send, Op::view(ticket.payload(ticket.me(), bytes), bytes));
    publish_and_wake(ticket);
    done(ticket);
    co_return op.failure();
  }
  publish(ticket);
  if (!call.in_place) op.copy(call.send, call.recv_block(op.rank()));
  FlagWait wait = FlagWait::contributions(ticket);
  st = co_await wait;
  if (wait.failed()) co_return st;
  for (Rank r = 0; r < op.size(); ++r) {
    if (r == op.rank()) continue;
    op.copy(Op::view(ticket.payload(static_cast<std::uint32_t>(r), bytes), bytes), call.recv_block(r));
  }
  done(ticket);
  co_return op.failure();
}

/// The root leaves every rank's block in the segment and goes on; each rank waits for its own alone. As our bcast.
Co scatter(Op& op, const Call& call, Ticket ticket) {
  const MPI_Count bytes = call.bytes;
  Status st;
  if (op.rank() == call.root) {
    for (Rank r = 0; r < op.size(); ++r) {
      if (r == op.rank()) continue;
      const auto to = static_cast<std::uint32_t>(r);
      op.copy(call.send_block(r), Op::view(ticket.payload(to, bytes), bytes));
      publish_line(ticket, to);
    }
    wake_sleepers(ticket);
    if (!call.in_place) op.copy(call.send_block(op.rank()), call.recv);
    done(ticket);
    co_return op.failure();
  }
  FlagWait wait = FlagWait::own_line_from(ticket, call.root);
  st = co_await wait;
  if (wait.failed()) co_return st;
  op.copy(Op::view(ticket.payload(ticket.me(), bytes), bytes), call.recv);
  done(ticket);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm
