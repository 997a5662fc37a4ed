#include "components/coll/inter/algorithms.h"
#include "components/coll/inter/groups.h"

namespace ashlar::coll::inter {

/// The root sends to the remote leader, which broadcasts in its group: 1 + depth rounds, n messages of m bytes for a
/// remote group of n.
Co bcast(Op& op, const Call& call) {
  Gate gate;
  Status st;
  if (call.root == MPI_ROOT) {
    op.send(0, call.recv, gate);
    st = co_await gate;
    co_return st;
  }
  if (op.rank() == 0) {
    op.recv(call.root, call.recv, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  if (op.size() == 1) co_return st;
  const Groups* const groups = Groups::of(op);
  if (groups == nullptr) co_return op.failure();
  Op part(op, *groups->own, op.rank(), op.size());
  const Call inner = bcast_from_first(call.recv);
  const Co broadcasting = run_part(op, part, *groups->inside, inner);
  op.join(broadcasting, gate);
  st = co_await gate;
  co_return st;
}

}  // namespace ashlar::coll::inter
