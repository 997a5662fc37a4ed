#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/pieces.h"

namespace ashlar::coll::p2p {

/// Pairwise exchange. R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, 4.5. Serves reduce_scatter and
/// reduce_scatter_block.
/// n - 1 rounds, n (n - 1) messages (empty pieces do not travel), (n - 1) m bytes: the least possible, and each piece
/// goes straight to its owner. For large vectors and operations that commute.
Co reduce_scatter_pairwise(Op& op, const Call& call) {
  const int size = op.size();
  const int me = op.rank();
  const Pieces pieces = Pieces::of(op, call);
  if (pieces.begins == nullptr) co_return op.failure();
  const MPI_Count mine = call.recv.count;
  Datatype& type = *call.send.type;
  // In place, the result would lie on operands that have yet to leave.
  const bool apart = call.send.data == call.recv.data;
  std::byte* const sum = apart ? op.scratch_items(mine, type) : static_cast<std::byte*>(call.recv.data);
  std::byte* const incoming = op.scratch_items(mine, type);
  const std::byte* so_far = pieces.at(call.send.data, me);
  Gate gate;
  Status st;
  for (int step = 1; step < size; ++step) {
    const Rank to = (me + step) % size;
    const Rank from = (me - step + size) % size;
    if (mine > 0) op.recv(from, DataView{incoming, mine, &type}, gate);
    if (pieces.size(to) > 0) op.send(to, pieces.view(call, call.send.data, to, to + 1), gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    op.combine(call, incoming, so_far, sum, mine);
    so_far = sum;
  }
  op.copy_items(so_far, call.recv.data, mine, type);
  co_return op.failure();
}

}  // namespace ashlar::coll::p2p
