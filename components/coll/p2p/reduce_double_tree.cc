#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/double_tree.h"
#include "components/coll/p2p/tree.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {
namespace {

/// One half of the vector on its way up one tree, in items.
struct Stream {
  OrderedTree tree;
  MPI_Count at, end;
  MPI_Count segment;
  MPI_Count length() const { return end - at < segment ? end - at : segment; }
};

}  // namespace

/// Two trees. P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
/// scan", Parallel Computing 35(12), 2009. Our bcast_double_tree the other way round: each half of the vector travels
/// in segments up its own binary tree, and a rank with children in one tree is a leaf of the other. 2 (n - 1) s
/// messages for s segments per half, (n - 1) m bytes. For operations that commute. Argument: segment (bytes, 64 KiB).
Co reduce_double_tree(Op& op, const Call& call) {
  const int size = op.size();
  const int me = from_root(op.rank(), call.root, size);
  Datatype& type = *call.send.type;
  const MPI_Count wanted = op.arguments().segment > 0 ? op.arguments().segment : 64 * 1024;
  const MPI_Count segment = type.size() > 0 && wanted > type.size() ? wanted / type.size() : 1;
  const MPI_Count count = call.send.count;
  const MPI_Count half = (count + 1) / 2;
  const MPI_Count extent = type.extent();
  Stream streams[2];
  streams[0] = Stream{OrderedTree::of(me, size - 1, false), 0, half, segment};
  streams[1] = Stream{OrderedTree::of(me, size - 1, true), half, count, segment};
  auto* const own = static_cast<std::byte*>(call.send.data);
  std::byte* const sum = me == 0 ? static_cast<std::byte*>(call.recv.data) : op.scratch_items(count, type);
  std::byte* incoming[2];
  for (std::byte*& buffer : incoming) buffer = op.scratch_items(segment < half ? segment : half, type);
  Status st;
  Gate arriving, leaving;
  // Segment by segment, the first tree's before the second's: that order is the same on every rank, so no ranks wait
  // in a cycle, and two messages between the same ranks cannot be taken for each other.
  while (streams[0].at < streams[0].end || streams[1].at < streams[1].end) {
    for (int t = 0; t < 2; ++t) {
      Stream& s = streams[t];
      if (s.at >= s.end) continue;
      const MPI_Count length = s.length();
      std::byte* from = own + s.at * extent;
      std::byte* const to = sum + s.at * extent;
      for (int i = 0; i < 2; ++i) {
        const int child = s.tree.children[i];
        if (child >= 0) op.recv(to_rank(child, call.root, size), DataView{incoming[i], length, &type}, arriving);
      }
      st = co_await arriving;
      if (!st.ok()) break;
      for (int i = 0; i < 2; ++i) {
        if (s.tree.children[i] < 0) continue;
        if (from == to)  // in place, or the second child
          op.combine(call, incoming[i], to, length);
        else
          op.combine(call, from, incoming[i], to, length);
        from = to;
      }
      if (me > 0) op.send(to_rank(s.tree.parent, call.root, size), DataView{from, length, &type}, leaving);
      s.at += length;
    }
    if (!st.ok()) break;
  }
  st = co_await leaving;
  if (st.ok() && size == 1) op.copy_items(own, sum, count, type);
  co_return op.failure();
}

/// Up the two trees, and down again: 4 (n - 1) s messages, 2 (n - 1) m bytes.
Co allreduce_double_tree(Op& op, const Call& call) {
  Gate gate;
  Status st;
  Call part = call;
  part.what = Collective::kReduce;
  part.root = 0;
  const Co reducing = reduce_double_tree(op, part);
  op.join(reducing, gate);
  st = co_await gate;
  if (!st.ok()) co_return st;
  part.what = Collective::kBcast;
  const Co broadcasting = bcast_double_tree(op, part);
  op.join(broadcasting, gate);
  st = co_await gate;
  co_return st;
}

}  // namespace ashlar::coll::p2p
