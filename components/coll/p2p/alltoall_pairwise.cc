#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/outgoing.h"
#include "components/coll/p2p/tree.h"

namespace ashlar::coll::p2p {

/// Pairwise exchange; serves alltoall and alltoallv. R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005.
/// n - 1 rounds of one partner (of a power of two), or of one target and one source; n (n - 1) messages (empty blocks
/// do not travel). For large blocks: never more than one message each way per rank.
Co alltoall_pairwise(Op& op, const Call& call) {
  const int size = op.size();
  const int me = op.rank();
  const bool exchange = power_of_two_below(size) == size;
  const Outgoing outgoing = Outgoing::of(op, call);
  if (!call.in_place) op.copy(call.send_block(me), call.recv_block(me));
  Gate gate;
  Status st;
  for (int step = 1; step < size; ++step) {
    const Rank to = exchange ? me ^ step : (me + step) % size;
    const Rank from = exchange ? to : (me - step + size) % size;
    const DataView in = call.recv_block(from);
    const DataView out = outgoing.block(to);
    if (in.bytes() > 0) op.recv(from, in, gate);
    if (out.bytes() > 0) op.send(to, out, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  co_return op.failure();
}

}  // namespace ashlar::coll::p2p
