#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/halving.h"
#include "components/coll/p2p/pieces.h"
#include "components/coll/p2p/tree.h"

namespace ashlar::coll::p2p {

/// Recursive halving. R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, 4.5; R. Rabenseifner, ICCS 2004. Serves
/// reduce_scatter and reduce_scatter_block.
/// p = largest power of two <= n, e = n - p: log2 p rounds (+ 2 when e > 0), p log2 p + 2 e messages (empty pieces do
/// not travel), (p - 1 + e) m bytes and the pieces of the e folded ranks. For operations that commute.
Co reduce_scatter_recursive_halving(Op& op, const Call& call) {
  const int size = op.size();
  const Fold fold = Fold::of(op.rank(), size);
  const bool folded = fold.paired(op.rank());
  Gate gate;
  Status st;
  if (folded && fold.place < 0) {
    op.send(op.rank() + 1, call.send, gate);
    if (call.recv.count > 0) op.recv(op.rank() + 1, call.recv, gate);
    st = co_await gate;
    co_return st;
  }
  const Pieces pieces = Pieces::of(op, call);
  if (pieces.begins == nullptr) co_return op.failure();
  // A place that stays in stands for its own piece and that of the rank folded onto it, which lies right before.
  const int extra = fold.extra;
  std::byte* source = static_cast<std::byte*>(call.send.data);
  std::byte* const work = op.scratch_items(call.send.count, *call.send.type);
  std::byte* const incoming = op.scratch_items(call.send.count, *call.send.type);
  if (folded) {
    op.recv(op.rank() - 1, DataView{incoming, call.send.count, call.send.type}, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    op.combine(call, incoming, source, work, call.send.count);
    source = work;
  }
  for (int width = fold.power / 2; width > 0; width /= 2) {
    const int peer_place = fold.place ^ width;
    const Rank peer = fold.rank_at(peer_place);
    const int keep = window_begin(fold.place, width);
    const int give = window_begin(peer_place, width);
    const int keep_first = keep < extra ? 2 * keep : keep + extra;
    const int keep_last = keep + width < extra ? 2 * (keep + width) : keep + width + extra;
    const int give_first = give < extra ? 2 * give : give + extra;
    const int give_last = give + width < extra ? 2 * (give + width) : give + width + extra;
    const MPI_Count kept = pieces.size(keep_first, keep_last);
    if (kept > 0) op.recv(peer, DataView{incoming, kept, call.send.type}, gate);
    const DataView given = pieces.view(call, source, give_first, give_last);
    if (given.count > 0) op.send(peer, given, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    op.combine(call, incoming, pieces.at(source, keep_first), pieces.at(work, keep_first), kept);
    source = work;
  }
  if (folded && pieces.size(op.rank() - 1) > 0)
    op.send(op.rank() - 1, pieces.view(call, source, op.rank() - 1, op.rank()), gate);
  op.copy_items(pieces.at(source, op.rank()), call.recv.data, call.recv.count, *call.send.type);
  st = co_await gate;
  co_return st;
}

}  // namespace ashlar::coll::p2p
