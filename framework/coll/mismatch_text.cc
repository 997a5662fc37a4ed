#include "framework/coll/mismatch_text.h"

#include <mpi.h>

#include "framework/base/failure.h"
#include "framework/object/comm.h"
#include "framework/object/group.h"

namespace ashlar::coll {
namespace {

Member member_of(const Comm& comm, PeerId peer) {
  const Rank remote = comm.remote_group->rank_of(peer);
  if (!comm.inter) return {.rank = remote};
  if (remote != MPI_UNDEFINED) return {.rank = remote, .group = "remote"};
  return {.rank = comm.local_group->rank_of(peer), .group = "local"};
}

}  // namespace

Status difference(const Comm& comm, const LoggedCall& mine, PeerId from, const Notice& theirs, bool at_least) {
  return calls_differ(compared(mine), member_of(comm, from), compared(theirs), at_least);
}

FailureReport other_of(const FailureReport& report) {
  FailureReport other{.tag = report.tag, .from = report.notice.other};
  other.notice.what = report.notice.other_what;
  other.notice.root = report.notice.other_root;
  other.notice.bytes = report.notice.other_bytes;
  return other;
}

Status failure_of(const Comm& comm, const LoggedCall& mine, const FailureReport& report) {
  const MemberFact peer("peer", member_of(comm, report.from));
  const CallName name(mine.what);
  if ((report.notice.flags & Notice::kFreed) != 0) return fail(MPI_ERR_OTHER, "coll.freed", {peer});
  if ((report.notice.flags & Notice::kRequestFreed) != 0) {
    return fail(MPI_ERR_OTHER, "coll.request_freed",
                {peer, {"collective", name.text}, {"start", mine.start}, {"starts", report.notice.other_bytes}});
  }
  const bool same_call = report.tag == mine.tag;
  if (same_call && !alike(mine, report.notice)) return difference(comm, mine, report.from, report.notice);
  if (same_call && report.notice.other_what < kCollectives) {
    const FailureReport other = other_of(report);
    if (!alike(mine, other.notice)) return difference(comm, mine, other.from, other.notice);
  }
  if (same_call) return fail(report.notice.error_class, "coll.failed_elsewhere", {peer, {"collective", name.text}});
  const CallName failed(static_cast<Collective>(report.notice.what));
  return fail(MPI_ERR_OTHER, "coll.over", {peer, {"collective", name.text}, {"failed", failed.text}});
}

}  // namespace ashlar::coll
