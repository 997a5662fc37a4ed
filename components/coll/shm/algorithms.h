#pragma once
#include "framework/coll/algorithm.h"

/// Small collectives of ranks that share a node, on flags in shared memory. No message is sent once the segment exists.
///
/// Two forms, chosen when the segment is made. Flat (all ranks run at once): each rank writes its own line and looks at
/// the others', so the latency is that of one cache line. Central (ranks take turns on the cores): each counts itself
/// in, and the last one acts for all and publishes, so that in one pass over the run queue every rank finds its result
/// ready and goes on to the next collective.
///
/// Operands are combined in rank order, a0 op (a1 op (... a[n-1])), by one rank or by all alike: any operation may be
/// used, and every rank gets the same bits.
namespace ashlar::coll::shm {

Co barrier(Op& op, const Call& call);
Co bcast(Op& op, const Call& call);
Co reduce(Op& op, const Call& call);
Co allreduce(Op& op, const Call& call);
Co gather(Op& op, const Call& call);
Co scatter(Op& op, const Call& call);
Co everyone(Op& op, const Call& call);  // allgather, alltoall, reduce_scatter(_block), scan, exscan

/// Larger payloads, in pieces.
Co bcast_large(Op& op, const Call& call);
Co reduce_large(Op& op, const Call& call);
Co allreduce_large(Op& op, const Call& call);

}  // namespace ashlar::coll::shm
