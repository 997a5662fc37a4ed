#pragma once
#include "framework/coll/algorithm.h"

/// The collectives of intercommunicators (MPI-5.0, 6.2.3): what each rank gets comes from the other group. The shape of
/// "local phase, exchange of the leaders, local phase" is that of P. Silva, J. G. Silva, "Implementing MPI-2 extended
/// collective operations", EuroPVM/MPI 1999.
namespace ashlar::coll::inter {

Co barrier(Op& op, const Call& call);
Co bcast(Op& op, const Call& call);
Co reduce(Op& op, const Call& call);
Co allreduce(Op& op, const Call& call);
Co reduce_scatter(Op& op, const Call& call);  // reduce_scatter_block as well
Co gather(Op& op, const Call& call);          // gatherv as well
Co scatter(Op& op, const Call& call);         // scatterv as well
Co exchange(Op& op, const Call& call);        // allgather(v), alltoall(v, w)

/// All of them, for registration and for tests.
const AlgorithmList& algorithm_list();

}  // namespace ashlar::coll::inter
