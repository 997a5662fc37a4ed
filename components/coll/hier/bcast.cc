#include "components/coll/hier/algorithms.h"
#include "components/coll/hier/pieces.h"

namespace ashlar::coll::hier {

/// From the root to one rank of each other node, and from that to its node: each node's link carries the data once.
/// T. Kielmann et al., PPoPP 1999. A long buffer travels in pieces: one is between the nodes while another is inside
/// them. With several leaders, those of the root's node get their pieces with their node, and pass them on.
/// Arguments: segment (bytes; 0: one piece), leaders (1).
Co bcast(Op& op, const Call& call) {
  Gate gate, crossed;
  Status st;
  Nodes* const nodes = Nodes::of(op);
  if (nodes == nullptr) co_return op.failure();
  const Pieces pieces = Pieces::of(op, *nodes, call.recv.bytes(), 1);
  const Turns turns = Turns::of(*nodes, call.root);
  const bool lead = turns.mine() < pieces.leaders;
  const Leaders leaders = Leaders::in_turn(op, *nodes, call.root, lead ? turns.mine() : 0);
  const std::span<Step> steps = steps_of(op, pieces.count);
  Packed data;
  if (pieces.count > 1) data = op.rank() == call.root ? op.packed_in(call.recv) : op.packed_out(call.recv);
  if (!op.failure().ok()) co_return op.failure();
  const DataView whole = pieces.count > 1 ? Op::view(data.bytes, data.size) : call.recv;
  const bool from_here = nodes->mine() == nodes->node_of(call.root);
  for (int i = 0; i < pieces.count; ++i)
    steps[static_cast<std::size_t>(i)] = Step{
        .part = bcast_call(pieces.of(whole, i), from_here ? turns.first : turns.leader(pieces.turn(i))), .piece = i};
  Op inside(op, nodes->wire(op.wire()), nodes->my_index(), nodes->my_ranks());
  announce(op, call, inside, *nodes, steps);

  Crossing crossing(op, *nodes, leaders, pieces);
  const Rank source = nodes->node_of(call.root);
  int next = turns.mine();  // of its pieces, the one that this leader sends or receives next
  if (lead && !from_here) next = crossing.start(bcast_call(pieces.of(whole, next), source), next, crossed);
  std::size_t taken = 0;
  for (const Step& step : steps) {
    const bool mine = lead && pieces.turn(step.piece) == turns.mine();
    // The root sends a piece to other nodes before its own; another leader starts the next receive before it broadcasts
    // this one.
    if (mine && (!from_here || op.rank() == call.root)) {
      st = co_await crossed;
      if (!st.ok()) break;
      if (next < pieces.count) next = crossing.start(bcast_call(pieces.of(whole, next), source), next, crossed);
    }
    ++taken;
    if (nodes->my_ranks() > 1) {
      const Co spreading = run_part(op, call, inside, nodes->inside(), step.part);
      op.join(spreading, gate);
      st = co_await gate;
      if (!st.ok()) break;
    }
    if (mine && from_here && op.rank() != call.root) {
      st = co_await crossed;
      if (!st.ok()) break;
      next = crossing.start(bcast_call(pieces.of(whole, next), source), next, crossed);
    }
  }
  if (!st.ok()) leave(op, call, inside, *nodes, steps.subspan(taken));
  Status last = co_await crossed;
  if (st.ok()) st = last;
  if (st.ok() && pieces.count > 1 && op.rank() != call.root) op.unpack(data, call.recv);
  co_return st;
}

}  // namespace ashlar::coll::hier
