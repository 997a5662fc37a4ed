#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/payload.h"

namespace ashlar::coll::shm {

/// Each rank leaves its block and goes on; the root takes them all. As our reduce.
Co gather(Op& op, const Call& call) {
  const MPI_Count bytes = call.bytes;
  Visit visit = Visit::begin(op, bytes);
  Gate gate;
  Status st;
  if (visit.group == nullptr) co_return op.failure();
  if (!visit.enter()) [[unlikely]] {
    const Co preparing = prepare(op, call, visit);
    op.join(preparing, gate);
    st = co_await gate;
    if (!st.ok() || visit.served_otherwise) co_return st;
  }
  const auto me = static_cast<std::uint32_t>(op.rank());
  const bool root = op.rank() == call.root;
  if (!root) op.copy(call.send, Op::view(operand(visit, bytes, me), bytes));
  visit.layout().contribution(visit.number, me).number.store(visit.number, std::memory_order_release);
  if (!root) {
    wake_sleepers(op, visit);
    done(op, visit);
    co_return op.failure();
  }
  if (!call.in_place) op.copy(call.send, call.recv_block(op.rank()));
  LineWait wait(op, visit, true);
  st = co_await wait;
  wait.over();
  if (!st.ok()) {
    visit.leave();
    co_return st;
  }
  for (Rank r = 0; r < op.size(); ++r) {
    if (r != op.rank())
      op.copy(Op::view(operand(visit, bytes, static_cast<std::uint32_t>(r)), bytes), call.recv_block(r));
  }
  done(op, visit);
  co_return op.failure();
}

/// The root leaves every rank's block and goes on; each rank waits for its own alone. As our bcast.
Co scatter(Op& op, const Call& call) {
  const MPI_Count bytes = call.bytes;
  Visit visit = Visit::begin(op, bytes);
  Gate gate;
  Status st;
  if (visit.group == nullptr) co_return op.failure();
  if (!visit.enter()) [[unlikely]] {
    const Co preparing = prepare(op, call, visit);
    op.join(preparing, gate);
    st = co_await gate;
    if (!st.ok() || visit.served_otherwise) co_return st;
  }
  const auto me = static_cast<std::uint32_t>(op.rank());
  if (op.rank() == call.root) {
    for (Rank r = 0; r < op.size(); ++r) {
      if (r == op.rank()) continue;
      const auto to = static_cast<std::uint32_t>(r);
      op.copy(call.send_block(r), Op::view(operand(visit, bytes, to), bytes));
      visit.layout().contribution(visit.number, to).number.store(visit.number, std::memory_order_release);
    }
    wake_sleepers(op, visit);
    if (!call.in_place) op.copy(call.send_block(op.rank()), call.recv);
    done(op, visit);
    co_return op.failure();
  }
  LineWait wait(op, visit, false);
  wait.line = &visit.layout().contribution(visit.number, me);
  st = co_await wait;
  wait.over();
  if (!st.ok()) {
    visit.leave();
    co_return st;
  }
  op.copy(Op::view(operand(visit, bytes, me), bytes), call.recv);
  done(op, visit);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm
