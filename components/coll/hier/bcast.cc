#include "components/coll/hier/algorithms.h"
#include "components/coll/hier/parts.h"

namespace ashlar::coll::hier {

/// From the root to one rank of each other node, and from that to its node: each node's link carries the data once.
/// T. Kielmann et al., PPoPP 1999.
Co bcast(Op& op, const Call& call) {
  Gate gate;
  Status st;
  Nodes* const nodes = Nodes::of(op);
  if (nodes == nullptr) co_return op.failure();
  const Leaders leaders = Leaders::of(op, *nodes, call.root);
  if (leaders.ranks == nullptr) co_return op.failure();
  Op inside(op, nodes->wire(op.wire()), nodes->my_index(), nodes->my_ranks());
  const Call last = bcast_call(call.recv, leaders.inside);
  announce(op, call, inside, *nodes, {&last});
  if (leaders.lead(op)) {
    GroupWire all(op.wire(), leaders.ranks);
    Op across(op, all, nodes->mine(), nodes->count());
    const Call part = bcast_call(call.recv, nodes->node_of(call.root));
    const Co spreading = run_part(op, across, nodes->across(), part);
    op.join(spreading, gate);
    st = co_await gate;
    if (!st.ok()) co_return leave(op, call, inside, *nodes, last, st);
  }
  if (nodes->my_ranks() > 1) {
    const Co spreading = run_part(op, call, inside, nodes->inside(), last);
    op.join(spreading, gate);
    st = co_await gate;
  }
  co_return st;
}

}  // namespace ashlar::coll::hier
