#include "components/coll/hier/algorithms.h"
#include "components/coll/hier/parts.h"

namespace ashlar::coll::hier {

/// Each node reduces to its leader, the leaders reduce to the root. T. Kielmann et al., PPoPP 1999. Where the ranks of
/// each node follow each other, every operation may be used: a node's operands are a run of all.
Co reduce(Op& op, const Call& call) {
  Gate gate;
  Status st;
  Nodes* const nodes = Nodes::of(op);
  if (nodes == nullptr) co_return op.failure();
  const Leaders leaders = Leaders::of(op, *nodes, call.root);
  if (leaders.ranks == nullptr) co_return op.failure();
  const bool lead = leaders.lead(op);
  void* operand = call.send.data;
  if (nodes->my_ranks() > 1) {
    Op inside(op, nodes->wire(op.wire()), nodes->my_index(), nodes->my_ranks());
    std::byte* const sum = lead ? op.scratch_items(call.send.count, *call.send.type) : nullptr;
    const Call part = reduce_call(call, Collective::kReduce, operand, sum, leaders.inside);
    announce(op, call, inside, *nodes, {&part});
    const Co reducing = run_part(op, call, inside, nodes->inside(), part);
    op.join(reducing, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    operand = sum;
  }
  if (!lead) co_return st;
  GroupWire all(op.wire(), leaders.ranks);
  Op across(op, all, nodes->mine(), nodes->count());
  void* const result = op.rank() == call.root ? call.recv.data : nullptr;
  const Call part = reduce_call(call, Collective::kReduce, operand, result, nodes->node_of(call.root));
  const Co reducing = run_part(op, across, nodes->across(), part);
  op.join(reducing, gate);
  st = co_await gate;
  co_return st;
}

/// Each node reduces to its leader, the leaders all-reduce, each leader broadcasts to its node. T. Kielmann et al.,
/// PPoPP 1999.
Co allreduce(Op& op, const Call& call) {
  Gate gate;
  Status st;
  Nodes* const nodes = Nodes::of(op);
  if (nodes == nullptr) co_return op.failure();
  const Leaders leaders = Leaders::of(op, *nodes);
  if (leaders.ranks == nullptr) co_return op.failure();
  const bool lead = leaders.lead(op);
  Op inside(op, nodes->wire(op.wire()), nodes->my_index(), nodes->my_ranks());
  const Call last = bcast_call(call.recv, leaders.inside);
  const Call first =
      reduce_call(call, Collective::kReduce, call.send.data, lead ? call.recv.data : nullptr, leaders.inside);
  announce(op, call, inside, *nodes, {&first, &last});
  if (nodes->my_ranks() > 1) {
    const Co reducing = run_part(op, call, inside, nodes->inside(), first);
    op.join(reducing, gate);
    st = co_await gate;
    if (!st.ok()) co_return leave(op, call, inside, *nodes, last, st);
  }
  if (lead) {
    GroupWire all(op.wire(), leaders.ranks);
    Op across(op, all, nodes->mine(), nodes->count());
    const void* const operand = nodes->my_ranks() > 1 ? call.recv.data : call.send.data;
    const Call among = reduce_call(call, Collective::kAllreduce, operand, call.recv.data, 0);
    const Co reducing = run_part(op, across, nodes->across(), among);
    op.join(reducing, gate);
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
