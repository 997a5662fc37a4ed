#include <mpi.h>

#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/tree.h"

namespace ashlar::coll::p2p {
namespace {

const char* needs_commuting_parts(const Shape& shape, const Call& call) {
  if (!call.op->commutative()) return "the operation does not commute";
  if (call.send.count < power_of_two_below(shape.ranks)) return "fewer items than parts";
  return nullptr;
}
const char* needs_commuting_ring(const Shape& shape, const Call& call) {
  if (!call.op->commutative()) return "the operation does not commute";
  if (call.send.count < shape.ranks) return "fewer items than ranks";
  return nullptr;
}
const char* needs_commuting(const Shape&, const Call& call) {
  return call.op->commutative() ? nullptr : "the operation does not commute";
}
const char* needs_order_from_root(const Shape&, const Call& call) {
  return call.op->commutative() || call.root == 0 ? nullptr : "the operation does not commute and the root is not 0";
}
const char* needs_even(const Shape& shape, const Call&) {
  return shape.ranks % 2 == 0 ? nullptr : "the number of ranks is odd";
}
const char* needs_power_of_two(const Shape& shape, const Call&) {
  return power_of_two_below(shape.ranks) == shape.ranks ? nullptr : "the number of ranks is not a power of two";
}

constexpr Algorithm of(Collective what, const char* name, const char* summary, Co (*run)(Op&, const Call&)) {
  return {.collective = what, .name = name, .component = "p2p", .summary = summary, .run = run};
}

constexpr Algorithm kAlgorithms[] = {
    of(Collective::kBarrier, "dissemination", "lg n rounds, n lg n messages", barrier_dissemination),
    of(Collective::kBarrier, "recursive_doubling", "pairwise exchanges", barrier_recursive_doubling),
    of(Collective::kBarrier, "linear", "rank 0 receives from all and sends to all", barrier_linear),
    of(Collective::kBcast, "binomial", "lg n rounds, n - 1 messages", bcast_binomial),
    of(Collective::kBcast, "chain", "pipelined chain; argument segment", bcast_chain),
    of(Collective::kBcast, "scatter_allgather", "van de Geijn: scatter, then ring", bcast_scatter_allgather),
    of(Collective::kBcast, "knomial", "k-nomial tree; argument radix", bcast_knomial),
    of(Collective::kBcast, "binary", "pipelined binary tree; argument segment", bcast_binary),
    of(Collective::kBcast, "double_tree", "two pipelined trees; argument segment", bcast_double_tree),
    of(Collective::kBcast, "linear", "the root sends to all; argument window", bcast_linear),
    of(Collective::kReduce, "binomial", "lg n rounds, any operation", reduce_binomial),
    of(Collective::kReduce, "linear", "the root takes all in rank order", reduce_linear).with(kFixedOrder),
    of(Collective::kReduce, "rabenseifner", "reduce-scatter, then gather", reduce_rabenseifner)
        .limited_by(needs_commuting_parts),
    of(Collective::kReduce, "binary", "pipelined binary tree; argument segment", reduce_binary)
        .limited_by(needs_commuting),
    of(Collective::kReduce, "double_tree", "two pipelined trees; argument segment", reduce_double_tree)
        .limited_by(needs_commuting),
    of(Collective::kReduce, "knomial", "k-nomial tree; argument radix", reduce_knomial)
        .limited_by(needs_order_from_root),
    of(Collective::kAllreduce, "recursive_doubling", "lg n rounds, any operation", allreduce_recursive_doubling),
    of(Collective::kAllreduce, "rabenseifner", "reduce-scatter, then allgather", allreduce_rabenseifner)
        .limited_by(needs_commuting_parts),
    of(Collective::kAllreduce, "ring", "least traffic, neighbours only", allreduce_ring)
        .limited_by(needs_commuting_ring),
    of(Collective::kAllreduce, "double_tree", "up and down two pipelined trees; argument segment",
       allreduce_double_tree)
        .limited_by(needs_commuting),
    of(Collective::kAllreduce, "ordered", "least traffic, rank order, any operation", allreduce_ordered)
        .with(kFixedOrder),
    of(Collective::kAllreduce, "linear", "reduce, then bcast, both linear", allreduce_linear).with(kFixedOrder),
    of(Collective::kGather, "binomial", "lg n rounds, n - 1 messages", gather_binomial),
    of(Collective::kGather, "knomial", "k-nomial tree; argument radix", gather_knomial),
    of(Collective::kGather, "linear", "all at the root; argument window", gather_linear),
    of(Collective::kGatherv, "linear", "all at the root; argument window", gather_linear),
    of(Collective::kScatter, "binomial", "lg n rounds, n - 1 messages", scatter_binomial),
    of(Collective::kScatter, "knomial", "k-nomial tree; argument radix", scatter_knomial),
    of(Collective::kScatter, "linear", "all from the root; argument window", scatter_linear),
    of(Collective::kScatterv, "linear", "all from the root; argument window", scatter_linear),
    of(Collective::kAllgather, "bruck", "lg n rounds, any n", allgather_bruck),
    of(Collective::kAllgather, "recursive_doubling", "log2 n rounds, no temporary", allgather_recursive_doubling)
        .limited_by(needs_power_of_two),
    of(Collective::kAllgather, "ring", "n - 1 rounds, neighbours only", allgather_ring),
    of(Collective::kAllgather, "sparbit", "lg n rounds, far partners first, straight into place", allgather_sparbit),
    of(Collective::kAllgather, "neighbour_exchange", "n / 2 rounds of two blocks", allgather_neighbour_exchange)
        .limited_by(needs_even),
    of(Collective::kAllgather, "linear", "all to all; argument window", allgather_linear),
    of(Collective::kAllgatherv, "linear", "all to all; argument window", allgather_linear),
    of(Collective::kAllgatherv, "ring", "n - 1 rounds, neighbours only", allgather_ring),
    of(Collective::kAllgatherv, "bruck", "lg n rounds, packed", allgatherv_bruck),
    of(Collective::kAlltoall, "bruck", "lg n rounds of about n / 2 blocks", alltoall_bruck),
    of(Collective::kAlltoall, "pairwise", "n - 1 rounds, one partner at a time", alltoall_pairwise),
    of(Collective::kAlltoall, "linear", "all at once; argument window", alltoall_linear),
    of(Collective::kAlltoallv, "pairwise", "n - 1 rounds, one partner at a time", alltoall_pairwise),
    of(Collective::kAlltoallv, "linear", "all at once; argument window", alltoall_linear),
    of(Collective::kAlltoallw, "pairwise", "n - 1 rounds, one partner at a time", alltoall_pairwise),
    of(Collective::kAlltoallw, "linear", "all at once; argument window", alltoall_linear),
    of(Collective::kReduceScatter, "recursive_halving", "lg n rounds", reduce_scatter_recursive_halving)
        .limited_by(needs_commuting),
    of(Collective::kReduceScatter, "pairwise", "least traffic, straight to the owners", reduce_scatter_pairwise)
        .limited_by(needs_commuting),
    of(Collective::kReduceScatter, "ring", "least traffic, neighbours only", reduce_scatter_ring)
        .limited_by(needs_commuting),
    of(Collective::kReduceScatter, "linear", "rank order, any operation", reduce_scatter_linear).with(kFixedOrder),
    of(Collective::kReduceScatterBlock, "recursive_halving", "lg n rounds", reduce_scatter_recursive_halving)
        .limited_by(needs_commuting),
    of(Collective::kReduceScatterBlock, "pairwise", "least traffic, straight to the owners", reduce_scatter_pairwise)
        .limited_by(needs_commuting),
    of(Collective::kReduceScatterBlock, "ring", "least traffic, neighbours only", reduce_scatter_ring)
        .limited_by(needs_commuting),
    of(Collective::kReduceScatterBlock, "linear", "rank order, any operation", reduce_scatter_linear).with(kFixedOrder),
    of(Collective::kScan, "doubling", "lg n rounds, any operation", scan_doubling),
    of(Collective::kScan, "chain", "pipelined chain; argument segment", scan_chain).with(kFixedOrder),
    of(Collective::kScan, "linear", "from each rank to the next", scan_linear).with(kFixedOrder),
    of(Collective::kExscan, "doubling", "lg n rounds, any operation", exscan_doubling),
    of(Collective::kExscan, "chain", "pipelined chain; argument segment", exscan_chain).with(kFixedOrder),
    of(Collective::kExscan, "linear", "from each rank to the next", exscan_linear).with(kFixedOrder),
    of(Collective::kNeighborAllgather, "linear", "a message for each edge", neighbor_linear),
    of(Collective::kNeighborAllgatherv, "linear", "a message for each edge", neighbor_linear),
    of(Collective::kNeighborAlltoall, "linear", "a message for each edge", neighbor_linear),
    of(Collective::kNeighborAlltoallv, "linear", "a message for each edge", neighbor_linear),
    of(Collective::kNeighborAlltoallw, "linear", "a message for each edge", neighbor_linear),
};
constexpr AlgorithmList kList = list_of(kAlgorithms);

}  // namespace

const AlgorithmList& algorithm_list() { return kList; }

}  // namespace ashlar::coll::p2p
