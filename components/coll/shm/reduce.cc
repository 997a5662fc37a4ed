#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/payload.h"

namespace ashlar::coll::shm {

/// Each rank leaves its operand in its line and goes on; the root takes them in rank order. A rank waits only when it
/// is kSlots collectives ahead of the slowest one. R. Graham, G. Shipman, EuroPVM/MPI 2008.
Co reduce(Op& op, const Call& call) {
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
  contribute(op, call, visit);
  if (op.rank() != call.root) {
    wake_sleepers(op, visit);
    done(op, visit);
    co_return st;
  }
  LineWait wait(op, visit, true);
  st = co_await wait;
  wait.over();
  if (!st.ok()) {
    visit.leave();
    co_return st;
  }
  combine_all(op, call, visit, call.recv.data);
  done(op, visit);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm
