#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/tree.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Reduce-scatter in rank order, then an allgather, both linear: every rank takes its slice of every other's vector,
/// and hands its slice of the result to every other. The two halves of R. Rabenseifner, ICCS 2004, without the trees.
/// 2 rounds, 2 n (n - 1) messages, 2 (n - 1) m bytes: as little traffic as the ring, but every item is
/// a0 op (a1 op (... a[n-1])), so any operation may be used, and the bits depend on nothing but the operands. Where
/// ranks share memory and cores, two rounds mean two turns on the core for each rank. Argument: window (partners, 32).
Co allreduce_ordered(Op& op, const Call& call) {
  const int size = op.size();
  const int me = op.rank();
  const Split split{call.send.count, size};
  const MPI_Count extent = call.send.type->extent();
  auto* const counts = reinterpret_cast<MPI_Count*>(op.scratch(2 * size * MPI_Count{sizeof(MPI_Count)}));
  if (counts == nullptr) co_return op.failure();
  MPI_Count* const begins = counts + size;
  for (int i = 0; i < size; ++i) {
    counts[i] = split.size(i);
    begins[i] = split.begin(i);
  }
  auto* const own = static_cast<std::byte*>(call.recv.data) + begins[me] * extent;
  const bool in_place = call.send.data == call.recv.data;
  Gate gate;
  Status st;
  Call part = call;
  part.what = Collective::kReduceScatter;
  part.recv_counts = IntArray(counts);
  part.recv = DataView{in_place ? op.scratch_items(counts[me], *call.send.type) : own, counts[me], call.send.type};
  const Co reducing = reduce_scatter_linear(op, part);
  op.join(reducing, gate);
  st = co_await gate;
  if (!st.ok()) co_return st;
  if (in_place) op.copy_items(part.recv.data, own, counts[me], *call.send.type);
  part.what = Collective::kAllgatherv;
  part.in_place = true;
  part.recv = DataView{call.recv.data, 0, call.send.type};
  part.recv_displs = IntArray(begins);
  const Co gathering = allgather_linear(op, part);
  op.join(gathering, gate);
  st = co_await gate;
  co_return st;
}

}  // namespace ashlar::coll::p2p
