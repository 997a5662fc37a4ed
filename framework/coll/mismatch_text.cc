#include "framework/coll/mismatch_text.h"

#include <mpi.h>

#include <cctype>
#include <cstdio>

#include "framework/base/failure.h"
#include "framework/object/comm.h"
#include "framework/object/group.h"

namespace ashlar::coll {
namespace {

/// The rank of a member as a fact: a number, or "3 of the remote group" of an intercommunicator.
class MemberFact {
 public:
  MemberFact(const char* name, const Comm& comm, PeerId member)
      : name_(name), rank_(comm.remote_group->rank_of(member)) {
    if (!comm.inter) return;
    const bool remote = rank_ != MPI_UNDEFINED;
    std::snprintf(text_, sizeof text_, "%d of the %s group", remote ? rank_ : comm.local_group->rank_of(member),
                  remote ? "remote" : "local");
  }
  operator Fact() const { return *text_ != '\0' ? Fact(name_, text_) : Fact(name_, rank_); }

 private:
  const char* const name_;
  const Rank rank_;
  char text_[48] = "";
};

}  // namespace

CallName::CallName(Collective what) {
  const char* const name = name_of(what);
  std::snprintf(text, sizeof text, "MPI_%c%s", std::toupper(static_cast<unsigned char>(name[0])), name + 1);
}

Status difference(const Comm& comm, const LoggedCall& mine, PeerId from, const Notice& theirs, bool at_least) {
  const MemberFact peer("peer", comm, from);
  if (theirs.what != static_cast<std::uint8_t>(mine.what)) {
    return fail(
        MPI_ERR_OTHER, "coll.other_collective",
        {peer, {"theirs", CallName(static_cast<Collective>(theirs.what)).text}, {"mine", CallName(mine.what).text}});
  }
  if (theirs.root != mine.root)
    return fail(MPI_ERR_ROOT, "coll.other_root", {peer, {"theirs", theirs.root}, {"mine", mine.root}});
  char bytes[40];
  std::snprintf(bytes, sizeof bytes, "%s%llu", at_least ? "at least " : "",
                static_cast<unsigned long long>(theirs.bytes));
  return fail(theirs.bytes > static_cast<std::uint64_t>(mine.bytes) ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
              "coll.other_bytes",
              {peer, {"theirs", bytes}, {"quantity", quantity_of(mine.what)}, {"mine", mine.bytes}});
}

FailureReport other_of(const FailureReport& report) {
  FailureReport other{.tag = report.tag, .from = report.notice.other};
  other.notice.what = report.notice.other_what;
  other.notice.root = report.notice.other_root;
  other.notice.bytes = report.notice.other_bytes;
  return other;
}

Status failure_of(const Comm& comm, const LoggedCall& mine, const FailureReport& report) {
  const MemberFact peer("peer", comm, report.from);
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

Status wrong_size(const Comm& comm, Rank from, std::uint64_t arrived, MPI_Count expected) {
  return fail(arrived > static_cast<std::uint64_t>(expected) ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT, "coll.other_block",
              {{"sender", from}, {"bytes_got", arrived}, {"receiver", comm.rank}, {"bytes_wanted", expected}});
}

}  // namespace ashlar::coll
