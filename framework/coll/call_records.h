#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/base/types.h"
#include "framework/coll/collective.h"

/// check.collectives: the calls of all ranks as records, and the comparison of these.
namespace ashlar::coll {

/// The call of one rank. Behind it lie the sizes of its pieces in bytes, one for each rank of the group that it
/// exchanges data with (of an intercommunicator the other group): gatherv and scatterv at the root, alltoallv and w
/// everywhere (those that leave, then those that arrive), allgatherv everywhere (those that arrive).
struct CallRecord {
  std::int32_t what, form;
  std::int32_t root, op;     // op: its number and whether it commutes
  std::int32_t rank, group;  // of an intercommunicator: 0 is the group of the rank that compares
  std::int64_t sends,
      gets;              // bytes of this rank's contribution, and of what it receives from each; -1: not significant
  std::uint64_t counts;  // of reduce_scatter: a fingerprint of the list
  std::int64_t pieces;   // behind the record
};

/// The records of all ranks: group after group.
struct CallTable {
  const std::byte* first;
  std::size_t stride;
  int ranks[2];  // of each group; the second is 0 on an intracommunicator

  int count() const { return ranks[0] + ranks[1]; }
  const CallRecord& operator[](int i) const {
    return *reinterpret_cast<const CallRecord*>(first + stride * static_cast<std::size_t>(i));
  }
  const std::int64_t* pieces(int i) const { return reinterpret_cast<const std::int64_t*>(&(*this)[i] + 1); }
  bool inter() const { return ranks[1] > 0; }
  /// Those that rank i exchanges data with.
  int partners(int i) const { return inter() ? ranks[1 - (*this)[i].group] : ranks[0]; }
  int partner(int i, int which) const { return inter() && (*this)[i].group == 0 ? ranks[0] + which : which; }
};

/// The first mismatch of a table, as a message to all ranks.
struct Mismatch {
  std::int32_t mpi_class;  // 0: there is none
  char text[484];
};

Mismatch find_mismatch(const CallTable& all);

}  // namespace ashlar::coll
