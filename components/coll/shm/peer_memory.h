#pragma once
#include "components/coll/shm/group.h"

namespace ashlar::coll::shm {

/// Copies between our memory and that of a rank of the visit's group, which has told an address. A failure is noted as
/// op's, and says whose memory it was; the visit goes on, so that nobody waits in vain.
void read_from(Op& op, const Visit& visit, Rank from, std::uint64_t address, void* to, MPI_Count bytes);
void write_to(Op& op, const Visit& visit, Rank to, std::uint64_t address, const void* from, MPI_Count bytes);
/// The same into a buffer of any layout.
void read_into(Op& op, const Visit& visit, Rank from, std::uint64_t address, const DataView& to);

/// The copy that another rank was to make failed there, which says why.
Status other_rank_failed();

/// Whether we can read and write the memory of every other rank of the group, tried on its probe.
bool reaches_everyone(const Op& op, const Visit& visit);

inline std::uint64_t address_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

}  // namespace ashlar::coll::shm
