#include "components/coll/hier/algorithms.h"

namespace ashlar::coll::hier {
namespace {

const char* needs_nodes(const Shape& shape, const Call&) {
  if (shape.nodes < 2) return "all ranks are on one node";
  return shape.node_ranks < 2 ? "no node has two ranks" : nullptr;
}
const char* needs_nodes_in_order(const Shape& shape, const Call& call) {
  if (!call.op->commutative() && !shape.in_runs)
    return "the operation does not commute and the ranks of a node do not follow each other";
  return needs_nodes(shape, call);
}
const char* needs_nodes_in_runs(const Shape& shape, const Call& call) {
  if (!shape.in_runs) return "the ranks of a node do not follow each other";
  return needs_nodes(shape, call);
}

constexpr Algorithm of(Collective what, const char* summary, const char* (*excluded)(const Shape&, const Call&),
                       Co (*run)(Op&, const Call&)) {
  return {
      .collective = what, .name = "hier", .component = "hier", .summary = summary, .excluded = excluded, .run = run};
}

constexpr const char* kUpAndDown = "each node, the leaders, each node";
constexpr Algorithm kAlgorithms[] = {
    of(Collective::kBarrier, kUpAndDown, needs_nodes, barrier),
    of(Collective::kBcast, "the leaders, each node", needs_nodes, bcast),
    of(Collective::kReduce, "each node, the leaders", needs_nodes_in_order, reduce),
    of(Collective::kAllreduce, kUpAndDown, needs_nodes_in_order, allreduce),
    of(Collective::kGather, "each node, the leaders", needs_nodes, gather),
    of(Collective::kScatter, "the leaders, each node", needs_nodes, scatter),
    of(Collective::kAllgather, kUpAndDown, needs_nodes, allgather),
    of(Collective::kAlltoall, kUpAndDown, needs_nodes, alltoall),
    of(Collective::kReduceScatter, kUpAndDown, needs_nodes_in_order, reduce_scatter),
    of(Collective::kReduceScatterBlock, kUpAndDown, needs_nodes_in_order, reduce_scatter),
    of(Collective::kScan, "each node, the last ranks, each node", needs_nodes_in_runs, prefix),
    of(Collective::kExscan, "each node, the last ranks, each node", needs_nodes_in_runs, prefix),
};
constexpr AlgorithmList kList{
    .size = sizeof(AlgorithmList), .count = sizeof kAlgorithms / sizeof kAlgorithms[0], .first = kAlgorithms};

}  // namespace

const AlgorithmList& algorithm_list() { return kList; }

}  // namespace ashlar::coll::hier
