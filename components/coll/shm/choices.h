#pragma once
#include <mpi.h>

#include <cstdint>

#include "components/coll/shm/segment/member.h"

// What this component does only because it is faster where it was measured: everything that rests on measurements of
// one machine and that a machine may want otherwise. Each choice has a parameter that switches it off, and its
// measurements in docs/decisions/0047-choices-of-shared-memory-collectives.md. None changes what a collective does.
namespace ashlar::coll::shm {

/// As the parameters of these names say (params.cc).
struct ChoiceConfig {
  std::uint64_t prefetch_from;
  bool read_once;
  bool poll_for_root;
  bool yield_to_root;
};

/// What applies to the ranks of one segment. Some choices are for ranks that share cores alone (the central form).
struct Choices {
  /// From so many bytes of an exchange on, what stays on the rank is copied with prefetches (prefetch_copy.h), and a
  /// rank begins with the ranks that have arrived instead of waiting for all.
  MPI_Count prefetch_from = 0;
  /// A block that comes from one rank along several edges is read from it once.
  bool read_once = false;
  /// A rank that leaves a barrier ahead of the ranks it will probably wait for next yields its core once.
  bool yield_to_root = false;

  /// When the member has attached. Sets Member::polls_for_writer, which is the segment's part.
  static Choices of(const ChoiceConfig& config, Member& member);
};

}  // namespace ashlar::coll::shm
