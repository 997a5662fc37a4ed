#pragma once
#include "components/coll/shm/group.h"
#include "framework/coll/algorithm.h"

/// Collectives of ranks that share a node, on flags in shared memory. No message is sent once the segment exists.
///
/// Two forms, chosen when the segment is made. Flat (all ranks run at once): each rank writes its own line and looks at
/// the others', so the latency is that of one cache line. Central (ranks take turns on the cores): each counts itself
/// in, and the last one acts for all and publishes, so that in one pass over the run queue every rank finds its result
/// ready and goes on to the next collective.
///
/// Operands are combined in rank order, a0 op (a1 op (... a[n-1])), by one rank or by all alike: any operation may be
/// used, and every rank gets the same bits.
///
/// Every function here is the body of one algorithm: enter() of group.h goes before it.
namespace ashlar::coll::shm {

/// Payloads that fit into a place of the segment.
Co barrier(Op& op, const Call& call, Visit visit);
Co bcast(Op& op, const Call& call, Visit visit);
Co reduce(Op& op, const Call& call, Visit visit);
Co allreduce(Op& op, const Call& call, Visit visit);
Co gather(Op& op, const Call& call, Visit visit);
Co scatter(Op& op, const Call& call, Visit visit);
Co everyone(Op& op, const Call& call, Visit visit);  // allgather, alltoall, reduce_scatter(_block)
Co prefix(Op& op, const Call& call, Visit visit);    // scan, exscan

/// Blocks that only the root knows all lengths of, each by the way that suits its length.
Co gather_blocks(Op& op, const Call& call, Visit visit);   // gatherv, and gather of long blocks
Co scatter_blocks(Op& op, const Call& call, Visit visit);  // the same

/// Larger payloads, in pieces.
Co bcast_large(Op& op, const Call& call, Visit visit);
Co reduce_large(Op& op, const Call& call, Visit visit);
Co allreduce_large(Op& op, const Call& call, Visit visit);

/// Any payload, copied once between the callers' buffers: ranks tell each other addresses and copy themselves.
Co bcast_direct(Op& op, const Call& call, Visit visit);
Co exchange_direct(Op& op, const Call& call, Visit visit);  // allgather(v), alltoall(v, w)
Co neighbor_direct(Op& op, const Call& call, Visit visit);  // every neighbourhood collective
Co combine_direct(Op& op, const Call& call, Visit visit);   // every reduction

/// What they need of the segment.
Stay small_stay(const Op& op, const Call& call);     // of the first group
Stay everyone_stay(const Op& op, const Call& call);  // of everyone()
Stay gather_blocks_stay(const Op& op, const Call& call);
Stay scatter_blocks_stay(const Op& op, const Call& call);
Stay large_stay(const Op& op, const Call& call);  // of the pieces
Stay reach_stay(const Op& op, const Call& call);  // of bcast_direct: one number
Stay twice_stay(const Op& op, const Call& call);  // of the other direct ones: two numbers; tables in places

/// What a rank's place must hold at least, in an exchange of so many blocks.
std::size_t table_bytes(std::size_t sent, std::size_t got);

}  // namespace ashlar::coll::shm
