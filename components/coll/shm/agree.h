#pragma once
#include "components/coll/shm/group.h"

// Whether the ranks of a visit called the same thing. Every line carries a mark of its writer's call beside the number,
// so whoever looks at lines notices for nothing when calls have parted; sizes that need not be equal on all ranks are
// compared where they are told. Without this, a rank would write as much into another's buffer as it has, not as much
// as there is room. MPI-5.0, 6.1: calls that do not match are erroneous; we say so where we can.
namespace ashlar::coll::shm {

/// Whether every rank has signed this visit as its own (for who acts for all).
bool all_alike(const Visit& visit);

/// Whether the ranks have ever not agreed on this segment.
inline bool have_parted(const Visit& visit) {
  return visit.layout().header().parted.load(std::memory_order_relaxed) != 0;
}

/// Whether what other ranks called with the visit's first number, as far as they have got there, is what this one
/// called. For waits that take long: it looks at a line of every rank. Where numbers have parted, they did so in a call
/// with which all began at the same one.
bool notes_agree(const Visit& visit);

/// Lines of the visit's number carry the mark of another call: says who called what, as far as it is still known.
[[gnu::cold]] Status disagreement(const Visit& visit, std::uint32_t me);

/// Rank `from` hands over `sent` bytes where rank `to` expects another number.
[[gnu::cold]] Status sizes_differ(Rank from, MPI_Count sent, Rank to, MPI_Count expected);

}  // namespace ashlar::coll::shm
