#pragma once
#include "components/coll/shm/segment/ticket.h"
#include "framework/coll/compared_call.h"

// Whether the ranks of a collective called the same thing (MPI-5.0, 6.1: calls that do not match are erroneous). Three
// places find a mismatch: a flag whose signature is another call's; the call records, which a long wait compares
// because ranks in different algorithms may wait for flags that no rank ever stores; and sizes that may differ per pair
// of ranks, which are compared beside the addresses before a copy. Without this a rank would write as much into another
// rank's buffer as it has, not as much as there is room.
namespace ashlar::coll::shm {

/// Whether every rank's flag of this number is this rank's. For the rank that acts for all.
bool flags_agree(const Ticket& ticket);

/// Whether calls have ever not agreed on this segment.
inline bool any_mismatch(const Ticket& ticket) {
  return ticket.layout().header().mismatched.load(std::memory_order_relaxed) != 0;
}

/// Whether the other ranks' records of the ticket's first number, as far as there are any yet, are this rank's call.
/// It reads a cache line of every rank: for waits that take long.
bool records_agree(const Ticket& ticket);

/// The failure of a rank that found a mismatch: which rank called what, as far as the records still tell.
[[gnu::cold]] Status mismatch(const Ticket& ticket);

}  // namespace ashlar::coll::shm
