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

constexpr Algorithm kAlgorithms[] = {
    {Collective::kBarrier, "hier", "hier", "each node, the leaders, each node", needs_nodes, barrier},
    {Collective::kBcast, "hier", "hier", "the leaders, each node", needs_nodes, bcast},
    {Collective::kReduce, "hier", "hier", "each node, the leaders", needs_nodes_in_order, reduce},
    {Collective::kAllreduce, "hier", "hier", "each node, the leaders, each node", needs_nodes_in_order, allreduce},
    {Collective::kGather, "hier", "hier", "each node, the leaders", needs_nodes, gather},
    {Collective::kScatter, "hier", "hier", "the leaders, each node", needs_nodes, scatter},
    {Collective::kAllgather, "hier", "hier", "each node, the leaders, each node", needs_nodes, allgather},
    {Collective::kAlltoall, "hier", "hier", "each node, the leaders, each node", needs_nodes, alltoall},
    {Collective::kReduceScatter, "hier", "hier", "each node, the leaders, each node", needs_nodes_in_order,
     reduce_scatter},
    {Collective::kReduceScatterBlock, "hier", "hier", "each node, the leaders, each node", needs_nodes_in_order,
     reduce_scatter},
    {Collective::kScan, "hier", "hier", "each node, the last ranks, each node", needs_nodes_in_runs, prefix},
    {Collective::kExscan, "hier", "hier", "each node, the last ranks, each node", needs_nodes_in_runs, prefix},
};
constexpr AlgorithmList kList{sizeof(AlgorithmList), sizeof kAlgorithms / sizeof kAlgorithms[0], kAlgorithms};

}  // namespace

const AlgorithmList& algorithm_list() { return kList; }

}  // namespace ashlar::coll::hier
