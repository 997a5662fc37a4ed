#pragma once
#include "framework/coll/algorithm.h"

/// The collectives that are composed of messages. One algorithm per file; each file says where it comes from. Costs in
/// the comments: n ranks, lg = ceil(log2 n), a = latency of a message, m = the collective's quantity of bytes
/// (coll::quantity_of). tests/sim holds every formula against the recorded messages.
namespace ashlar::coll::p2p {

Co barrier_linear(Op& op, const Call& call);
Co barrier_dissemination(Op& op, const Call& call);
Co barrier_recursive_doubling(Op& op, const Call& call);

Co bcast_knomial(Op& op, const Call& call);
Co bcast_binary(Op& op, const Call& call);
Co bcast_double_tree(Op& op, const Call& call);
Co bcast_linear(Op& op, const Call& call);
Co bcast_binomial(Op& op, const Call& call);
Co bcast_chain(Op& op, const Call& call);
Co bcast_scatter_allgather(Op& op, const Call& call);

Co reduce_knomial(Op& op, const Call& call);
Co reduce_binomial(Op& op, const Call& call);
Co reduce_linear(Op& op, const Call& call);
Co reduce_rabenseifner(Op& op, const Call& call);
Co reduce_binary(Op& op, const Call& call);
Co reduce_double_tree(Op& op, const Call& call);

Co allreduce_linear(Op& op, const Call& call);
Co allreduce_ordered(Op& op, const Call& call);
Co allreduce_recursive_doubling(Op& op, const Call& call);
Co allreduce_rabenseifner(Op& op, const Call& call);
Co allreduce_ring(Op& op, const Call& call);
Co allreduce_double_tree(Op& op, const Call& call);

Co gather_binomial(Op& op, const Call& call);
Co gather_knomial(Op& op, const Call& call);
Co gather_linear(Op& op, const Call& call);  // gatherv as well
Co scatter_binomial(Op& op, const Call& call);
Co scatter_knomial(Op& op, const Call& call);
Co scatter_linear(Op& op, const Call& call);  // scatterv as well

Co allgather_linear(Op& op, const Call& call);  // allgatherv as well
Co allgather_neighbour_exchange(Op& op, const Call& call);
Co allgather_bruck(Op& op, const Call& call);
Co allgather_recursive_doubling(Op& op, const Call& call);
Co allgather_sparbit(Op& op, const Call& call);
Co allgather_ring(Op& op, const Call& call);  // allgatherv as well
Co allgatherv_bruck(Op& op, const Call& call);

Co alltoall_bruck(Op& op, const Call& call);
Co alltoall_pairwise(Op& op, const Call& call);  // alltoallv and w as well
Co alltoall_linear(Op& op, const Call& call);    // alltoallv and w as well

Co reduce_scatter_recursive_halving(Op& op, const Call& call);  // these four: reduce_scatter_block as well
Co reduce_scatter_pairwise(Op& op, const Call& call);
Co reduce_scatter_ring(Op& op, const Call& call);
Co reduce_scatter_linear(Op& op, const Call& call);

Co scan_doubling(Op& op, const Call& call);
Co scan_linear(Op& op, const Call& call);
Co scan_chain(Op& op, const Call& call);
Co exscan_doubling(Op& op, const Call& call);
Co exscan_linear(Op& op, const Call& call);
Co exscan_chain(Op& op, const Call& call);

Co neighbor_linear(Op& op, const Call& call);  // all of them

/// Every algorithm above, for registration and for tests.
const AlgorithmList& algorithm_list();

}  // namespace ashlar::coll::p2p
