#pragma once
#include "framework/coll/algorithm.h"

/// Collectives of ranks on several nodes: a part inside each node, and a part among one rank of each. Every part is a
/// collective of its own, with whatever algorithm the rules choose for its group. The shape is that of T. Kielmann,
/// R. Hofman, H. Bal, A. Plaat, R. Bhoedjang, "MagPIe: MPI's collective communication operations for clustered wide
/// area systems", PPoPP 1999.
namespace ashlar::coll::hier {

Co barrier(Op& op, const Call& call);
Co bcast(Op& op, const Call& call);
Co reduce(Op& op, const Call& call);
Co allreduce(Op& op, const Call& call);
Co gather(Op& op, const Call& call);
Co scatter(Op& op, const Call& call);
Co allgather(Op& op, const Call& call);
Co alltoall(Op& op, const Call& call);
Co reduce_scatter(Op& op, const Call& call);  // reduce_scatter_block as well
Co prefix(Op& op, const Call& call);          // scan, exscan

/// All of them, for registration and for tests.
const AlgorithmList& algorithm_list();

}  // namespace ashlar::coll::hier
