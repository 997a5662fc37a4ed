#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/halving.h"
#include "components/coll/p2p/tree.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Reduce-scatter by recursive halving, allgather by recursive doubling. R. Rabenseifner, "A new optimized MPI reduce
/// algorithm", 1997, and "Optimization of collective reduction operations", ICCS 2004.
/// p = largest power of two <= n, e = n - p: 2 log2 p rounds (+ 2 when e > 0), 2 p log2 p + 2 e messages,
/// (2 (p - 1) + 2 e) m bytes in all. For operations that commute, and at least p items.
Co allreduce_rabenseifner(Op& op, const Call& call) {
  const Fold fold = Fold::of(op.rank(), op.size());
  Gate gate;
  Status st;
  if (fold.paired(op.rank()) && fold.place < 0) {
    const Rank partner = op.rank() + 1;
    op.send(partner, call.send, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    op.recv(partner, call.recv, gate);
    st = co_await gate;
    co_return st;
  }
  Vector vector{&call, static_cast<std::byte*>(call.send.data), static_cast<std::byte*>(call.recv.data),
                Split{call.send.count, fold.power}};
  const bool folded = fold.paired(op.rank());
  const MPI_Count widest = folded ? call.send.count : vector.split.size(0, (fold.power + 1) / 2);
  std::byte* const incoming = op.scratch_items(widest, *call.send.type);
  if (folded) {
    op.recv(op.rank() - 1, DataView{incoming, call.send.count, call.send.type}, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    vector.add(op, incoming, 0, fold.power);
    vector.source = vector.result;
  }
  for (int width = fold.power / 2; width > 0; width /= 2) {
    const int peer_place = fold.place ^ width;
    const Rank peer = fold.rank_at(peer_place);
    const int keep = window_begin(fold.place, width);
    const int give = window_begin(peer_place, width);
    op.recv(peer, DataView{incoming, vector.split.size(keep, keep + width), call.send.type}, gate);
    op.send(peer, vector.view(vector.source, give, give + width), gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    vector.add(op, incoming, keep, keep + width);
    vector.source = vector.result;
  }
  if (fold.power == 1) op.copy_items(vector.source, vector.result, call.send.count, *call.send.type);
  for (int width = 1; width < fold.power; width *= 2) {
    const int peer_place = fold.place ^ width;
    const Rank peer = fold.rank_at(peer_place);
    const int have = window_begin(fold.place, width);
    const int want = window_begin(peer_place, width);
    op.recv(peer, vector.view(vector.result, want, want + width), gate);
    op.send(peer, vector.view(vector.result, have, have + width), gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  if (folded) {
    op.send(op.rank() - 1, call.recv, gate);
    st = co_await gate;
  }
  co_return op.failure();
}

}  // namespace ashlar::coll::p2p
