#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/double_tree.h"
#include "components/coll/p2p/tree.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {
namespace {

/// One half of the buffer on its way down one tree.
struct Stream {
  OrderedTree tree;
  MPI_Count at, end;
  MPI_Count segment;
  MPI_Count length(MPI_Count from) const { return end - from < segment ? end - from : segment; }
};

}  // namespace

/// Two trees. P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
/// scan", Parallel Computing 35(12), 2009. Each half of the buffer travels in segments down its own binary tree; a rank
/// with children in one tree is a leaf of the other, so none sends more than it gets: (n - 1) m bytes, at the
/// bandwidth of a chain and the depth of a tree. 2 (n - 1) s messages for s segments per half. Argument: segment
/// (bytes, 64 KiB).
Co bcast_double_tree(Op& op, const Call& call) {
  const int size = op.size();
  const int me = from_root(op.rank(), call.root, size);
  const MPI_Count segment = op.arguments().segment > 0 ? op.arguments().segment : 64 * 1024;
  const Packed data = me == 0 ? op.packed_in(call.recv) : op.packed_out(call.recv);
  if (data.size == 0) co_return op.failure();
  const MPI_Count half = (data.size + 1) / 2;
  Stream streams[2];
  streams[0] = Stream{OrderedTree::of(me, size - 1, false), 0, half, segment};
  streams[1] = Stream{OrderedTree::of(me, size - 1, true), half, data.size, segment};
  Status st;
  Gate arriving[2];
  Gate leaving[2];
  for (int t = 0; t < 2 && me > 0; ++t) {
    const Stream& s = streams[t];
    if (s.at < s.end) op.recv(to_rank(s.tree.parent, call.root, size), data.bytes + s.at, s.length(s.at), arriving[t]);
  }
  // Segment by segment, the first tree's before the second's: that order is the same on every rank, so no ranks wait
  // in a cycle, and two messages between the same ranks cannot be taken for each other.
  while (streams[0].at < streams[0].end || streams[1].at < streams[1].end) {
    for (int t = 0; t < 2; ++t) {
      Stream& s = streams[t];
      if (s.at >= s.end) continue;
      Gate& in = arriving[t];
      Gate& out = leaving[t];
      const MPI_Count length = s.length(s.at);
      const MPI_Count next = s.at + length;
      st = co_await in;
      if (!st.ok()) break;
      if (me > 0 && next < s.end)
        op.recv(to_rank(s.tree.parent, call.root, size), data.bytes + next, s.length(next), in);
      st = co_await out;
      if (!st.ok()) break;
      for (const int child : s.tree.children) {
        if (child >= 0) op.send(to_rank(child, call.root, size), data.bytes + s.at, length, out);
      }
      s.at = next;
    }
    if (!st.ok()) break;
  }
  for (int t = 0; t < 2; ++t) {
    Gate& in = arriving[t];
    Gate& out = leaving[t];
    st = co_await in;
    st = co_await out;
  }
  if (st.ok() && me > 0) op.unpack(data, call.recv);
  co_return st;
}

}  // namespace ashlar::coll::p2p
