#include "components/coll/hier/algorithms.h"
#include "components/coll/hier/parts.h"

namespace ashlar::coll::hier {

/// Scan and exscan: each node by itself; the last ranks, which then have their nodes' sums, compute what comes before
/// their nodes and broadcast it there. P. Sanders, J. L. Träff, "Parallel prefix (scan) algorithms for MPI",
/// EuroPVM/MPI 2006. The ranks of a node follow each other, so any operation may be used.
Co prefix(Op& op, const Call& call) {
  Gate gate;
  Status st;
  Nodes* const nodes = Nodes::of(op);
  if (nodes == nullptr) co_return op.failure();
  const Leaders lasts = Leaders::last(op, *nodes);
  if (lasts.ranks == nullptr) co_return op.failure();
  const bool last = lasts.lead(op);
  const bool inclusive = call.what == Collective::kScan;
  const bool alone = nodes->my_ranks() == 1;
  const MPI_Count count = call.send.count;
  Datatype& type = *call.send.type;
  auto* const result = static_cast<std::byte*>(call.recv.data);
  std::byte* sum = result;  // of the node, at its last rank
  if (last && !inclusive) {
    // Before the result overwrites the operand, where they are one buffer.
    sum = op.scratch_items(count, type);
    if (sum != nullptr) op.copy_items(call.send.data, sum, count, type);
  }
  if (alone && inclusive) op.copy_items(call.send.data, result, count, type);
  if (!op.failure().ok()) co_return op.failure();
  Op inside(op, nodes->wire(op.wire()), nodes->my_index(), nodes->my_ranks());
  const bool spreads = nodes->mine() > 0;  // within the node, what comes from the nodes before it
  Call last_part = bcast_call(DataView{nullptr, count, call.send.type}, lasts.inside);
  const Call first = reduce_call(call, call.what, call.send.data, result, 0);
  if (spreads)
    announce(op, call, inside, *nodes, {&first, &last_part});
  else
    announce(op, call, inside, *nodes, {&first});
  if (!alone) {
    const Co scanning = run_part(op, call, inside, nodes->inside(), first);
    op.join(scanning, gate);
    st = co_await gate;
    if (!st.ok()) co_return spreads ? leave(op, call, inside, *nodes, last_part, st) : st;
    if (last && !inclusive) op.combine(call, result, sum, count);
  }
  std::byte* const before = last || spreads ? op.scratch_items(count, type) : nullptr;
  if (!op.failure().ok()) co_return spreads ? leave(op, call, inside, *nodes, last_part, op.failure()) : op.failure();
  if (last) {
    GroupWire all(op.wire(), lasts.ranks);
    Op across(op, all, nodes->mine(), nodes->count());
    const Call among = reduce_call(call, Collective::kExscan, sum, before, 0);
    const Co scanning = run_part(op, across, nodes->across(), among);
    op.join(scanning, gate);
    st = co_await gate;
    if (!st.ok()) co_return spreads ? leave(op, call, inside, *nodes, last_part, st) : st;
  }
  if (!spreads) co_return st;
  if (!alone) {
    last_part.recv.data = before;
    const Co spreading = run_part(op, call, inside, nodes->inside(), last_part);
    op.join(spreading, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  if (inclusive || nodes->my_index() > 0) {
    op.combine(call, before, result, count);
  } else {
    op.copy_items(before, result, count, type);
  }
  co_return op.failure();
}

}  // namespace ashlar::coll::hier
