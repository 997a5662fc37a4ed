#include "components/coll/hier/algorithms.h"
#include "components/coll/hier/parts.h"

namespace ashlar::coll::hier {

/// A barrier in each node, one among the leaders, and a broadcast of each leader to its node. T. Kielmann et al., PPoPP
/// 1999.
Co barrier(Op& op, const Call& call) {
  Gate gate;
  Status st;
  const Nodes* const nodes = Nodes::of(op);
  if (nodes == nullptr) co_return op.failure();
  const Leaders leaders = Leaders::of(op, *nodes);
  if (leaders.ranks == nullptr) co_return op.failure();
  GroupWire node(op.wire(), nodes->members(nodes->mine()));
  Op inside(op, node, nodes->my_index(), nodes->my_ranks());
  std::byte token{};
  if (nodes->my_ranks() > 1) {
    const Co meeting = run_part(op, inside, nodes->inside(), call);
    op.join(meeting, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  if (leaders.lead(op)) {
    GroupWire all(op.wire(), leaders.ranks);
    Op across(op, all, nodes->mine(), nodes->count());
    const Co meeting = run_part(op, across, nodes->across(), call);
    op.join(meeting, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  if (nodes->my_ranks() > 1) {
    const Call release = bcast_call(Op::view(&token, 1), leaders.inside);
    const Co releasing = run_part(op, inside, nodes->inside(), release);
    op.join(releasing, gate);
    st = co_await gate;
  }
  co_return st;
}

}  // namespace ashlar::coll::hier
