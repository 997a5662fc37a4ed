#include "components/coll/p2p/algorithms.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Ring; serves allgather and allgatherv. R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005.
/// n - 1 rounds, n (n - 1) messages (empty blocks do not travel), all between neighbours. For large blocks.
Co allgather_ring(Op& op, const Call& call) {
  const int size = op.size();
  const int me = op.rank();
  const Rank right = (me + 1) % size;
  const Rank left = (me - 1 + size) % size;
  if (!call.in_place) op.copy(call.send, call.recv_block(me));
  Gate gate;
  Status st;
  for (int step = 0; step < size - 1; ++step) {
    const DataView out = call.recv_block((me - step + size) % size);
    const DataView in = call.recv_block((me - step - 1 + size) % size);
    if (in.bytes() > 0) op.recv(left, in, gate);
    if (out.bytes() > 0) op.send(right, out, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  co_return op.failure();
}

}  // namespace ashlar::coll::p2p
