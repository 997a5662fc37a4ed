#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/outgoing.h"

namespace ashlar::coll::p2p {

/// Linear with a window; serves alltoall and alltoallv. Every message at once, `window` partners at a time, each rank
/// beginning with its successor so that no rank is everyone's first target. J. Pjesivac-Grbovic et al., Cluster
/// Computing 10(2), 2007. 1 round when the window holds all, n (n - 1) messages (empty blocks do not travel).
/// Argument: window (partners, 32).
Co alltoall_linear(Op& op, const Call& call) {
  const int size = op.size();
  const int me = op.rank();
  const int window = op.arguments().window > 0 ? op.arguments().window : 32;
  const Outgoing outgoing = Outgoing::of(op, call);
  if (!call.in_place) op.copy(call.send_block(me), call.recv_block(me));
  Gate gate;
  Status st;
  for (int step = 1; step < size; ++step) {
    const Rank to = (me + step) % size;
    const Rank from = (me - step + size) % size;
    const DataView in = call.recv_block(from);
    const DataView out = outgoing.block(to);
    if (in.bytes() > 0) op.recv(from, in, gate);
    if (out.bytes() > 0) op.send(to, out, gate);
    if (step % window != 0) continue;
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  st = co_await gate;
  co_return st;
}

}  // namespace ashlar::coll::p2p
