#include "components/coll/p2p/accumulator.h"
#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/tree.h"

namespace ashlar::coll::p2p {

/// Recursive doubling with folding. R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005.
/// p = largest power of two <= n, e = n - p: log2 p rounds (+ 2 when e > 0), p log2 p + 2 e messages of m bytes.
/// Operands are combined in rank order, so any operation may be used and all ranks get the same bits.
Co allreduce_recursive_doubling(Op& op, const Call& call) {
  const Fold fold = Fold::of(op.rank(), op.size());
  Gate gate;
  Status st;
  if (fold.paired(op.rank()) && fold.place < 0) {
    const Rank partner = op.rank() + 1;
    op.send(partner, call.send, gate);
    st = co_await gate;  // before the receive: in place, the result arrives where the operand lies
    if (!st.ok()) co_return st;
    op.recv(partner, call.recv, gate);
    st = co_await gate;
    co_return st;
  }
  Accumulator sum = Accumulator::start(op, call, static_cast<std::byte*>(call.recv.data));
  if (fold.paired(op.rank())) {
    op.recv(op.rank() - 1, sum.incoming_view(call), gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    sum.merge(op, call, true);
  }
  for (int bit = 1; bit < fold.power; bit *= 2) {
    const Rank peer = fold.rank_at(fold.place ^ bit);
    op.recv(peer, sum.incoming_view(call), gate);
    op.send(peer, sum.value_view(call), gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    sum.merge(op, call, peer < op.rank());
  }
  sum.finish(op, call);
  if (fold.paired(op.rank())) {
    op.send(op.rank() - 1, call.recv, gate);
    st = co_await gate;
  }
  co_return op.failure();
}

}  // namespace ashlar::coll::p2p
