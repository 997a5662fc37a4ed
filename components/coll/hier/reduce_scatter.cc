#include "components/coll/hier/algorithms.h"
#include "components/coll/hier/parts.h"

namespace ashlar::coll::hier {
namespace {

/// How many items of the result go to each node, and to each rank of this one.
struct Shares {
  MPI_Count* of_node = nullptr;  // items of each node
  MPI_Count* of_ours = nullptr;  // items of each rank of this node
  MPI_Count* begins = nullptr;   // of these, within the node's
  MPI_Count ours = 0;            // items of this node

  static Shares of(Op& op, const Nodes& nodes, const Call& call) {
    const int numbers = nodes.count() + 2 * nodes.my_ranks();
    Shares shares{.of_node = reinterpret_cast<MPI_Count*>(op.scratch(numbers * MPI_Count{sizeof(MPI_Count)}))};
    if (shares.of_node == nullptr) return shares;
    shares.of_ours = shares.of_node + nodes.count();
    shares.begins = shares.of_ours + nodes.my_ranks();
    for (int node = 0; node < nodes.count(); ++node) {
      shares.of_node[node] = 0;
      for (int i = 0; i < nodes.ranks_on(node); ++i) shares.of_node[node] += call.piece(nodes.members(node)[i]);
    }
    for (int i = 0; i < nodes.my_ranks(); ++i) {
      shares.begins[i] = shares.ours;
      shares.of_ours[i] = call.piece(nodes.members(nodes.mine())[i]);
      shares.ours += shares.of_ours[i];
    }
    return shares;
  }
  /// The leader scatters its node's items.
  Call scatter(const Nodes& nodes, const Call& call, std::byte* items, Rank leader) const {
    const bool lists = call.what == Collective::kReduceScatter;
    Call part = part_call(lists ? Collective::kScatterv : Collective::kScatter, leader, 0);
    part.recv = call.recv;
    if (items != nullptr) {
      part.send = DataView{items, lists ? 0 : call.recv.count, call.recv.type};
      if (lists) part.send_counts = IntArray(of_ours);
      if (lists) part.send_displs = IntArray(begins);
    }
    part.bytes = part.quantity(nodes.my_ranks());
    return part;
  }
};

/// The vector with the pieces of each node's ranks behind each other.
std::byte* by_nodes(Op& op, const Nodes& nodes, const Call& call, const std::byte* items) {
  const MPI_Count extent = call.send.type->extent();
  std::byte* const sorted = op.scratch_items(call.send.count, *call.send.type);
  auto* const begins = reinterpret_cast<MPI_Count*>(op.scratch(op.size() * MPI_Count{sizeof(MPI_Count)}));
  if (sorted == nullptr || begins == nullptr) return nullptr;
  MPI_Count at = 0;
  for (Rank r = 0; r < op.size(); ++r) {
    begins[r] = at;
    at += call.piece(r);
  }
  at = 0;
  for (int i = 0; i < op.size(); ++i) {
    const Rank r = nodes.in_order(i);
    op.copy_items(items + begins[r] * extent, sorted + at * extent, call.piece(r), *call.send.type);
    at += call.piece(r);
  }
  return sorted;
}

}  // namespace

/// Each node reduces to its leader, the leaders reduce-scatter by nodes, each leader scatters its node's items.
/// H. Ritzdorf, J. L. Träff, "Collective operations in NEC's high-performance MPI libraries", IPDPS 2006.
Co reduce_scatter(Op& op, const Call& call) {
  Gate gate;
  Status st;
  Nodes* const nodes = Nodes::of(op);
  if (nodes == nullptr) co_return op.failure();
  const Leaders leaders = Leaders::of(op, *nodes);
  const Shares shares = Shares::of(op, *nodes, call);
  if (!op.failure().ok()) co_return op.failure();
  const bool lead = leaders.lead(op);
  const bool alone = nodes->my_ranks() == 1;
  auto* operand = static_cast<std::byte*>(call.send.data);
  std::byte* items = nullptr;
  Op inside(op, nodes->wire(op.wire()), nodes->my_index(), nodes->my_ranks());
  std::byte* const sum = lead && !alone ? op.scratch_items(call.send.count, *call.send.type) : nullptr;
  const Call first = reduce_call(call, Collective::kReduce, operand, sum, leaders.inside);
  // These arguments are only counted; the leader's buffer is set when the part runs.
  auto* const place = static_cast<std::byte*>(lead ? call.recv.data : nullptr);
  const Call last = shares.scatter(*nodes, call, place, leaders.inside);
  announce(op, call, inside, *nodes, {&first, &last});
  if (!alone) {
    const Co reducing = run_part(op, call, inside, nodes->inside(), first);
    op.join(reducing, gate);
    st = co_await gate;
    if (!st.ok()) co_return leave(op, call, inside, *nodes, last, st);
    operand = sum;
  }
  if (lead) {
    if (!nodes->in_runs()) operand = by_nodes(op, *nodes, call, operand);
    items = static_cast<std::byte*>(call.recv.data);
    if (!alone) items = op.scratch_items(shares.ours, *call.send.type);
    if (!op.failure().ok()) co_return leave(op, call, inside, *nodes, last, op.failure());
    GroupWire all(op.wire(), leaders.ranks);
    Op across(op, all, nodes->mine(), nodes->count());
    Call among = reduce_call(call, Collective::kReduceScatter, operand, items, 0);
    among.recv.count = shares.ours;
    among.recv_counts = IntArray(shares.of_node);
    const Co reducing = run_part(op, across, nodes->across(), among);
    op.join(reducing, gate);
    st = co_await gate;
    if (!st.ok()) co_return leave(op, call, inside, *nodes, last, st);
  }
  if (!alone) {
    const Call part = shares.scatter(*nodes, call, items, leaders.inside);
    const Co scattering = run_part(op, call, inside, nodes->inside(), part);
    op.join(scattering, gate);
    st = co_await gate;
  }
  co_return st;
}

}  // namespace ashlar::coll::hier
