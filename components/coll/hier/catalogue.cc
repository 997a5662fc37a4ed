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

constexpr Algorithm of(Collective what, const char* summary, Co (*run)(Op&, const Call&)) {
  return {.collective = what, .name = "hier", .component = "hier", .summary = summary, .run = run};
}

constexpr const char* kUpAndDown = "each node, the leaders, each node";
constexpr Algorithm kAlgorithms[] = {
    of(Collective::kBarrier, kUpAndDown, barrier).limited_by(needs_nodes),
    of(Collective::kBcast, "the leaders, each node", bcast).limited_by(needs_nodes),
    of(Collective::kReduce, "each node, the leaders", reduce).limited_by(needs_nodes_in_order),
    of(Collective::kAllreduce, kUpAndDown, allreduce).limited_by(needs_nodes_in_order),
    of(Collective::kGather, "each node, the leaders", gather).limited_by(needs_nodes),
    of(Collective::kScatter, "the leaders, each node", scatter).limited_by(needs_nodes),
    of(Collective::kAllgather, kUpAndDown, allgather).limited_by(needs_nodes),
    of(Collective::kAlltoall, kUpAndDown, alltoall).limited_by(needs_nodes),
    of(Collective::kReduceScatter, kUpAndDown, reduce_scatter).limited_by(needs_nodes_in_order),
    of(Collective::kReduceScatterBlock, kUpAndDown, reduce_scatter).limited_by(needs_nodes_in_order),
    of(Collective::kScan, "each node, the last ranks, each node", prefix).limited_by(needs_nodes_in_runs),
    of(Collective::kExscan, "each node, the last ranks, each node", prefix).limited_by(needs_nodes_in_runs),
};
constexpr AlgorithmList kList = list_of(kAlgorithms);

}  // namespace

const AlgorithmList& algorithm_list() { return kList; }

}  // namespace ashlar::coll::hier
