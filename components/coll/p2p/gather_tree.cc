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

/// A tree in base `radix` of packed blocks.
Co gather_tree(Op& op, const Call& call, int radix) {
  const int size = op.size();
  const int me = from_root(op.rank(), call.root, size);
  const Branch mine = Branch::of(me, size, radix);
  const MPI_Count bytes = me == 0 ? call.recv.bytes() : call.send.bytes();
  Gate gate;
  Status st;
  if (mine.ranks == 1 && me != 0) {
    op.send(to_rank(mine.parent, call.root, size), call.send, gate);
    st = co_await gate;
    co_return st;
  }
  // The root needs room only for what it cannot receive in place.
  bool staged = me != 0;
  for (Branch::Child child = mine.first(); child.exists(); child = child.next()) {
    if (me == 0 && !side_by_side(call, child.rank, child.rank + child.ranks(), size)) staged = true;
  }
  std::byte* const blocks = staged ? op.scratch(bytes * mine.ranks) : nullptr;
  if (me != 0) {
    op.copy(call.send, Op::view(blocks, bytes));
  } else if (!call.in_place) {
    op.copy(call.send, call.recv_block(op.rank()));
  }
  for (Branch::Child child = mine.first(); child.exists(); child = child.next()) {
    const Rank from = to_rank(child.rank, call.root, size);
    if (me == 0 && side_by_side(call, child.rank, child.rank + child.ranks(), size)) {
      op.recv(from, call.recv_block(from).data, bytes * child.ranks(), gate);
    } else {
      op.recv(from, blocks + bytes * (child.rank - me), bytes * child.ranks(), gate);
    }
  }
  st = co_await gate;
  if (!st.ok()) co_return st;
  if (me != 0) {
    op.send(to_rank(mine.parent, call.root, size), blocks, bytes * mine.ranks, gate);
    st = co_await gate;
    co_return st;
  }
  for (Branch::Child child = mine.first(); child.exists(); child = child.next()) {
    const int last = child.rank + child.ranks();
    if (!side_by_side(call, child.rank, last, size))
      place_blocks(op, call, blocks + bytes * child.rank, child.rank, last);
  }
  co_return op.failure();
}

}  // namespace

/// Binomial tree of packed blocks. R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005; MPICH's MPI_Gather.
/// lg rounds, n - 1 messages; a block of m bytes travels once per level. For small blocks.
Co gather_binomial(Op& op, const Call& call) { return gather_tree(op, call, 2); }

/// The same in base k: fewer rounds, where a rank can keep several messages in flight; see bcast_knomial.cc.
/// As many rounds as the most digits of a rank in base k that are not zero. Argument: radix (4).
Co gather_knomial(Op& op, const Call& call) {
  return gather_tree(op, call, op.arguments().radix > 1 ? op.arguments().radix : 4);
}

}  // namespace ashlar::coll::p2p
