#pragma once
#include "components/coll/shm/segment/ticket.h"
#include "framework/coll/op.h"

namespace ashlar::coll::shm {

/// Copies between this process's memory and that of another rank of the ticket's segment, which has published the
/// address. A failure is noted as op's and names the rank; the collective goes on to its end, because other ranks wait
/// for this one, and after a failure nothing is copied.
void read_from(Op& op, const Ticket& ticket, Rank from, std::uint64_t address, void* to, MPI_Count bytes);
void write_to(Op& op, const Ticket& ticket, Rank to, std::uint64_t address, const void* from, MPI_Count bytes);
/// The same into a buffer of any layout.
void read_into(Op& op, const Ticket& ticket, Rank from, std::uint64_t address, const DataView& to);

/// For a rank that gets less because another rank could not make a copy. That rank reports the reason.
Status other_rank_failed();

/// Whether this process can read and write the memory of every other rank, tried on their probes.
bool reaches_all_ranks(const Op& op, const Ticket& ticket);

inline std::uint64_t address_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

}  // namespace ashlar::coll::shm
