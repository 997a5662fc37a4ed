#pragma once
#include "components/coll/shm/comm.h"

namespace ashlar::coll::shm {

/// The members make their segment, in the first collective on it. Rank 0 makes the memory and sends its handle; each
/// other rank maps it and answers whether it could; rank 0 sends whether all could. Sets comm.state, and what follows
/// from the segment. Fails when a message does; a member that cannot attach is no failure.
Co attach(Op& op, ShmComm& comm);

/// Every rank tries to read and write a word of every other rank, and all learn whether all could, before single copies
/// are relied upon; and whether every rank's table of edges fits into its bounce buffer. Uses the ticket's number.
Co prove(Op& op, ShmComm& comm, const Ticket& ticket);

}  // namespace ashlar::coll::shm
