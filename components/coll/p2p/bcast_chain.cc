#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/tree.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Pipelined chain. J. Worringen, "Pipelining and overlapping for MPI collective operations", LCN 2003; J. Pjesivac-
/// Grbovic et al., "Performance analysis of MPI collective operations", Cluster Computing 10(2), 2007.
/// The buffer travels in s segments from each rank to the next; a rank passes segment k on while k + 1 arrives.
/// n - 2 + s rounds, (n - 1) s messages, each link carries m bytes once: bandwidth is that of one link for any n.
/// Argument: segment (bytes, 128 KiB).
Co bcast_chain(Op& op, const Call& call) {
  const int size = op.size();
  const int me = from_root(op.rank(), call.root, size);
  const MPI_Count segment = op.arguments().segment > 0 ? op.arguments().segment : 128 * 1024;
  const bool last = me == size - 1;
  const Rank from = me > 0 ? to_rank(me - 1, call.root, size) : 0;
  const Rank to = last ? 0 : to_rank(me + 1, call.root, size);
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
    // One segment is on its way out at a time: the next rank is as fast as we are.
    st = co_await leaving;
    if (!st.ok()) break;
    if (!last) op.send(to, data.bytes + at, length, leaving);
    at = next;
    length = next_length;
  }
  st = co_await arriving;
  st = co_await leaving;
  if (st.ok() && me > 0) op.unpack(data, call.recv);
  co_return st;
}

}  // namespace ashlar::coll::p2p
