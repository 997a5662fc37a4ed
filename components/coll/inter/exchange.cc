#include "components/coll/inter/algorithms.h"
#include "components/coll/inter/groups.h"

namespace ashlar::coll::inter {

/// Linear with a window: every rank of the other group sends to the root, which receives straight into place.
/// 1 round, n messages for a remote group of n (empty blocks do not travel). Argument: window (ranks, 32).
Co gather(Op& op, const Call& call) {
  const Groups* const groups = Groups::of(op);
  if (groups == nullptr) co_return op.failure();
  const int remote = groups->remote;
  const int window = op.arguments().window > 0 ? op.arguments().window : 32;
  Gate gate;
  Status st;
  if (call.root != MPI_ROOT) {
    if (call.send.bytes() > 0) op.send(call.root, call.send, gate);
    st = co_await gate;
    co_return st;
  }
  for (Rank from = 0; from < remote; ++from) {
    const DataView block = call.recv_block(from);
    if (block.bytes() > 0) op.recv(from, block, gate);
    if ((from + 1) % window != 0) continue;
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  st = co_await gate;
  co_return st;
}

/// The same the other way round.
Co scatter(Op& op, const Call& call) {
  const Groups* const groups = Groups::of(op);
  if (groups == nullptr) co_return op.failure();
  const int remote = groups->remote;
  const int window = op.arguments().window > 0 ? op.arguments().window : 32;
  Gate gate;
  Status st;
  if (call.root != MPI_ROOT) {
    if (call.recv.bytes() > 0) op.recv(call.root, call.recv, gate);
    st = co_await gate;
    co_return st;
  }
  for (Rank to = 0; to < remote; ++to) {
    const DataView block = call.send_block(to);
    if (block.bytes() > 0) op.send(to, block, gate);
    if ((to + 1) % window != 0) continue;
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  st = co_await gate;
  co_return st;
}

/// Linear: every rank with every rank of the other group, all at once. Groups of different sizes have no order in which
/// a window could move on without ranks waiting in a cycle.
Co exchange(Op& op, const Call& call) {
  const Groups* const groups = Groups::of(op);
  if (groups == nullptr) co_return op.failure();
  const int remote = groups->remote;
  const bool same_for_all = call.what == Collective::kAllgather || call.what == Collective::kAllgatherv;
  Gate gate;
  Status st;
  for (int step = 0; step < remote; ++step) {
    const Rank peer = (op.rank() + step) % remote;
    const DataView in = call.recv_block(peer);
    const DataView out = same_for_all ? call.send : call.send_block(peer);
    if (in.bytes() > 0) op.recv(peer, in, gate);
    if (out.bytes() > 0) op.send(peer, out, gate);
  }
  st = co_await gate;
  co_return st;
}

}  // namespace ashlar::coll::inter
