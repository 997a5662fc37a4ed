#include "components/coll/p2p/algorithms.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Dissemination barrier. D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier synchronization", International
/// Journal of Parallel Programming 17(1), 1988.
/// In round k a rank signals the one 2^k after it and waits for the one 2^k before it. lg rounds, n lg messages.
Co barrier_dissemination(Op& op, const Call&) {
  const int size = op.size();
  Status st;
  for (int distance = 1; distance < size; distance *= 2) {
    const Rank to = (op.rank() + distance) % size;
    const Rank from = (op.rank() - distance + size) % size;
    Gate gate;
    op.recv(from, nullptr, 0, gate);
    op.send(to, nullptr, 0, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  co_return st;
}

}  // namespace ashlar::coll::p2p
