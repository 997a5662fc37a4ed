#pragma once
#include "components/coll/shm/comm.h"
#include "framework/coll/algorithm.h"

/// Collectives of ranks that share a node. No message is sent once the segment exists.
///
/// Two forms, chosen when the segment is made. Flat (all ranks run at once): each rank stores its own flag and reads
/// the others', so the latency is that of one cache line. Central (ranks share cores): each rank counts itself in, and
/// the last one acts for all and publishes the result, so that in one pass over the run queue every rank finds its
/// result and goes on to the next collective.
///
/// Every function here is the body of one algorithm: it says what moves where, on a ticket that is ready (enter() of
/// comm.h). What it knows of flags is publish.h and waits.h of the segment.
namespace ashlar::coll::shm {

/// Payloads that go through the segment at once.
Co barrier(Op& op, const Call& call, Ticket ticket);
Co bcast(Op& op, const Call& call, Ticket ticket);
Co reduce(Op& op, const Call& call, Ticket ticket);
Co allreduce(Op& op, const Call& call, Ticket ticket);
Co gather(Op& op, const Call& call, Ticket ticket);
Co scatter(Op& op, const Call& call, Ticket ticket);
Co share(Op& op, const Call& call, Ticket ticket);   // allgather, alltoall, reduce_scatter(_block)
Co prefix(Op& op, const Call& call, Ticket ticket);  // scan, exscan

/// Blocks of which only the root knows every length; each travels as suits its length.
Co gather_blocks(Op& op, const Call& call, Ticket ticket);   // gatherv, and gather of long blocks
Co scatter_blocks(Op& op, const Call& call, Ticket ticket);  // the same

/// Larger payloads, in pieces.
Co bcast_large(Op& op, const Call& call, Ticket ticket);
Co reduce_large(Op& op, const Call& call, Ticket ticket);
Co allreduce_large(Op& op, const Call& call, Ticket ticket);

/// Any payload, copied once between the callers' buffers, whose addresses the ranks publish.
Co bcast_direct(Op& op, const Call& call, Ticket ticket);
Co exchange_direct(Op& op, const Call& call, Ticket ticket);  // allgather(v), alltoall(v, w), those of neighbours
Co combine_direct(Op& op, const Call& call, Ticket ticket);   // every reduction

/// What they need of the segment.
Need small_need(const Op& op, const Call& call);  // of the first group
Need share_need(const Op& op, const Call& call);
Need gather_blocks_need(const Op& op, const Call& call);
Need scatter_blocks_need(const Op& op, const Call& call);
Need large_need(const Op& op, const Call& call);  // of those in pieces
Need bcast_direct_need(const Op& op, const Call& call);
Need direct_need(const Op& op, const Call& call);  // of the other direct ones: two numbers, and bounce buffers

}  // namespace ashlar::coll::shm
