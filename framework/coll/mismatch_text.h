#pragma once
#include "framework/base/status.h"
#include "framework/coll/call_log.h"
#include "framework/coll/mismatch.h"

namespace ashlar {
class Comm;
}

/// The sentences about mismatched calls and failures elsewhere.
namespace ashlar::coll {

/// "MPI_Allreduce".
struct CallName {
  char text[40];
  explicit CallName(Collective what);
};

/// Whether two ranks called the same, as far as their calls are the same on all ranks.
inline bool alike(const LoggedCall& mine, const Notice& theirs) {
  return theirs.what == static_cast<std::uint8_t>(mine.what) && theirs.root == mine.root &&
         theirs.bytes == static_cast<std::uint64_t>(mine.bytes);
}

/// The failure of a collective whose call differs from that of `from`: in which collective it is, in the root, or in
/// the bytes. `at_least`: theirs.bytes is a lower bound.
[[gnu::cold]] Status difference(const Comm& comm, const LoggedCall& mine, PeerId from, const Notice& theirs,
                                bool at_least = false);

/// The call of a third rank that a report is about.
FailureReport other_of(const FailureReport& report);

/// The failure of a collective that another rank has reported.
[[gnu::cold]] Status failure_of(const Comm& comm, const LoggedCall& mine, const FailureReport& report);

/// The failure of a receive whose message is of another size.
[[gnu::cold]] Status wrong_size(const Comm& comm, Rank from, std::uint64_t arrived, MPI_Count expected);

}  // namespace ashlar::coll
