#include "components/coll/p2p/algorithms.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Linear with a window: the root sends to `window` ranks at a time, straight from the caller's buffer. Textbook.
/// 1 round, n - 1 messages (fewer in scatterv: empty blocks do not travel). For large blocks.
/// Argument: window (ranks, 32).
Co scatter_linear(Op& op, const Call& call) {
  const int size = op.size();
  const int window = op.arguments().window > 0 ? op.arguments().window : 32;
  Gate gate;
  Status st;
  if (op.rank() != call.root) {
    if (call.recv.bytes() > 0) op.recv(call.root, call.recv, gate);
    st = co_await gate;
    co_return st;
  }
  int posted = 0;
  for (int i = 1; i < size; ++i) {
    const Rank to = (op.rank() + i) % size;
    const DataView block = call.send_block(to);
    if (block.bytes() == 0) continue;
    op.send(to, block, gate);
    if (++posted % window != 0) continue;
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  if (!call.in_place) op.copy(call.send_block(op.rank()), call.recv);
  st = co_await gate;
  co_return st;
}

}  // namespace ashlar::coll::p2p
