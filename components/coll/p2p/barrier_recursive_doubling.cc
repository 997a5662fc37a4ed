#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/tree.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Recursive doubling (pairwise exchange) with folding. R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of
/// collective communication operations in MPICH", IJHPCA 19(1), 2005.
/// p = largest power of two <= n, e = n - p: log2 p rounds (+ 2 when e > 0), p log2 p + 2 e messages. Unlike
/// dissemination every round is an exchange with one partner: half as many partners to be connected to.
Co barrier_recursive_doubling(Op& op, const Call&) {
  const Fold fold = Fold::of(op.rank(), op.size());
  Gate gate;
  Status st;
  if (fold.paired(op.rank())) {
    if (fold.place < 0) {
      op.recv(op.rank() + 1, nullptr, 0, gate);
      op.send(op.rank() + 1, nullptr, 0, gate);
      st = co_await gate;
      co_return st;
    }
    op.recv(op.rank() - 1, nullptr, 0, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  for (int bit = 1; bit < fold.power; bit *= 2) {
    const Rank peer = fold.rank_at(fold.place ^ bit);
    op.recv(peer, nullptr, 0, gate);
    op.send(peer, nullptr, 0, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  if (fold.paired(op.rank())) {
    op.send(op.rank() - 1, nullptr, 0, gate);
    st = co_await gate;
  }
  co_return st;
}

}  // namespace ashlar::coll::p2p
