#include "components/coll/hier/algorithms.h"
#include "components/coll/hier/parts.h"

namespace ashlar::coll::hier {

/// A barrier in each node, one among the leaders, and a broadcast of each leader to its node. T. Kielmann et al., PPoPP
/// 1999.
Co barrier(Op& op, const Call& call) {
  Gate gate;
  Status st;
  Nodes* const nodes = Nodes::of(op);
  if (nodes == nullptr) co_return op.failure();
  const Leaders leaders = Leaders::of(op, *nodes);
  if (leaders.ranks == nullptr) co_return op.failure();
  Op inside(op, nodes->wire(op.wire()), nodes->my_index(), nodes->my_ranks());
  std::byte token{};
  const Call release = bcast_call(Op::view(&token, 1), leaders.inside);
  announce(op, call, inside, *nodes, {&call, &release});
  if (nodes->my_ranks() > 1) {
    const Co meeting = run_part(op, call, inside, nodes->inside(), call);
    op.join(meeting, gate);
    st = co_await gate;
    if (!st.ok()) co_return leave(op, call, inside, *nodes, release, st);
  }
  if (leaders.lead(op)) {
    GroupWire all(op.wire(), leaders.ranks);
    Op across(op, all, nodes->mine(), nodes->count());
    const Co meeting = run_part(op, across, nodes->across(), call);
    op.join(meeting, gate);
    st = co_await gate;
    if (!st.ok()) co_return leave(op, call, inside, *nodes, release, st);
  }
  if (nodes->my_ranks() > 1) {
    const Co releasing = run_part(op, call, inside, nodes->inside(), release);
    op.join(releasing, gate);
    st = co_await gate;
  }
  co_return st;
}

}  // namespace ashlar::coll::hier
