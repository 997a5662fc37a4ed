#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/tree.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {
namespace {

/// Whether the blocks of relative ranks [first, last) lie side by side in the root's buffer.
bool side_by_side(const Call& call, int first, int last, int size) {
  return call.recv.dense() && to_rank(first, call.root, size) + (last - first) <= size;
}

/// Puts packed blocks of relative ranks [first, last) into the root's buffer: one run of ranks, or two.
void place_blocks(Op& op, const Call& call, const std::byte* blocks, int first, int last) {
  const int size = op.size();
  const Rank begin = to_rank(first, call.root, size);
  const int until_wrap = size - begin < last - first ? size - begin : last - first;
  DataView run = call.recv_block(begin);
  const MPI_Count bytes = run.bytes();
  run.count *= until_wrap;
  op.copy(Op::view(blocks, bytes * until_wrap), run);
  if (until_wrap == last - first) return;
  run = call.recv_block(0);
  run.count *= last - first - until_wrap;
  op.copy(Op::view(blocks + bytes * until_wrap, bytes * (last - first - until_wrap)), run);
}

}  // namespace

/// Binomial tree of packed blocks. R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005; MPICH's MPI_Gather.
/// lg rounds, n - 1 messages; a block of m bytes travels once per level. For small blocks.
Co gather_binomial(Op& op, const Call& call) {
  const int size = op.size();
  const int me = from_root(op.rank(), call.root, size);
  const int mine = subtree_size(me, size);
  const MPI_Count bytes = me == 0 ? call.recv.bytes() : call.send.bytes();
  Gate gate;
  Status st;
  if (mine == 1 && me != 0) {
    op.send(to_rank(me - (me & -me), call.root, size), call.send, gate);
    st = co_await gate;
    co_return st;
  }
  // The root needs room only for what it cannot receive in place.
  bool staged = me != 0;
  for (int bit = 1; bit < size && me == 0; bit *= 2) {
    if (!side_by_side(call, bit, bit + subtree_size(bit, size), size)) staged = true;
  }
  std::byte* const blocks = staged ? op.scratch(bytes * mine) : nullptr;
  if (me != 0) {
    op.copy(call.send, Op::view(blocks, bytes));
  } else if (!call.in_place) {
    op.copy(call.send, call.recv_block(op.rank()));
  }
  int bit = 1;
  for (; bit < size && (me & bit) == 0; bit *= 2) {
    const int child = me + bit;
    if (child >= size) continue;
    const int count = subtree_size(child, size);
    const Rank from = to_rank(child, call.root, size);
    if (me == 0 && side_by_side(call, child, child + count, size)) {
      op.recv(from, call.recv_block(from).data, bytes * count, gate);
    } else {
      op.recv(from, blocks + bytes * bit, bytes * count, gate);
    }
  }
  st = co_await gate;
  if (!st.ok()) co_return st;
  if (me != 0) {
    op.send(to_rank(me - bit, call.root, size), blocks, bytes * mine, gate);
    st = co_await gate;
    co_return st;
  }
  for (bit = 1; bit < size; bit *= 2) {
    const int last = bit + subtree_size(bit, size);
    if (!side_by_side(call, bit, last, size)) place_blocks(op, call, blocks + bytes * bit, bit, last);
  }
  co_return op.failure();
}

}  // namespace ashlar::coll::p2p
