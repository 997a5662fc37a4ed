#include "components/coll/p2p/accumulator.h"
#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/tree.h"

namespace ashlar::coll::p2p {

/// Binomial tree towards the root. R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005.
/// lg rounds, n - 1 messages of m bytes. An operation that does not commute is reduced towards rank 0, whose subtrees
/// are runs of ranks, and sent on to the root: one round and one message more when the root is another.
Co reduce_binomial(Op& op, const Call& call) {
  const int size = op.size();
  const Rank top = call.op->commutative() ? call.root : 0;
  const int me = from_root(op.rank(), top, size);
  const bool root = op.rank() == call.root;
  Gate gate;
  Status st;
  // A leaf sends the caller's buffer; no other buffer is written.
  std::byte* result = root ? static_cast<std::byte*>(call.recv.data) : nullptr;
  const bool leaf = (me & 1) != 0 || me + 1 >= size;
  if (result == nullptr && !leaf) result = op.scratch_items(call.send.count, *call.send.type);
  if (root && call.send.data == call.recv.data && me != 0) {
    // In place, and not on top of the tree: the final result arrives in this buffer, so the operands stay out of it.
    result = leaf ? nullptr : op.scratch_items(call.send.count, *call.send.type);
  }
  Accumulator sum{static_cast<std::byte*>(call.send.data), nullptr, result, call.send.data != result};
  if (!leaf) sum.incoming = op.scratch_items(call.send.count, *call.send.type);

  int bit = 1;
  for (; bit < size && (me & bit) == 0; bit *= 2) {
    if (me + bit >= size) continue;
    op.recv(to_rank(me + bit, top, size), sum.incoming_view(call), gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    sum.merge(op, call, false);
  }
  if (me != 0) op.send(to_rank(me - bit, top, size), sum.value_view(call), gate);
  if (me == 0 && !root) op.send(call.root, sum.value_view(call), gate);
  st = co_await gate;
  if (!st.ok() || !root) co_return st;
  if (me == 0) {
    sum.finish(op, call);
  } else {
    op.recv(top, call.recv, gate);
    st = co_await gate;
  }
  co_return st;
}

}  // namespace ashlar::coll::p2p
