#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/halving.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Recursive doubling, for a power of two of ranks. R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005.
/// log2 n rounds, n log2 n messages, each rank sends (n - 1) m bytes. Needs no temporary, unlike Bruck's.
Co allgather_recursive_doubling(Op& op, const Call& call) {
  const int me = op.rank();
  if (!call.in_place) op.copy(call.send, call.recv_block(me));
  Gate gate;
  Status st;
  for (int width = 1; width < op.size(); width *= 2) {
    const Rank peer = me ^ width;
    DataView out = call.recv_block(window_begin(me, width));
    DataView in = call.recv_block(window_begin(peer, width));
    out.count *= width;
    in.count *= width;
    op.recv(peer, in, gate);
    op.send(peer, out, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  co_return op.failure();
}

}  // namespace ashlar::coll::p2p
