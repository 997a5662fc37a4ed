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

constexpr Algorithm kAlgorithms[] = {
    {Collective::kBarrier, "dissemination", "p2p", "lg n rounds, n lg n messages", nullptr, barrier_dissemination},
    {Collective::kBarrier, "recursive_doubling", "p2p", "pairwise exchanges", nullptr, barrier_recursive_doubling},
    {Collective::kBarrier, "linear", "p2p", "rank 0 receives from all and sends to all", nullptr, barrier_linear},
    {Collective::kBcast, "binomial", "p2p", "lg n rounds, n - 1 messages", nullptr, bcast_binomial},
    {Collective::kBcast, "chain", "p2p", "pipelined chain; argument segment", nullptr, bcast_chain},
    {Collective::kBcast, "scatter_allgather", "p2p", "van de Geijn: scatter, then ring", nullptr,
     bcast_scatter_allgather},
    {Collective::kBcast, "knomial", "p2p", "k-nomial tree; argument radix", nullptr, bcast_knomial},
    {Collective::kBcast, "binary", "p2p", "pipelined binary tree; argument segment", nullptr, bcast_binary},
    {Collective::kBcast, "double_tree", "p2p", "two pipelined trees; argument segment", nullptr, bcast_double_tree},
    {Collective::kBcast, "linear", "p2p", "the root sends to all; argument window", nullptr, bcast_linear},
    {Collective::kReduce, "binomial", "p2p", "lg n rounds, any operation", nullptr, reduce_binomial},
    {Collective::kReduce, "linear", "p2p", "the root takes all in rank order", nullptr, reduce_linear, kFixedOrder},
    {Collective::kReduce, "rabenseifner", "p2p", "reduce-scatter, then gather", needs_commuting_parts,
     reduce_rabenseifner},
    {Collective::kReduce, "binary", "p2p", "pipelined binary tree; argument segment", needs_commuting, reduce_binary},
    {Collective::kReduce, "double_tree", "p2p", "two pipelined trees; argument segment", needs_commuting,
     reduce_double_tree},
    {Collective::kReduce, "knomial", "p2p", "k-nomial tree; argument radix", needs_order_from_root, reduce_knomial},
    {Collective::kAllreduce, "recursive_doubling", "p2p", "lg n rounds, any operation", nullptr,
     allreduce_recursive_doubling},
    {Collective::kAllreduce, "rabenseifner", "p2p", "reduce-scatter, then allgather", needs_commuting_parts,
     allreduce_rabenseifner},
    {Collective::kAllreduce, "ring", "p2p", "least traffic, neighbours only", needs_commuting_ring, allreduce_ring},
    {Collective::kAllreduce, "double_tree", "p2p", "up and down two pipelined trees; argument segment", needs_commuting,
     allreduce_double_tree},
    {Collective::kAllreduce, "ordered", "p2p", "least traffic, rank order, any operation", nullptr, allreduce_ordered,
     kFixedOrder},
    {Collective::kAllreduce, "linear", "p2p", "reduce, then bcast, both linear", nullptr, allreduce_linear,
     kFixedOrder},
    {Collective::kGather, "binomial", "p2p", "lg n rounds, n - 1 messages", nullptr, gather_binomial},
    {Collective::kGather, "knomial", "p2p", "k-nomial tree; argument radix", nullptr, gather_knomial},
    {Collective::kGather, "linear", "p2p", "all at the root; argument window", nullptr, gather_linear},
    {Collective::kGatherv, "linear", "p2p", "all at the root; argument window", nullptr, gather_linear},
    {Collective::kScatter, "binomial", "p2p", "lg n rounds, n - 1 messages", nullptr, scatter_binomial},
    {Collective::kScatter, "knomial", "p2p", "k-nomial tree; argument radix", nullptr, scatter_knomial},
    {Collective::kScatter, "linear", "p2p", "all from the root; argument window", nullptr, scatter_linear},
    {Collective::kScatterv, "linear", "p2p", "all from the root; argument window", nullptr, scatter_linear},
    {Collective::kAllgather, "bruck", "p2p", "lg n rounds, any n", nullptr, allgather_bruck},
    {Collective::kAllgather, "recursive_doubling", "p2p", "log2 n rounds, no temporary", needs_power_of_two,
     allgather_recursive_doubling},
    {Collective::kAllgather, "ring", "p2p", "n - 1 rounds, neighbours only", nullptr, allgather_ring},
    {Collective::kAllgather, "sparbit", "p2p", "lg n rounds, far partners first, straight into place", nullptr,
     allgather_sparbit},
    {Collective::kAllgather, "neighbour_exchange", "p2p", "n / 2 rounds of two blocks", needs_even,
     allgather_neighbour_exchange},
    {Collective::kAllgather, "linear", "p2p", "all to all; argument window", nullptr, allgather_linear},
    {Collective::kAllgatherv, "linear", "p2p", "all to all; argument window", nullptr, allgather_linear},
    {Collective::kAllgatherv, "ring", "p2p", "n - 1 rounds, neighbours only", nullptr, allgather_ring},
    {Collective::kAllgatherv, "bruck", "p2p", "lg n rounds, packed", nullptr, allgatherv_bruck},
    {Collective::kAlltoall, "bruck", "p2p", "lg n rounds of about n / 2 blocks", nullptr, alltoall_bruck},
    {Collective::kAlltoall, "pairwise", "p2p", "n - 1 rounds, one partner at a time", nullptr, alltoall_pairwise},
    {Collective::kAlltoall, "linear", "p2p", "all at once; argument window", nullptr, alltoall_linear},
    {Collective::kAlltoallv, "pairwise", "p2p", "n - 1 rounds, one partner at a time", nullptr, alltoall_pairwise},
    {Collective::kAlltoallv, "linear", "p2p", "all at once; argument window", nullptr, alltoall_linear},
    {Collective::kAlltoallw, "pairwise", "p2p", "n - 1 rounds, one partner at a time", nullptr, alltoall_pairwise},
    {Collective::kAlltoallw, "linear", "p2p", "all at once; argument window", nullptr, alltoall_linear},
    {Collective::kReduceScatter, "recursive_halving", "p2p", "lg n rounds", needs_commuting,
     reduce_scatter_recursive_halving},
    {Collective::kReduceScatter, "pairwise", "p2p", "least traffic, straight to the owners", needs_commuting,
     reduce_scatter_pairwise},
    {Collective::kReduceScatter, "ring", "p2p", "least traffic, neighbours only", needs_commuting, reduce_scatter_ring},
    {Collective::kReduceScatter, "linear", "p2p", "rank order, any operation", nullptr, reduce_scatter_linear,
     kFixedOrder},
    {Collective::kReduceScatterBlock, "recursive_halving", "p2p", "lg n rounds", needs_commuting,
     reduce_scatter_recursive_halving},
    {Collective::kReduceScatterBlock, "pairwise", "p2p", "least traffic, straight to the owners", needs_commuting,
     reduce_scatter_pairwise},
    {Collective::kReduceScatterBlock, "ring", "p2p", "least traffic, neighbours only", needs_commuting,
     reduce_scatter_ring},
    {Collective::kReduceScatterBlock, "linear", "p2p", "rank order, any operation", nullptr, reduce_scatter_linear,
     kFixedOrder},
    {Collective::kScan, "doubling", "p2p", "lg n rounds, any operation", nullptr, scan_doubling},
    {Collective::kScan, "chain", "p2p", "pipelined chain; argument segment", nullptr, scan_chain, kFixedOrder},
    {Collective::kScan, "linear", "p2p", "from each rank to the next", nullptr, scan_linear, kFixedOrder},
    {Collective::kExscan, "doubling", "p2p", "lg n rounds, any operation", nullptr, exscan_doubling},
    {Collective::kExscan, "chain", "p2p", "pipelined chain; argument segment", nullptr, exscan_chain, kFixedOrder},
    {Collective::kExscan, "linear", "p2p", "from each rank to the next", nullptr, exscan_linear, kFixedOrder},
    {Collective::kNeighborAllgather, "linear", "p2p", "a message for each edge", nullptr, neighbor_linear},
    {Collective::kNeighborAllgatherv, "linear", "p2p", "a message for each edge", nullptr, neighbor_linear},
    {Collective::kNeighborAlltoall, "linear", "p2p", "a message for each edge", nullptr, neighbor_linear},
    {Collective::kNeighborAlltoallv, "linear", "p2p", "a message for each edge", nullptr, neighbor_linear},
    {Collective::kNeighborAlltoallw, "linear", "p2p", "a message for each edge", nullptr, neighbor_linear},
};
constexpr AlgorithmList kList{sizeof(AlgorithmList), sizeof kAlgorithms / sizeof kAlgorithms[0], kAlgorithms};

}  // namespace

const AlgorithmList& algorithm_list() { return kList; }

}  // namespace ashlar::coll::p2p
