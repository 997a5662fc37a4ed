#include "components/coll/hier/algorithms.h"
#include "components/coll/hier/parts.h"

namespace ashlar::coll::hier {
namespace {

/// What a leader exchanges with the others: the blocks of its node's ranks for those of another node, node after node.
/// As much comes from a node as goes there.
struct Aggregate {
  const Nodes* nodes = nullptr;
  MPI_Count block = 0;
  MPI_Count* counts = nullptr;  // bytes for each node
  MPI_Count* begins = nullptr;

  static Aggregate of(Op& op, const Nodes& nodes, MPI_Count block) {
    Aggregate all{.nodes = &nodes, .block = block};
    all.counts = reinterpret_cast<MPI_Count*>(op.scratch(2 * nodes.count() * MPI_Count{sizeof(MPI_Count)}));
    if (all.counts == nullptr) return all;
    all.begins = all.counts + nodes.count();
    for (int node = 0; node < nodes.count(); ++node) {
      all.counts[node] = block * nodes.my_ranks() * nodes.ranks_on(node);
      all.begins[node] = block * nodes.my_ranks() * nodes.begin_at(node);
    }
    return all;
  }
  /// From a row of blocks for each rank of our node to what goes out.
  void sort_outgoing(Op& op, const std::byte* rows, std::byte* out) const {
    for (int node = 0; node < nodes->count(); ++node) {
      const MPI_Count bytes = block * nodes->ranks_on(node);
      for (int from = 0; from < nodes->my_ranks(); ++from)
        op.copy_bytes(rows + block * (MPI_Count{op.size()} * from + nodes->begin_at(node)),
                      out + begins[node] + bytes * from, bytes);
    }
  }
  /// From what came in to a row of blocks from every rank for each rank of our node.
  void sort_incoming(Op& op, const std::byte* in, std::byte* rows) const {
    for (int i = 0; i < op.size(); ++i) {
      for (int to = 0; to < nodes->my_ranks(); ++to)
        op.copy_bytes(in + block * (MPI_Count{nodes->my_ranks()} * i + to),
                      rows + block * (MPI_Count{op.size()} * to + i), block);
    }
  }
  Call exchange(std::byte* out, std::byte* in) const {
    Call call = part_call(Collective::kAlltoallv, 0, 0);
    call.send = Op::view(out, 0);
    call.recv = Op::view(in, 0);
    call.send_counts = call.recv_counts = IntArray(counts);
    call.send_displs = call.recv_displs = IntArray(begins);
    return call;
  }
};

}  // namespace

/// Each node's blocks to its leader, one message between two nodes, a scatter in each node: n (n - 1) messages between
/// n nodes in place of one for each pair of ranks. J. L. Träff, A. Rougier, "MPI collectives and datatypes for
/// hierarchical all-to-all communication", EuroMPI 2014. For small blocks: a leader's memory holds its node's twice.
Co alltoall(Op& op, const Call& call) {
  Gate gate;
  Status st;
  Nodes* const nodes = Nodes::of(op);
  if (nodes == nullptr) co_return op.failure();
  const Leaders leaders = Leaders::of(op, *nodes);
  const bool lead = leaders.ranks != nullptr && leaders.lead(op);
  const bool alone = nodes->my_ranks() == 1;
  const MPI_Count bytes = call.bytes;
  const MPI_Count row_bytes = bytes * op.size();
  std::byte* const row = op.scratch(row_bytes);
  std::byte* const rows = lead && !alone ? op.scratch(row_bytes * nodes->my_ranks()) : row;
  for (int i = 0; i < op.size() && op.failure().ok(); ++i) {
    const Rank to = nodes->in_order(i);
    op.copy(call.in_place ? call.recv_block(to) : call.send_block(to), Op::view(row + bytes * i, bytes));
  }
  if (!op.failure().ok()) co_return op.failure();
  Op inside(op, nodes->wire(op.wire()), nodes->my_index(), nodes->my_ranks());
  const Call last = scatter_call(lead ? rows : nullptr, row, row_bytes, leaders.inside);
  const Call first = gather_call(row, lead ? rows : nullptr, row_bytes, leaders.inside);
  announce(op, call, inside, *nodes, {&first, &last});
  if (!alone) {
    const Co gathering = run_part(op, call, inside, nodes->inside(), first);
    op.join(gathering, gate);
    st = co_await gate;
    if (!st.ok()) co_return leave(op, call, inside, *nodes, last, st);
  }
  if (lead) {
    const Aggregate aggregate = Aggregate::of(op, *nodes, bytes);
    std::byte* const out = alone ? row : op.scratch(row_bytes * nodes->my_ranks());
    std::byte* const in = op.scratch(row_bytes * nodes->my_ranks());
    if (!op.failure().ok()) co_return leave(op, call, inside, *nodes, last, op.failure());
    if (!alone) aggregate.sort_outgoing(op, rows, out);
    GroupWire all(op.wire(), leaders.ranks);
    Op across(op, all, nodes->mine(), nodes->count());
    const Call among = aggregate.exchange(out, in);
    const Co exchanging = run_part(op, across, nodes->across(), among);
    op.join(exchanging, gate);
    st = co_await gate;
    if (!st.ok()) co_return leave(op, call, inside, *nodes, last, st);
    aggregate.sort_incoming(op, in, rows);
  }
  if (!alone) {
    const Co scattering = run_part(op, call, inside, nodes->inside(), last);
    op.join(scattering, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  for (int i = 0; i < op.size(); ++i) op.copy(Op::view(row + bytes * i, bytes), call.recv_block(nodes->in_order(i)));
  co_return op.failure();
}

}  // namespace ashlar::coll::hier
