#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/payload.h"

namespace ashlar::coll::shm {

/// Flat: everyone combines everyone's operands. Central: the last to arrive combines them and publishes the result.
/// R. Graham, G. Shipman, EuroPVM/MPI 2008; the counter is that of our barrier.
Co allreduce(Op& op, const Call& call) {
  Visit visit = Visit::begin(op, call.send.bytes());
  Gate gate;
  Status st;
  if (visit.group == nullptr) co_return op.failure();
  if (!visit.enter()) [[unlikely]] {
    const Co preparing = prepare(op, call, visit);
    op.join(preparing, gate);
    st = co_await gate;
    if (!st.ok() || visit.served_otherwise) co_return st;
  }
  const MPI_Count bytes = call.bytes;
  const auto ranks = static_cast<std::uint32_t>(op.size());
  contribute(op, call, visit);
  if (visit.group->flat) {
    wake_sleepers(op, visit);
  } else if (visit.layout().arrived(visit.number).fetch_add(1, std::memory_order_acq_rel) + 1 == ranks) {
    visit.layout().arrived(visit.number).store(0, std::memory_order_relaxed);
    combine_all(op, call, visit, result_place(visit, bytes));
    visit.layout().result(visit.number).number.store(visit.number, std::memory_order_release);
    wake_sleepers(op, visit);
  }
  LineWait wait(op, visit, visit.group->flat);
  st = co_await wait;
  wait.over();
  if (!st.ok()) {
    visit.leave();
    co_return st;
  }
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
