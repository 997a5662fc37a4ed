#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/pieces.h"

namespace ashlar::coll::p2p {

/// Ring: the first half of P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
/// workstations", JPDC 69(2), 2009. Serves reduce_scatter and reduce_scatter_block.
/// n - 1 rounds, n (n - 1) messages (empty pieces do not travel), (n - 1) m bytes, all of it between neighbours. For
/// operations that commute.
Co reduce_scatter_ring(Op& op, const Call& call) {
  const int size = op.size();
  const int me = op.rank();
  const Rank right = (me + 1) % size;
  const Rank left = (me - 1 + size) % size;
  const Pieces pieces = Pieces::of(op, call);
  if (pieces.begins == nullptr) co_return op.failure();
  Datatype& type = *call.send.type;
  const MPI_Count largest = pieces.largest(size);
  std::byte* arriving = op.scratch_items(largest, type);
  std::byte* leaving = op.scratch_items(largest, type);
  Gate gate;
  Status st;
  // Each piece starts behind its owner and goes once round, and every rank adds its own to it.
  for (int step = 0; step < size - 1; ++step) {
    const int out = (me - 1 - step + size) % size;
    const int in = (out - 1 + size) % size;
    const MPI_Count arrive = pieces.size(in);
    if (arrive > 0) op.recv(left, DataView{arriving, arrive, &type}, gate);
    std::byte* const from = step == 0 ? pieces.at(call.send.data, out) : leaving;
    if (pieces.size(out) > 0) op.send(right, DataView{from, pieces.size(out), &type}, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    op.combine(call, pieces.at(call.send.data, in), arriving, arrive);
    std::byte* const other = arriving;
    arriving = leaving;
    leaving = other;
  }
  op.copy_items(size == 1 ? static_cast<std::byte*>(call.send.data) : leaving, call.recv.data, call.recv.count, type);
  co_return op.failure();
}

}  // namespace ashlar::coll::p2p
