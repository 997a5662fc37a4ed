#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/tree.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {
namespace {

bool side_by_side(const Call& call, int first, int last, int size) {
  return call.send.dense() && to_rank(first, call.root, size) + (last - first) <= size;
}

/// Collects the blocks of relative ranks [first, last) from the root's buffer, packed.
void collect_blocks(Op& op, const Call& call, std::byte* blocks, int first, int last) {
  const int size = op.size();
  const Rank begin = to_rank(first, call.root, size);
  const int until_wrap = size - begin < last - first ? size - begin : last - first;
  DataView run = call.send_block(begin);
  const MPI_Count bytes = run.bytes();
  run.count *= until_wrap;
  op.copy(run, Op::view(blocks, bytes * until_wrap));
  if (until_wrap == last - first) return;
  run = call.send_block(0);
  run.count *= last - first - until_wrap;
  op.copy(run, Op::view(blocks + bytes * until_wrap, bytes * (last - first - until_wrap)));
}

/// A tree in base `radix` of packed blocks.
Co scatter_tree(Op& op, const Call& call, int radix) {
  const int size = op.size();
  const int me = from_root(op.rank(), call.root, size);
  const Branch mine = Branch::of(me, size, radix);
  const MPI_Count bytes = me == 0 ? call.send.bytes() : call.recv.bytes();
  Gate gate;
  Status st;
  if (mine.ranks == 1 && me != 0) {
    op.recv(to_rank(mine.parent, call.root, size), call.recv, gate);
    st = co_await gate;
    co_return st;
  }
  std::byte* blocks = nullptr;
  if (me != 0) {
    blocks = op.scratch(bytes * mine.ranks);
    op.recv(to_rank(mine.parent, call.root, size), blocks, bytes * mine.ranks, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  // The largest subtrees first: they have the longest way to go.
  for (Branch::Child child = mine.last(); child.exists(); child = child.before()) {
    const int count = child.ranks();
    const Rank to = to_rank(child.rank, call.root, size);
    if (me != 0) {
      op.send(to, blocks + bytes * (child.rank - me), bytes * count, gate);
    } else if (side_by_side(call, child.rank, child.rank + count, size)) {
      op.send(to, call.send_block(to).data, bytes * count, gate);
    } else {
      std::byte* const staged = op.scratch(bytes * count);
      collect_blocks(op, call, staged, child.rank, child.rank + count);
      op.send(to, staged, bytes * count, gate);
    }
  }
  if (me != 0) {
    op.copy(Op::view(blocks, bytes), call.recv);
  } else if (!call.in_place) {
    op.copy(call.send_block(op.rank()), call.recv);
  }
  st = co_await gate;
  co_return st;
}

}  // namespace

/// Binomial tree of packed blocks. R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005; MPICH's MPI_Scatter.
/// lg rounds, n - 1 messages; a block of m bytes travels once per level. For small blocks.
Co scatter_binomial(Op& op, const Call& call) { return scatter_tree(op, call, 2); }

/// The same in base k; see gather_knomial. Argument: radix (4).
Co scatter_knomial(Op& op, const Call& call) {
  return scatter_tree(op, call, op.arguments().radix > 1 ? op.arguments().radix : 4);
}

}  // namespace ashlar::coll::p2p
