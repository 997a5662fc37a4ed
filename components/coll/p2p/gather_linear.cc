#include "components/coll/p2p/algorithms.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Linear with a window: everyone sends to the root, which receives from `window` ranks at a time, straight into place.
/// Textbook; the window is that of J. Pjesivac-Grbovic et al., Cluster Computing 10(2), 2007: it bounds what can pile
/// up at the root. 1 round, n - 1 messages (fewer in gatherv: empty blocks do not travel). For large blocks.
/// Argument: window (ranks, 32).
Co gather_linear(Op& op, const Call& call) {
  const int size = op.size();
  const int window = op.arguments().window > 0 ? op.arguments().window : 32;
  Gate gate;
  Status st;
  if (op.rank() != call.root) {
    if (call.send.bytes() > 0) op.send(call.root, call.send, gate);
    st = co_await gate;
    co_return st;
  }
  if (!call.in_place) op.copy(call.send, call.recv_block(op.rank()));
  int posted = 0;
  for (int i = 1; i < size; ++i) {
    const Rank from = (op.rank() + i) % size;
    const DataView block = call.recv_block(from);
    if (block.bytes() == 0) continue;
    op.recv(from, block, gate);
    if (++posted % window != 0) continue;
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  st = co_await gate;
  co_return st;
}

}  // namespace ashlar::coll::p2p
