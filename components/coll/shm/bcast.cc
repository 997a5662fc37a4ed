#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/payload.h"

namespace ashlar::coll::shm {

/// The root writes into the slot and goes on; it waits only when it is kSlots collectives ahead of the slowest rank.
/// After the message buffers of R. Graham, G. Shipman, "MPI support for multi-core architectures: optimized shared
/// memory collectives", EuroPVM/MPI 2008.
Co bcast(Op& op, const Call& call) {
  Visit visit = Visit::begin(op, call.recv.bytes());
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
  const DataView shared = Op::view(result_place(visit, bytes), bytes);
  if (op.rank() == call.root) {
    op.copy(call.recv, shared);
    visit.layout().result(visit.number).number.store(visit.number, std::memory_order_release);
    wake_sleepers(op, visit);
    done(op, visit);
    co_return st;
  }
  LineWait wait(op, visit, false);
  st = co_await wait;
  wait.over();
  if (!st.ok()) {
    visit.leave();
    co_return st;
  }
  op.copy(shared, call.recv);
  done(op, visit);
  co_return st;
}

}  // namespace ashlar::coll::shm
