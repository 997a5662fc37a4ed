#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/tree.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Binomial tree. Folklore; analysed in R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication
/// operations in MPICH", IJHPCA 19(1), 2005.
/// lg rounds, n - 1 messages of m bytes: best while latency rules. A rank with a non-dense type receives into its own
/// buffer and sends from it, so nothing is held in temporaries.
Co bcast_binomial(Op& op, const Call& call) {
  const int size = op.size();
  const int me = from_root(op.rank(), call.root, size);
  Gate gate;
  Status st;
  int bit = 1;
  while (bit < size && (me & bit) == 0) bit *= 2;
  if (me != 0) {
    op.recv(to_rank(me - bit, call.root, size), call.recv, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  // The largest subtree first: it has the longest way to go.
  for (bit /= 2; bit > 0; bit /= 2) {
    if (me + bit < size) op.send(to_rank(me + bit, call.root, size), call.recv, gate);
  }
  st = co_await gate;
  co_return st;
}

}  // namespace ashlar::coll::p2p
