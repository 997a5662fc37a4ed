#include "framework/coll/disagreement.h"

#include <mpi.h>

#include <cctype>
#include <cstdio>
#include <cstring>

#include "framework/base/clock.h"
#include "framework/coll/comm_state.h"
#include "framework/object/group.h"
#include "framework/p2p/wire.h"
#include "framework/progress/lane.h"

// Everything here runs under the lane's lock; the analysis cannot see it through the states.
namespace ashlar::coll {
namespace {

constexpr Tag kNumberMask = Op::kPartTag - 1;

/// "MPI_Allreduce".
struct CallName {
  char text[40];
  explicit CallName(Collective what) {
    const char* const name = name_of(what);
    std::snprintf(text, sizeof text, "MPI_%c%s", std::toupper(static_cast<unsigned char>(name[0])), name + 1);
  }
};

/// "rank 3", of an intercommunicator's other group "rank 3 of the remote group".
struct Member {
  char text[60];
  Member(const Comm& comm, PeerId peer) {
    const Rank rank = comm.remote_group->rank_of(peer);
    if (rank != MPI_UNDEFINED) {
      std::snprintf(text, sizeof text, "rank %d%s", rank, comm.inter ? " of the remote group" : "");
    } else {
      std::snprintf(text, sizeof text, "rank %d of the local group", comm.local_group->rank_of(peer));
    }
  }
};

bool alike(const Called& mine, const Notice& theirs) {
  return theirs.what == static_cast<std::uint8_t>(mine.what) && theirs.root == mine.root &&
         theirs.bytes == static_cast<std::uint64_t>(mine.bytes);
}

/// In what the two calls differ. `at_least`: theirs.bytes is only known to be as large.
Status difference(const Comm& comm, const Called& mine, PeerId from, const Notice& theirs, bool at_least = false) {
  const Member rank(comm, from);
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

/// The call that a reporting rank did not agree with.
Report other_of(const Report& report) {
  Report other{report.tag, report.notice.other, {}};
  other.notice.what = report.notice.other_what;
  other.notice.root = report.notice.other_root;
  other.notice.bytes = report.notice.other_bytes;
  return other;
}

/// What a collective fails with that another rank has reported.
Status reported(const Comm& comm, const Called& mine, const Report& report) {
  if ((report.notice.flags & Notice::kFreed) != 0) {
    return Status::fail(MPI_ERR_OTHER, "%s on '%s' cannot end: %s has freed the communicator without calling it",
                        CallName(mine.what).text, comm.name.c_str(), Member(comm, report.from).text);
  }
  const bool same_call = report.tag == mine.tag;
  if (same_call && !alike(mine, report.notice)) return difference(comm, mine, report.from, report.notice);
  if (same_call && report.notice.other_what < kCollectives) {
    const Report other = other_of(report);
    if (!alike(mine, other.notice)) return difference(comm, mine, other.from, other.notice);
  }
  const Member rank(comm, report.from);
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

Notice notice_of(const Called& called, int error_class, std::uint8_t flags = 0, const Report* by = nullptr) {
  Notice notice;
  notice.bytes = static_cast<std::uint64_t>(called.bytes);
  notice.root = called.root;
  notice.error_class = static_cast<std::uint16_t>(error_class);
  notice.what = static_cast<std::uint8_t>(called.what);
  notice.flags = flags;
  notice.position = called.position;
  if (by == nullptr || by->tag != called.tag || (by->notice.flags & Notice::kFreed) != 0) return notice;
  const Report other = alike(called, by->notice) ? other_of(*by) : *by;
  notice.other = other.from;
  notice.other_what = other.notice.what;
  notice.other_root = other.notice.root;
  notice.other_bytes = other.notice.bytes;
  return notice;
}

void tell_all(Comm& comm, Tag tag, const Notice& notice) ASHLAR_NO_THREAD_SAFETY {
  const auto tell = [&](const Group& group) ASHLAR_NO_THREAD_SAFETY {
    for (Rank rank = 0; rank < group.size(); ++rank)
      if (group[rank] != Group::self_peer)
        p2p::send_notice(*comm.lane, comm.context, group[rank], true, tag, &notice, sizeof notice);
  };
  tell(*comm.remote_group);
  if (comm.inter) tell(*comm.local_group);
}

void end_messages(CommState& state, Tag tag, Tag mask, Status outcome) ASHLAR_NO_THREAD_SAFETY {
  p2p::end_collective(state.comm, tag, mask, outcome);
  if (state.own_group != nullptr) p2p::end_collective(state.own_group->comm, tag, mask, outcome);
}

void set_failed(Called& called, Status why) {
  called.flags |= Called::kFailed;
  called.error_class = static_cast<std::uint16_t>(why.mpi_class());
}

/// This rank has found out that a collective cannot come to its end; `by` is the call that showed it.
void fail_here(CommState& state, Called& called, const Report& by, Status why) {
  if (called.is(Called::kFailed)) return;
  set_failed(called, why);
  state.troubles.latest = by;
  tell_all(state.comm, called.tag, notice_of(called, why.mpi_class(), 0, &by));
  if (!called.is(Called::kOver)) end_messages(state, called.tag, kNumberMask, why);
}

/// Whether the two went through the collective in ways that count the next ones differently.
bool parted(const Called& called, const Notice& theirs) {
  return (theirs.flags & Notice::kFreed) == 0 && called.position != theirs.position;
}

void break_off(CommState& state, const Report& report);

/// Ends the communicator's collectives on all members when two of them have parted.
void check_positions(CommState& state, const Called& called, const Report& report) {
  if (state.troubles.broken || !parted(called, report.notice)) return;
  tell_all(state.comm, called.tag, notice_of(called, MPI_ERR_OTHER, Notice::kBroken, &report));
  break_off(state, report);
}

void break_off(CommState& state, const Report& report) {
  Troubles& troubles = state.troubles;
  if (troubles.broken) return;
  troubles.broken = troubles.any = true;
  troubles.latest = report;
  troubles.latest.notice.flags |= Notice::kBroken;
  state.calls.each_open([&](Called& called) {
    if (called.is(Called::kFailed)) return;
    const Status why = reported(state.comm, called, troubles.latest);
    set_failed(called, why);
    end_messages(state, called.tag, kNumberMask, why);
  });
}

/// The oldest report of this collective that is due at `now_ns`.
bool take_report(Troubles& troubles, Tag tag, std::uint64_t now_ns, Report* report) {
  for (auto at = troubles.reports.begin(); at != troubles.reports.end(); ++at) {
    if (at->tag != tag || at->due_ns > now_ns) continue;
    *report = *at;
    troubles.reports.erase(at);
    troubles.any = troubles.broken || !troubles.reports.empty();
    return true;
  }
  return false;
}

CommState* state_with(LaneRecords& records, std::uint32_t context) {
  for (CommState& state : records.states)
    if (state.comm.context == context) return &state;
  return nullptr;
}

bool not_called_yet(const Comm& comm, Tag tag) {
  const auto ahead = (static_cast<std::uint32_t>(tag) - comm.collective_sequence) & kNumberMask;
  return ahead < static_cast<std::uint32_t>(kNumberMask) / 2;
}

/// Keeps a report of a collective that is open here, or was not called yet. It may come to its end on this rank all the
/// same: only a wait that is still there when the report is due fails with it.
void keep(CommState& state, Report report) ASHLAR_NO_THREAD_SAFETY {
  Lane& lane = *state.comm.lane;
  Troubles& troubles = state.troubles;
  report.due_ns = now_ns() + lane.review_every;
  if (lane.review_by == 0 || report.due_ns < lane.review_by) lane.review_by = report.due_ns;
  if (troubles.reports.size() == Troubles::kMostReports) troubles.reports.erase(troubles.reports.begin());
  troubles.reports.push_back(report);
  troubles.any = true;
}

/// A member still waits in its collective, and says which.
void on_call(CommState& state, const Report& call) ASHLAR_NO_THREAD_SAFETY {
  Called* const mine = state.calls.find(call.tag);
  if (mine == nullptr) return;  // this rank will tell its own call when it waits there
  if (mine->is(Called::kFailed)) {
    const Notice failed = notice_of(*mine, mine->error_class, Notice::kToOne, &state.troubles.latest);
    p2p::send_notice(*state.comm.lane, state.comm.context, call.from, true, call.tag, &failed, sizeof failed);
  } else if (!alike(*mine, call.notice)) {
    fail_here(state, *mine, call, difference(state.comm, *mine, call.from, call.notice));
  }
}

void on_report(CommState& state, const Report& report) {
  if ((report.notice.flags & Notice::kBroken) != 0) return break_off(state, report);
  Called* const mine = state.calls.find(report.tag);
  if (mine == nullptr && !not_called_yet(state.comm, report.tag)) return;
  const bool open = mine == nullptr || !(mine->is(Called::kOver) || mine->is(Called::kFailed));
  if (open && (report.notice.flags & Notice::kToOne) == 0) return keep(state, report);
  if (open) fail_here(state, *mine, report, reported(state.comm, *mine, report));
  check_positions(state, *mine, report);
}

/// The communicator is gone here. A member that waits in a collective which was another one here, or was never called,
/// waits in vain.
void on_call_of_freed(Lane& lane, const Freed& freed, std::uint32_t context,
                      const Report& call) ASHLAR_NO_THREAD_SAFETY {
  for (const Freed::Entry& entry : freed.all()) {
    if (entry.context != context) continue;
    const auto later = (static_cast<std::uint32_t>(call.tag - entry.last.tag)) & kNumberMask;
    const bool never_called = later != 0 && later < static_cast<std::uint32_t>(kNumberMask) / 2;
    if (!never_called && (later != 0 || alike(entry.last, call.notice))) return;
    const std::uint8_t flags = Notice::kToOne | (never_called ? Notice::kFreed : 0);
    const Notice failed = notice_of(entry.last, MPI_ERR_OTHER, flags);
    return p2p::send_notice(lane, context, call.from, true, call.tag, &failed, sizeof failed);
  }
}

void take_notice(Lane& lane, const ashlar_am& am) ASHLAR_NO_THREAD_SAFETY {
  Report report;
  if (am.length != sizeof report.notice || Room::current() == nullptr) return;
  const auto context = static_cast<std::uint32_t>(am.h0 >> 32);
  report.tag = static_cast<Tag>(am.h1 >> 32);
  report.from = am.peer;
  std::memcpy(&report.notice, am.data, sizeof report.notice);
  if (report.notice.what >= kCollectives) return;
  LaneRecords& records = Room::current()->records(lane.index);
  CommState* const state = state_with(records, context);
  const bool asks = am.id == p2p::kCollectiveCall;
  if (state != nullptr) return asks ? on_call(*state, report) : on_report(*state, report);
  if (asks) return on_call_of_freed(lane, records.freed, context, report);
  if (records.early.size() == LaneRecords::kMostEarly) records.early.erase(records.early.begin());
  records.early.push_back({context, report});
}

Status mismatched(Comm& comm, Tag tag, Rank from, p2p::CallWord theirs, std::uint64_t arrived, MPI_Count expected) {
  CommState* const state = comm.coll;
  Called* const mine = state != nullptr ? state->calls.find(tag & kNumberMask) : nullptr;
  if (mine == nullptr) {
    return Status::fail(arrived > static_cast<std::uint64_t>(expected) ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
                        "rank %d sends %llu bytes to rank %d of '%s', which expects %lld", from,
                        static_cast<unsigned long long>(arrived), comm.rank, comm.name.c_str(),
                        static_cast<long long>(expected));
  }
  Report by{mine->tag, (*comm.remote_group)[from], notice_of(*mine, 0)};
  Status why;
  if (theirs.known()) {
    by.notice.what = static_cast<std::uint8_t>(theirs.what());
    by.notice.bytes = theirs.bytes();
    why = difference(comm, *mine, by.from, by.notice, theirs.bytes() == p2p::CallWord::kMostInBrief);
  } else {
    why = Status::fail(arrived > static_cast<std::uint64_t>(expected) ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
                       "the ranks do not agree in %s on '%s': rank %d sends %llu bytes to this rank (%d), which "
                       "expects %lld",
                       CallName(mine->what).text, comm.name.c_str(), from, static_cast<unsigned long long>(arrived),
                       comm.rank, static_cast<long long>(expected));
  }
  if (!mine->is(Called::kUncompared)) fail_here(*state, *mine, by, why);
  return why;
}

/// Tells the ranks beside this one what it called.
void compare(CommState& state, const Called& called) ASHLAR_NO_THREAD_SAFETY {
  Comm& comm = state.comm;
  const Notice notice = notice_of(called, 0);
  const auto tell = [&](const Group& group, Rank rank) ASHLAR_NO_THREAD_SAFETY {
    if (group[rank] != Group::self_peer)
      p2p::send_notice(*comm.lane, comm.context, group[rank], false, called.tag, &notice, sizeof notice);
  };
  if (comm.inter) tell(*comm.remote_group, comm.rank % comm.remote_size);
  tell(*comm.local_group, (comm.rank + 1) % comm.size);
  if (comm.size > 2) tell(*comm.local_group, (comm.rank + comm.size - 1) % comm.size);
}

/// Of a collective that waits.
void review(CommState& state, Called& called, std::uint64_t now) {
  Report report;
  if (state.troubles.any && take_report(state.troubles, called.tag, now, &report)) {
    const Status why = reported(state.comm, called, report);
    set_failed(called, why);
    state.troubles.latest = report;
    end_messages(state, called.tag, kNumberMask, why);
    check_positions(state, called, report);
  } else if (called.is(Called::kSeen) && !called.is(Called::kUncompared | Called::kCompared)) {
    called.flags |= Called::kCompared;
    compare(state, called);
  }
  called.flags |= Called::kSeen;
}

/// A wait on this lane is a long one.
void review_all(Lane& lane) ASHLAR_NO_THREAD_SAFETY {
  if (Room::current() == nullptr) return;
  const std::uint64_t now = now_ns();
  lane.review_by = 0;
  for (CommState& state : Room::current()->records(lane.index).states) {
    state.calls.each_open([&](Called& called) {
      if (!called.is(Called::kFailed)) review(state, called, now);
    });
    for (const Report& left : state.troubles.reports)
      if (lane.review_by == 0 || left.due_ns < lane.review_by) lane.review_by = std::max(left.due_ns, now + 1);
  }
}

constexpr p2p::CollectiveHooks kHooks{mismatched, take_notice};

}  // namespace

void watch(CommState& state) ASHLAR_NO_THREAD_SAFETY {
  Lane& lane = *state.comm.lane;
  p2p::hook_collectives(lane, kHooks);
  const std::uint64_t patience = Room::current()->config.compare_after;
  lane.review_every = patience;
  lane.review = review_all;
  LaneRecords& records = Room::current()->records(lane.index);
  records.states.push_back(&state);
  std::erase_if(records.early, [&](const LaneRecords::Early& early) {
    if (early.context != state.comm.context) return false;
    on_report(state, early.report);
    return true;
  });
}

void unwatch(CommState& state) {
  if (!state.linked()) return;
  List<CommState>::remove(&state);
  if (Room::current() == nullptr) return;
  Freed& freed = Room::current()->records(state.comm.lane->index).freed;
  const Called* const last = state.calls.find(static_cast<Tag>((state.comm.collective_sequence - 1) & kNumberMask));
  if (last == nullptr) return;
  freed.note(state.comm.context, *last);
}

Status may_begin(CommState& state, Called& called) {
  if (!state.troubles.broken) return {};
  const Status why = reported(state.comm, called, state.troubles.latest);
  set_failed(called, why);
  return why;
}

void left(CommState& state, Tag tag, Status outcome) {
  Called* const called = state.calls.find(tag);
  if (called == nullptr) return;
  called->flags |= Called::kOver;
  if (!outcome.ok() && !called->is(Called::kUncompared)) fail_here(state, *called, {}, outcome);
  Report report;
  if (state.troubles.any && take_report(state.troubles, tag, ~std::uint64_t{0}, &report))
    check_positions(state, *called, report);
}

Status can_go_on(CommState& state, Tag tag) {
  const Called* const called = state.calls.find(tag & kNumberMask);
  if (called == nullptr || !called->is(Called::kFailed)) return {};
  return reported(state.comm, *called, state.troubles.latest);
}

}  // namespace ashlar::coll
