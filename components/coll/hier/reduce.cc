#include "components/coll/hier/algorithms.h"
#include "components/coll/hier/pieces.h"

namespace ashlar::coll::hier {

/// Each node reduces to its leader, the leaders reduce to the root. T. Kielmann et al., PPoPP 1999. Where the ranks of
/// each node follow each other, every operation may be used: a node's operands are a run of all. A long vector travels
/// in pieces: one is between the nodes while another is inside them. Argument: segment (bytes; 0: one piece).
Co reduce(Op& op, const Call& call) {
  Gate gate, crossed;
  Status st;
  Nodes* const nodes = Nodes::of(op);
  if (nodes == nullptr) co_return op.failure();
  Pieces pieces = Pieces::of(op, *nodes, call.send);
  pieces.leaders = 1;
  const Leaders leaders = Leaders::of(op, *nodes, call.root);
  if (leaders.ranks == nullptr) co_return op.failure();
  const bool lead = leaders.lead(op);
  const bool alone = nodes->my_ranks() == 1;
  DataView sum = call.send;  // of this node, at its leader
  if (!alone && lead) sum.data = op.scratch_items(call.send.count, *call.send.type);
  const std::span<Step> steps = steps_of(op, pieces.count);
  if (!op.failure().ok()) co_return op.failure();
  for (Step& step : steps) {
    step.piece = static_cast<int>(&step - steps.data());
    step.part = reduce_call(call, Collective::kReduce, pieces.of(call.send, step.piece),
                            lead ? pieces.of(sum, step.piece).data : nullptr, leaders.inside);
  }
  Op inside(op, nodes->wire(op.wire()), nodes->my_index(), nodes->my_ranks());
  announce(op, call, inside, *nodes, steps);

  Crossing crossing(op, *nodes, leaders, pieces);
  std::size_t taken = 0;
  for (const Step& step : steps) {
    ++taken;
    if (!alone) {
      const Co reducing = run_part(op, call, inside, nodes->inside(), step.part);
      op.join(reducing, gate);
      st = co_await gate;
      if (!st.ok()) break;
    }
    if (!lead) continue;
    st = co_await crossed;
    if (!st.ok()) break;
    void* const result = op.rank() == call.root ? pieces.of(call.recv, step.piece).data : nullptr;
    crossing.start(
        reduce_call(call, Collective::kReduce, pieces.of(sum, step.piece), result, nodes->node_of(call.root)),
        step.piece, crossed);
  }
  if (!st.ok()) leave(op, call, inside, *nodes, steps.subspan(taken));
  Status last = co_await crossed;
  co_return st.ok() ? last : st;
}

/// Each node reduces to its leader, the leaders all-reduce, each leader broadcasts to its node. T. Kielmann et al.,
/// PPoPP 1999. A long vector travels in pieces: while one is between the nodes, the next is reduced inside them and the
/// one before is broadcast. With several leaders, a node has as many pieces between the nodes at a time.
/// Arguments: segment (bytes; 0: one piece), leaders (1).
Co allreduce(Op& op, const Call& call) {
  Gate gate, crossed;
  Status st;
  Nodes* const nodes = Nodes::of(op);
  if (nodes == nullptr) co_return op.failure();
  const Pieces pieces = Pieces::of(op, *nodes, call.send);
  const Rank root = nodes->in_order(0);
  const Turns turns = Turns::of(*nodes, root);
  const bool lead = turns.mine() < pieces.leaders;
  const bool alone = nodes->my_ranks() == 1;
  const Leaders leaders = Leaders::in_turn(op, *nodes, root, lead ? turns.mine() : 0);
  const std::span<Step> steps = steps_of(op, 2 * pieces.count);
  if (!op.failure().ok()) co_return op.failure();
  std::size_t next = 0;
  for (int i = 0; i < pieces.count + pieces.leaders; ++i) {
    if (i < pieces.count) {
      const bool here = lead && pieces.turn(i) == turns.mine();
      steps[next++] =
          Step{.part = reduce_call(call, Collective::kReduce, pieces.of(call.send, i),
                                   here ? pieces.of(call.recv, i).data : nullptr, turns.leader(pieces.turn(i))),
               .piece = i,
               .up = true};
    }
    if (const int ready = i - pieces.leaders; ready >= 0)
      steps[next++] =
          Step{.part = bcast_call(pieces.of(call.recv, ready), turns.leader(pieces.turn(ready))), .piece = ready};
  }
  Op inside(op, nodes->wire(op.wire()), nodes->my_index(), nodes->my_ranks());
  announce(op, call, inside, *nodes, steps);

  Crossing crossing(op, *nodes, leaders, pieces);
  std::size_t taken = 0;
  for (const Step& step : steps) {
    const bool mine = lead && pieces.turn(step.piece) == turns.mine();
    if (mine && !step.up && crossing.piece() == step.piece) {
      st = co_await crossed;
      if (!st.ok()) break;
    }
    ++taken;
    if (!alone) {
      const Co moving = run_part(op, call, inside, nodes->inside(), step.part);
      op.join(moving, gate);
      st = co_await gate;
      if (!st.ok()) break;
    }
    if (!mine || !step.up) continue;
    st = co_await crossed;
    if (!st.ok()) break;
    const DataView operand = pieces.of(alone ? call.send : call.recv, step.piece);
    crossing.start(reduce_call(call, Collective::kAllreduce, operand, pieces.of(call.recv, step.piece).data, 0),
                   step.piece, crossed);
  }
  if (!st.ok()) leave(op, call, inside, *nodes, steps.subspan(taken));
  Status last = co_await crossed;
  co_return st.ok() ? last : st;
}

}  // namespace ashlar::coll::hier
