#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/tree.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Scatter and allgather. M. Barnett, L. Shuler, R. van de Geijn et al., "Interprocessor collective communication
/// library (InterCom)", SHPCC 1994.
/// A binomial scatter of n parts, then a ring: lg + n - 1 rounds, (n - 1) + n (n - 1) messages when every part has
/// bytes; each rank sends and receives about 2 m bytes whatever n.
Co bcast_scatter_allgather(Op& op, const Call& call) {
  const int size = op.size();
  const int me = from_root(op.rank(), call.root, size);
  const Packed data = me == 0 ? op.packed_in(call.recv) : op.packed_out(call.recv);
  const Split parts{data.size, size};
  Gate gate;
  Status st;

  // Scatter: after it, rank `me` holds the parts of its subtree, of which the first is its own.
  int bit = 1;
  while (bit < size && (me & bit) == 0) bit *= 2;
  if (me != 0) {
    const MPI_Count bytes = parts.size(me, me + subtree_size(me, size));
    if (bytes > 0) op.recv(to_rank(me - bit, call.root, size), data.bytes + parts.begin(me), bytes, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  for (bit /= 2; bit > 0; bit /= 2) {
    const int child = me + bit;
    if (child >= size) continue;
    const MPI_Count bytes = parts.size(child, child + subtree_size(child, size));
    if (bytes > 0) op.send(to_rank(child, call.root, size), data.bytes + parts.begin(child), bytes, gate);
  }
  st = co_await gate;
  if (!st.ok()) co_return st;

  // Ring: in step k pass on the part that arrived in step k - 1.
  const Rank right = to_rank((me + 1) % size, call.root, size);
  const Rank left = to_rank((me - 1 + size) % size, call.root, size);
  for (int step = 1; step < size; ++step) {
    const int out = (me - step + 1 + size) % size;
    const int in = (me - step + size) % size;
    if (parts.size(in) > 0) op.recv(left, data.bytes + parts.begin(in), parts.size(in), gate);
    if (parts.size(out) > 0) op.send(right, data.bytes + parts.begin(out), parts.size(out), gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  if (me != 0) op.unpack(data, call.recv);
  co_return st;
}

}  // namespace ashlar::coll::p2p
