#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/tree.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Pipelined binary tree. J. Pjesivac-Grbovic et al., "Performance analysis of MPI collective operations", Cluster
/// Computing 10(2), 2007.
/// s segments over a tree of depth d = floor(log2 n): d - 1 + s rounds (of n > 1), (n - 1) s messages, (n - 1) m bytes;
/// each link carries m bytes, an inner rank sends twice as much as it gets. Argument: segment (bytes, 64 KiB).
Co bcast_binary(Op& op, const Call& call) {
  const int size = op.size();
  const int me = from_root(op.rank(), call.root, size);
  const MPI_Count segment = op.arguments().segment > 0 ? op.arguments().segment : 64 * 1024;
  const Rank from = me > 0 ? to_rank((me - 1) / 2, call.root, size) : 0;
  const Packed data = me == 0 ? op.packed_in(call.recv) : op.packed_out(call.recv);
  if (data.size == 0) co_return op.failure();

  Status st;
  Gate arriving, leaving;
  MPI_Count at = 0;
  MPI_Count length = data.size < segment ? data.size : segment;
  if (me > 0) op.recv(from, data.bytes, length, arriving);
  while (at < data.size) {
    st = co_await arriving;
    if (!st.ok()) break;
    const MPI_Count next = at + length;
    const MPI_Count next_length = data.size - next < segment ? data.size - next : segment;
    if (me > 0 && next < data.size) op.recv(from, data.bytes + next, next_length, arriving);
    st = co_await leaving;
    if (!st.ok()) break;
    for (std::int64_t child = std::int64_t{2} * me + 1; child <= std::int64_t{2} * me + 2 && child < size; ++child)
      op.send(to_rank(static_cast<int>(child), call.root, size), data.bytes + at, length, leaving);
    at = next;
    length = next_length;
  }
  st = co_await arriving;
  st = co_await leaving;
  if (st.ok() && me > 0) op.unpack(data, call.recv);
  co_return st;
}

}  // namespace ashlar::coll::p2p
