#include "components/coll/hier/algorithms.h"
#include "components/coll/hier/parts.h"

namespace ashlar::coll::hier {
namespace {

/// Packed blocks of all ranks, node after node, and the counts and displacements of each node's blocks for the parts
/// with lists.
struct Packs {
  std::byte* all = nullptr;
  MPI_Count block = 0;
  MPI_Count* counts = nullptr;  // bytes of each node's blocks
  MPI_Count* begins = nullptr;  // of these, in bytes

  static Packs of(Op& op, const Nodes& nodes, MPI_Count block) {
    Packs packs{.all = op.scratch(block * op.size()), .block = block};
    packs.counts = reinterpret_cast<MPI_Count*>(op.scratch(2 * nodes.count() * MPI_Count{sizeof(MPI_Count)}));
    if (packs.counts == nullptr) return packs;
    packs.begins = packs.counts + nodes.count();
    for (int node = 0; node < nodes.count(); ++node) {
      packs.counts[node] = block * nodes.ranks_on(node);
      packs.begins[node] = block * nodes.begin_at(node);
    }
    return packs;
  }
  std::byte* of_node(int node) const { return all + begins[node]; }
  void unpack(Op& op, const Nodes& nodes, const Call& call) const {
    for (int i = 0; i < op.size(); ++i) op.copy(Op::view(all + block * i, block), call.recv_block(nodes.in_order(i)));
  }
};

}  // namespace

/// Each node's blocks to its leader, the leaders' to the root: one message for each node. T. Kielmann et al., PPoPP
/// 1999.
Co gather(Op& op, const Call& call) {
  Gate gate;
  Status st;
  Nodes* const nodes = Nodes::of(op);
  if (nodes == nullptr) co_return op.failure();
  const Leaders leaders = Leaders::of(op, *nodes, call.root);
  const bool lead = leaders.ranks != nullptr && leaders.lead(op);
  const bool root = op.rank() == call.root;
  const MPI_Count bytes = call.bytes;
  std::byte* const own = op.scratch(bytes);
  op.copy(root && call.in_place ? call.recv_block(op.rank()) : call.send, Op::view(own, bytes));
  const MPI_Count node_bytes = bytes * nodes->my_ranks();
  Packs packs{};
  if (root) packs = Packs::of(op, *nodes, bytes);
  if (!op.failure().ok()) co_return op.failure();
  std::byte* of_node = own;
  if (nodes->my_ranks() > 1) {
    if (lead) of_node = root ? packs.of_node(nodes->mine()) : op.scratch(node_bytes);
    Op inside(op, nodes->wire(op.wire()), nodes->my_index(), nodes->my_ranks());
    const Call part = gather_call(own, lead ? of_node : nullptr, bytes, leaders.inside);
    announce(op, call, inside, *nodes, {&part});
    const Co gathering = run_part(op, call, inside, nodes->inside(), part);
    op.join(gathering, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  if (!lead) co_return st;
  GroupWire all(op.wire(), leaders.ranks);
  Op across(op, all, nodes->mine(), nodes->count());
  Call part = part_call(Collective::kGatherv, nodes->node_of(call.root), 0);
  part.send = Op::view(of_node, node_bytes);
  if (root) {
    part.recv = Op::view(packs.all, 0);
    part.recv_counts = IntArray(packs.counts);
    part.recv_displs = IntArray(packs.begins);
    part.in_place = nodes->my_ranks() > 1;
  }
  const Co gathering = run_part(op, across, nodes->across(), part);
  op.join(gathering, gate);
  st = co_await gate;
  if (st.ok() && root) packs.unpack(op, *nodes, call);
  co_return op.failure();
}

/// Gather in reverse: the root's blocks to the leaders, each leader's to its node. T. Kielmann et al., PPoPP 1999.
Co scatter(Op& op, const Call& call) {
  Gate gate;
  Status st;
  Nodes* const nodes = Nodes::of(op);
  if (nodes == nullptr) co_return op.failure();
  const Leaders leaders = Leaders::of(op, *nodes, call.root);
  const bool lead = leaders.ranks != nullptr && leaders.lead(op);
  const bool root = op.rank() == call.root;
  const MPI_Count bytes = call.bytes;
  std::byte* const own = op.scratch(bytes);
  const MPI_Count node_bytes = bytes * nodes->my_ranks();
  Packs packs{};
  if (root) {
    packs = Packs::of(op, *nodes, bytes);
    for (int i = 0; i < op.size() && op.failure().ok(); ++i)
      op.copy(call.send_block(nodes->in_order(i)), Op::view(packs.all + bytes * i, bytes));
  }
  if (!op.failure().ok()) co_return op.failure();
  std::byte* of_node = own;
  Op inside(op, nodes->wire(op.wire()), nodes->my_index(), nodes->my_ranks());
  if (lead && nodes->my_ranks() > 1) of_node = root ? packs.of_node(nodes->mine()) : op.scratch(node_bytes);
  const Call last = scatter_call(lead ? of_node : nullptr, own, bytes, leaders.inside);
  announce(op, call, inside, *nodes, {&last});
  if (lead) {
    GroupWire all(op.wire(), leaders.ranks);
    Op across(op, all, nodes->mine(), nodes->count());
    Call part = part_call(Collective::kScatterv, nodes->node_of(call.root), 0);
    if (root) {
      part.send = Op::view(packs.all, 0);
      part.send_counts = IntArray(packs.counts);
      part.send_displs = IntArray(packs.begins);
      part.in_place = nodes->my_ranks() > 1;
    }
    if (!part.in_place) part.recv = Op::view(of_node, node_bytes);
    const Co scattering = run_part(op, across, nodes->across(), part);
    op.join(scattering, gate);
    st = co_await gate;
    if (!st.ok()) co_return leave(op, call, inside, *nodes, last, st);
  }
  if (nodes->my_ranks() > 1) {
    const Co scattering = run_part(op, call, inside, nodes->inside(), last);
    op.join(scattering, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  if (!(root && call.in_place)) op.copy(Op::view(own, bytes), call.recv);
  co_return op.failure();
}

/// Each node's blocks to its leader, the leaders exchange, each leader broadcasts to its node: a node's blocks leave it
/// once. T. Kielmann et al., PPoPP 1999.
Co allgather(Op& op, const Call& call) {
  Gate gate;
  Status st;
  Nodes* const nodes = Nodes::of(op);
  if (nodes == nullptr) co_return op.failure();
  const Leaders leaders = Leaders::of(op, *nodes);
  const bool lead = leaders.ranks != nullptr && leaders.lead(op);
  const MPI_Count bytes = call.bytes;
  const Packs packs = Packs::of(op, *nodes, bytes);
  if (!op.failure().ok()) co_return op.failure();
  std::byte* const own = packs.of_node(nodes->mine()) + bytes * nodes->my_index();
  op.copy(call.in_place ? call.recv_block(op.rank()) : call.send, Op::view(own, bytes));
  Op inside(op, nodes->wire(op.wire()), nodes->my_index(), nodes->my_ranks());
  const Call last = bcast_call(Op::view(packs.all, bytes * op.size()), leaders.inside);
  Call first = gather_call(own, lead ? packs.of_node(nodes->mine()) : nullptr, bytes, leaders.inside);
  first.in_place = lead;
  if (lead) first.send = DataView{};
  announce(op, call, inside, *nodes, {&first, &last});
  if (nodes->my_ranks() > 1) {
    const Co gathering = run_part(op, call, inside, nodes->inside(), first);
    op.join(gathering, gate);
    st = co_await gate;
    if (!st.ok()) co_return leave(op, call, inside, *nodes, last, st);
  }
  if (lead) {
    GroupWire all(op.wire(), leaders.ranks);
    Op across(op, all, nodes->mine(), nodes->count());
    Call among = part_call(Collective::kAllgatherv, 0, bytes * op.size());
    among.in_place = true;
    among.recv = Op::view(packs.all, 0);
    among.recv_counts = IntArray(packs.counts);
    among.recv_displs = IntArray(packs.begins);
    const Co exchanging = run_part(op, across, nodes->across(), among);
    op.join(exchanging, gate);
    st = co_await gate;
    if (!st.ok()) co_return leave(op, call, inside, *nodes, last, st);
  }
  if (nodes->my_ranks() > 1) {
    const Co spreading = run_part(op, call, inside, nodes->inside(), last);
    op.join(spreading, gate);
    st = co_await gate;
  }
  packs.unpack(op, *nodes, call);
  co_return op.failure();
}

}  // namespace ashlar::coll::hier
