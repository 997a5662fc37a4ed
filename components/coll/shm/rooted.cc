#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/payload.h"

namespace ashlar::coll::shm {

/// Each rank leaves its block and goes on; the root takes them all. As our reduce.
Co gather(Op& op, const Call& call, Visit visit) {
  const MPI_Count bytes = call.bytes;
  Status st;
  const auto me = static_cast<std::uint32_t>(op.rank());
  const bool root = op.rank() == call.root;
  if (!root) op.copy(call.send, Op::view(operand(visit, bytes, me), bytes));
  sign(op, visit);
  if (!root) {
    wake_sleepers(op, visit);
    done(op, visit);
    co_return op.failure();
  }
  if (!call.in_place) op.copy(call.send, call.recv_block(op.rank()));
  LineWait wait = LineWait::contributions(op, visit);
  st = co_await wait;
  if (wait.failed()) co_return st;
  for (Rank r = 0; r < op.size(); ++r) {
    if (r != op.rank())
      op.copy(Op::view(operand(visit, bytes, static_cast<std::uint32_t>(r)), bytes), call.recv_block(r));
  }
  done(op, visit);
  co_return op.failure();
}

/// The root leaves every rank's block and goes on; each rank waits for its own alone. As our bcast.
Co scatter(Op& op, const Call& call, Visit visit) {
  const MPI_Count bytes = call.bytes;
  Status st;
  const auto me = static_cast<std::uint32_t>(op.rank());
  if (op.rank() == call.root) {
    for (Rank r = 0; r < op.size(); ++r) {
      if (r == op.rank()) continue;
      const auto to = static_cast<std::uint32_t>(r);
      op.copy(call.send_block(r), Op::view(operand(visit, bytes, to), bytes));
      visit.layout().contribution(visit.number, to).number.store(visit.word(), std::memory_order_release);
    }
    wake_sleepers(op, visit);
    if (!call.in_place) op.copy(call.send_block(op.rank()), call.recv);
    done(op, visit);
    co_return op.failure();
  }
  LineWait wait = LineWait::from(op, visit, visit.layout().contribution(visit.number, me), call.root);
  st = co_await wait;
  if (wait.failed()) co_return st;
  op.copy(Op::view(operand(visit, bytes, me), bytes), call.recv);
  done(op, visit);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm
