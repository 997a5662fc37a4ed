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

}  // namespace

/// Binomial tree of packed blocks. R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005; MPICH's MPI_Scatter.
/// lg rounds, n - 1 messages; a block of m bytes travels once per level. For small blocks.
Co scatter_binomial(Op& op, const Call& call) {
  const int size = op.size();
  const int me = from_root(op.rank(), call.root, size);
  const int mine = subtree_size(me, size);
  const MPI_Count bytes = me == 0 ? call.send.bytes() : call.recv.bytes();
  Gate gate;
  Status st;
  int bit = 1;
  while (bit < size && (me & bit) == 0) bit *= 2;
  if (mine == 1 && me != 0) {
    op.recv(to_rank(me - bit, call.root, size), call.recv, gate);
    st = co_await gate;
    co_return st;
  }
  std::byte* blocks = nullptr;
  if (me != 0) {
    blocks = op.scratch(bytes * mine);
    op.recv(to_rank(me - bit, call.root, size), blocks, bytes * mine, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  for (bit /= 2; bit > 0; bit /= 2) {
    const int child = me + bit;
    if (child >= size) continue;
    const int count = subtree_size(child, size);
    const Rank to = to_rank(child, call.root, size);
    if (me != 0) {
      op.send(to, blocks + bytes * bit, bytes * count, gate);
    } else if (side_by_side(call, child, child + count, size)) {
      op.send(to, call.send_block(to).data, bytes * count, gate);
    } else {
      std::byte* const staged = op.scratch(bytes * count);
      collect_blocks(op, call, staged, child, child + count);
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

}  // namespace ashlar::coll::p2p
