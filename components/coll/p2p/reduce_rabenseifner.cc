#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/halving.h"
#include "components/coll/p2p/tree.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {
namespace {

/// Of each folded pair the odd rank stays in, but the root always does.
Rank rank_at(const Fold& fold, int place, Rank root) {
  if (place >= fold.extra) return place + fold.extra;
  return fold.paired(root) && root / 2 == place ? root : 2 * place + 1;
}

}  // namespace

/// Reduce-scatter by recursive halving, then a binomial gather. R. Rabenseifner, "A new optimized MPI reduce
/// algorithm", 1997, and ICCS 2004.
/// p = largest power of two <= n, e = n - p: 2 log2 p rounds (+ 1 when e > 0), p log2 p + p - 1 + e messages.
/// For operations that commute, and at least p items.
Co reduce_rabenseifner(Op& op, const Call& call) {
  const int size = op.size();
  const Rank root = call.root;
  const Fold fold = Fold::of(op.rank(), size);
  const bool folded = fold.paired(op.rank());
  const int place = folded ? op.rank() / 2 : fold.place;
  Gate gate;
  Status st;
  if (folded && rank_at(fold, place, root) != op.rank()) {
    op.send(rank_at(fold, place, root), call.send, gate);
    st = co_await gate;
    co_return st;
  }
  std::byte* const result =
      op.rank() == root ? static_cast<std::byte*>(call.recv.data) : op.scratch_items(call.send.count, *call.send.type);
  Vector vector{&call, static_cast<std::byte*>(call.send.data), result, Split{call.send.count, fold.power}};
  const MPI_Count widest = folded ? call.send.count : vector.split.size(0, (fold.power + 1) / 2);
  std::byte* const incoming = op.scratch_items(widest, *call.send.type);
  if (folded) {
    op.recv(op.rank() ^ 1, DataView{incoming, call.send.count, call.send.type}, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    vector.add(op, incoming, 0, fold.power);
    vector.source = vector.result;
  }
  for (int width = fold.power / 2; width > 0; width /= 2) {
    const int peer_place = place ^ width;
    const Rank peer = rank_at(fold, peer_place, root);
    const int keep = window_begin(place, width);
    const int give = window_begin(peer_place, width);
    op.recv(peer, DataView{incoming, vector.split.size(keep, keep + width), call.send.type}, gate);
    op.send(peer, vector.view(vector.source, give, give + width), gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    vector.add(op, incoming, keep, keep + width);
    vector.source = vector.result;
  }
  if (fold.power == 1) op.copy_items(vector.source, vector.result, call.send.count, *call.send.type);
  // Gather: seen from the root's place, a rank with the bit of this round set sends its window and is done.
  const int root_place = fold.paired(root) ? root / 2 : root - fold.extra;
  for (int width = 1; width < fold.power; width *= 2) {
    const int peer_place = place ^ width;
    const Rank peer = rank_at(fold, peer_place, root);
    if (((place ^ root_place) & width) != 0) {
      const int have = window_begin(place, width);
      op.send(peer, vector.view(vector.result, have, have + width), gate);
      st = co_await gate;
      co_return st;
    }
    const int want = window_begin(peer_place, width);
    op.recv(peer, vector.view(vector.result, want, want + width), gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  co_return op.failure();
}

}  // namespace ashlar::coll::p2p
