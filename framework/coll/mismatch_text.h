#pragma once
#include "framework/base/status.h"
#include "framework/coll/call_log.h"
#include "framework/coll/compared_call.h"
#include "framework/coll/mismatch.h"

namespace ashlar {
class Comm;
}

/// The sentences about mismatched calls and failures elsewhere.
namespace ashlar::coll {

inline ComparedCall compared(const LoggedCall& call) {
  return {.what = call.what, .root = call.root, .bytes = static_cast<std::uint64_t>(call.bytes)};
}
inline ComparedCall compared(const Notice& notice) {
  return {.what = static_cast<Collective>(notice.what), .root = notice.root, .bytes = notice.bytes};
}

/// Whether two ranks called the same, as far as their calls are the same on all ranks.
inline bool alike(const LoggedCall& mine, const Notice& theirs) { return compared(mine) == compared(theirs); }

/// The failure of a collective whose call differs from that of `from` (calls_differ).
[[gnu::cold]] Status difference(const Comm& comm, const LoggedCall& mine, PeerId from, const Notice& theirs,
                                bool at_least = false);

/// The call of a third rank that a report is about.
FailureReport other_of(const FailureReport& report);

/// The failure of a collective that another rank has reported.
[[gnu::cold]] Status failure_of(const Comm& comm, const LoggedCall& mine, const FailureReport& report);

}  // namespace ashlar::coll
