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

constexpr const char* kUpAndDown = "combines in each node, exchanges among one rank of each, distributes in each node";
constexpr const char* kUp = "combines in each node, then among one rank of each";
constexpr const char* kDown = "sends to one rank of each node, which distributes in it";
constexpr const char* kAlong = "scans in each node, then among the last ranks, then adds in each node";
constexpr Algorithm kAlgorithms[] = {
    of(Collective::kBarrier, kUpAndDown, barrier).limited_by(needs_nodes),
    of(Collective::kBcast, kDown, bcast).limited_by(needs_nodes),
    of(Collective::kReduce, kUp, reduce).limited_by(needs_nodes_in_order),
    of(Collective::kAllreduce, kUpAndDown, allreduce).limited_by(needs_nodes_in_order),
    of(Collective::kGather, kUp, gather).limited_by(needs_nodes),
    of(Collective::kScatter, kDown, scatter).limited_by(needs_nodes),
    of(Collective::kAllgather, kUpAndDown, allgather).limited_by(needs_nodes),
    of(Collective::kAlltoall, kUpAndDown, alltoall).limited_by(needs_nodes),
    of(Collective::kReduceScatter, kUpAndDown, reduce_scatter).limited_by(needs_nodes_in_order),
    of(Collective::kReduceScatterBlock, kUpAndDown, reduce_scatter).limited_by(needs_nodes_in_order),
    of(Collective::kScan, kAlong, prefix).limited_by(needs_nodes_in_runs),
    of(Collective::kExscan, kAlong, prefix).limited_by(needs_nodes_in_runs),
};
constexpr AlgorithmList kList = list_of(kAlgorithms);

}  // namespace

const AlgorithmList& algorithm_list() { return kList; }

}  // namespace ashlar::coll::hier
