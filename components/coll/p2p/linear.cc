#include "components/coll/p2p/algorithms.h"
#include "framework/coll/op.h"

/// The simplest form of each collective, straight from the standard's definition: one rank does it all, or all
/// exchange with all. They are what `coll.reference` runs, and what tests compare the others with.
namespace ashlar::coll::p2p {

/// Textbook: rank 0 receives from all ranks, then sends to all. 2 rounds, 2 (n - 1) messages.
Co barrier_linear(Op& op, const Call&) {
  Gate gate;
  Status st;
  if (op.rank() != 0) {
    op.send(0, nullptr, 0, gate);
    op.recv(0, nullptr, 0, gate);
    st = co_await gate;
    co_return st;
  }
  for (Rank r = 1; r < op.size(); ++r) op.recv(r, nullptr, 0, gate);
  st = co_await gate;
  if (!st.ok()) co_return st;
  for (Rank r = 1; r < op.size(); ++r) op.send(r, nullptr, 0, gate);
  st = co_await gate;
  co_return st;
}

/// Textbook: the root sends to all, `window` at a time. 1 round, n - 1 messages of m bytes. Argument: window (ranks,
/// 32).
Co bcast_linear(Op& op, const Call& call) {
  const int size = op.size();
  const int window = op.arguments().window > 0 ? op.arguments().window : 32;
  Gate gate;
  Status st;
  if (op.rank() != call.root) {
    op.recv(call.root, call.recv, gate);
    st = co_await gate;
    co_return st;
  }
  for (int i = 1; i < size; ++i) {
    op.send((call.root + i) % size, call.recv, gate);
    if (i % window != 0) continue;
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  st = co_await gate;
  co_return st;
}

/// reduce to rank 0, then bcast, both linear: 2 rounds, 2 (n - 1) messages of m bytes.
Co allreduce_linear(Op& op, const Call& call) {
  Gate gate;
  Status st;
  Call part = call;
  part.what = Collective::kReduce;
  part.root = 0;
  if (op.rank() != 0) part.recv = DataView{};
  const Co reducing = reduce_linear(op, part);
  op.join(reducing, gate);
  st = co_await gate;
  if (!st.ok()) co_return st;
  part.what = Collective::kBcast;
  part.recv = call.recv;
  const Co broadcasting = bcast_linear(op, part);
  op.join(broadcasting, gate);
  st = co_await gate;
  co_return st;
}

/// Textbook: all send to all, `window` partners at a time; serves allgather and allgatherv. 1 round when the window
/// holds all, n (n - 1) messages (empty blocks do not travel). Argument: window (partners, 32).
Co allgather_linear(Op& op, const Call& call) {
  const int size = op.size();
  const int me = op.rank();
  const int window = op.arguments().window > 0 ? op.arguments().window : 32;
  const DataView own = call.recv_block(me);
  if (!call.in_place) op.copy(call.send, own);
  Gate gate;
  Status st;
  for (int step = 1; step < size; ++step) {
    const Rank from = (me - step + size) % size;
    const DataView in = call.recv_block(from);
    if (in.bytes() > 0) op.recv(from, in, gate);
    if (own.bytes() > 0) op.send((me + step) % size, own, gate);
    if (step % window != 0) continue;
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  st = co_await gate;
  co_return st;
}

}  // namespace ashlar::coll::p2p
