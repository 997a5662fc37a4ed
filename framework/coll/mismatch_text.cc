#include "framework/coll/mismatch_text.h"

#include <mpi.h>

#include <cctype>
#include <cstdio>

#include "framework/object/comm.h"
#include "framework/object/group.h"

namespace ashlar::coll {
namespace {

/// "rank 3", of an intercommunicator's other group "rank 3 of the remote group".
struct MemberName {
  char text[60];
  MemberName(const Comm& comm, PeerId peer) {
    const Rank rank = comm.remote_group->rank_of(peer);
    if (rank != MPI_UNDEFINED) {
      std::snprintf(text, sizeof text, "rank %d%s", rank, comm.inter ? " of the remote group" : "");
    } else {
      std::snprintf(text, sizeof text, "rank %d of the local group", comm.local_group->rank_of(peer));
    }
  }
};

}  // namespace

CallName::CallName(Collective what) {
  const char* const name = name_of(what);
  std::snprintf(text, sizeof text, "MPI_%c%s", std::toupper(static_cast<unsigned char>(name[0])), name + 1);
}

Status difference(const Comm& comm, const LoggedCall& mine, PeerId from, const Notice& theirs, bool at_least) {
  const MemberName rank(comm, from);
  const CallName here(mine.what), there(static_cast<Collective>(theirs.what));
  if (theirs.what != static_cast<std::uint8_t>(mine.what)) {
    return Status::fail(MPI_ERR_OTHER,
                        "the ranks are in different collectives on '%s': %s called %s, this rank (%d) %s; collectives "
                        "are called in the same order by all ranks of a communicator",
                        comm.name.c_str(), rank.text, there.text, comm.rank, here.text);
  }
  if (theirs.root != mine.root) {
    return Status::fail(MPI_ERR_ROOT, "the ranks do not agree in %s on '%s': %s passed root %d, this rank (%d) root %d",
                        here.text, comm.name.c_str(), rank.text, theirs.root, comm.rank, mine.root);
  }
  return Status::fail(theirs.bytes > static_cast<std::uint64_t>(mine.bytes) ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
                      "the ranks do not agree in %s on '%s': %s passed %s%llu bytes (%s), this rank (%d) %lld",
                      here.text, comm.name.c_str(), rank.text, at_least ? "at least " : "",
                      static_cast<unsigned long long>(theirs.bytes), quantity_of(mine.what), comm.rank,
                      static_cast<long long>(mine.bytes));
}

FailureReport other_of(const FailureReport& report) {
  FailureReport other{.tag = report.tag, .from = report.notice.other};
  other.notice.what = report.notice.other_what;
  other.notice.root = report.notice.other_root;
  other.notice.bytes = report.notice.other_bytes;
  return other;
}

Status failure_of(const Comm& comm, const LoggedCall& mine, const FailureReport& report) {
  if ((report.notice.flags & Notice::kFreed) != 0) {
    return Status::fail(MPI_ERR_OTHER, "%s on '%s' cannot end: %s has freed the communicator without calling it",
                        CallName(mine.what).text, comm.name.c_str(), MemberName(comm, report.from).text);
  }
  if ((report.notice.flags & Notice::kRequestFreed) != 0) {
    return Status::fail(MPI_ERR_OTHER,
                        "start %u of a persistent %s on '%s' cannot end: %s has started it %llu times and freed its "
                        "request",
                        mine.start, CallName(mine.what).text, comm.name.c_str(), MemberName(comm, report.from).text,
                        static_cast<unsigned long long>(report.notice.other_bytes));
  }
  const bool same_call = report.tag == mine.tag;
  if (same_call && !alike(mine, report.notice)) return difference(comm, mine, report.from, report.notice);
  if (same_call && report.notice.other_what < kCollectives) {
    const FailureReport other = other_of(report);
    if (!alike(mine, other.notice)) return difference(comm, mine, other.from, other.notice);
  }
  const MemberName rank(comm, report.from);
  const CallName name(mine.what), failed(static_cast<Collective>(report.notice.what));
  if (!same_call) {
    return Status::fail(MPI_ERR_OTHER,
                        "%s cannot be called on '%s' any more: the ranks did not agree in an earlier collective (%s on "
                        "%s); a duplicate of the communicator can be used",
                        name.text, comm.name.c_str(), failed.text, rank.text);
  }
  return Status::fail(report.notice.error_class, "%s on '%s' failed on %s, which says why", name.text,
                      comm.name.c_str(), rank.text);
}

Status wrong_size(const Comm& comm, const LoggedCall* mine, Rank from, std::uint64_t arrived, MPI_Count expected) {
  const int error_class = arrived > static_cast<std::uint64_t>(expected) ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT;
  if (mine == nullptr) {
    return Status::fail(error_class, "rank %d sends %llu bytes to rank %d of '%s', which expects %lld", from,
                        static_cast<unsigned long long>(arrived), comm.rank, comm.name.c_str(),
                        static_cast<long long>(expected));
  }
  return Status::fail(error_class,
                      "the ranks do not agree in %s on '%s': rank %d sends %llu bytes to this rank (%d), which "
                      "expects %lld",
                      CallName(mine->what).text, comm.name.c_str(), from, static_cast<unsigned long long>(arrived),
                      comm.rank, static_cast<long long>(expected));
}

}  // namespace ashlar::coll
