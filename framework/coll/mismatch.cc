#include "framework/coll/mismatch.h"

#include <mpi.h>

#include <algorithm>
#include <cstring>

#include "framework/base/clock.h"
#include "framework/coll/comm_state.h"
#include "framework/coll/lane_collectives.h"
#include "framework/coll/mismatch_text.h"
#include "framework/object/group.h"
#include "framework/p2p/wire.h"
#include "framework/progress/lane.h"

// Everything here runs under the lane's lock; the analysis cannot see it through the states.
namespace ashlar::coll {
namespace {

constexpr Tag kNumberMask = Op::kPartTag - 1;

/// A notice about a call of this rank. `by`: the report or call that ended it, for the call of a third rank.
Notice notice_of(const LoggedCall& called, int error_class, std::uint8_t flags = 0, const FailureReport* by = nullptr) {
  Notice notice;
  notice.bytes = static_cast<std::uint64_t>(called.bytes);
  notice.root = called.root;
  notice.error_class = static_cast<std::uint16_t>(error_class);
  notice.what = static_cast<std::uint8_t>(called.what);
  notice.flags = flags;
  notice.position = called.position;
  notice.start = called.start;
  if (by == nullptr || by->tag != called.tag || (by->notice.flags & Notice::kFreed) != 0) return notice;
  const FailureReport other = alike(called, by->notice) ? other_of(*by) : *by;
  notice.other = other.from;
  notice.other_what = other.notice.what;
  notice.other_root = other.notice.root;
  notice.other_bytes = other.notice.bytes;
  return notice;
}

void notify_all(Comm& comm, Tag tag, const Notice& notice) ASHLAR_NO_THREAD_SAFETY {
  const auto notify = [&](const Group& group) ASHLAR_NO_THREAD_SAFETY {
    for (Rank rank = 0; rank < group.size(); ++rank)
      if (group[rank] != Group::self_peer)
        p2p::send_notice(*comm.lane, comm.context, group[rank], true, tag, &notice, sizeof notice);
  };
  notify(*comm.remote_group);
  if (comm.inter) notify(*comm.local_group);
}

void end_messages(CommState& state, Tag tag, Tag mask, Status outcome) ASHLAR_NO_THREAD_SAFETY {
  p2p::end_collective(state.comm, tag, mask, outcome);
  if (state.own_group != nullptr) p2p::end_collective(state.own_group->comm, tag, mask, outcome);
}

void set_failed(LoggedCall& called, Status why) {
  called.flags |= LoggedCall::kFailed;
  called.error_class = static_cast<std::uint16_t>(why.mpi_class());
}

Counters& counters_of(CommState& state) ASHLAR_NO_THREAD_SAFETY { return state.comm.lane->coll->counters; }

/// Ends a collective that cannot complete, here and on every member; `by` is the call that showed it.
void fail_here(CommState& state, LoggedCall& called, const FailureReport& by, Status why) {
  if (called.is(LoggedCall::kFailed)) return;
  set_failed(called, why);
  counters_of(state).failed.add();
  state.failures.latest = by;
  notify_all(state.comm, called.tag, notice_of(called, why.mpi_class(), 0, &by));
  if (!called.is(LoggedCall::kOver)) end_messages(state, called.tag, kNumberMask, why);
}

/// Whether the two ranks count later collectives differently.
bool positions_differ(const LoggedCall& called, const Notice& theirs) {
  return (theirs.flags & Notice::kFreed) == 0 && called.position != theirs.position;
}

/// Of a communicator on several nodes the ranks of each count for themselves, as they share memory.
bool counts_alone(const CommState& state) { return !state.comm.inter && state.plan->shape.nodes > 1; }

/// Calls visit(rank) for the other ranks of this node.
template <class Visit>
void each_of_node(const CommState& state, Visit visit) {
  const Comm& comm = state.comm;
  const std::vector<std::uint32_t> nodes = state.engine.nodes_of(*comm.local_group);
  for (Rank rank = 0; rank < comm.size; ++rank)
    if (rank != comm.rank && nodes[static_cast<std::size_t>(rank)] == nodes[static_cast<std::size_t>(comm.rank)])
      visit(rank);
}

bool counts_with(const CommState& state, PeerId other) {
  if (!counts_alone(state)) return true;
  bool of_node = false;
  each_of_node(state, [&](Rank rank) { of_node = of_node || (*state.comm.local_group)[rank] == other; });
  return of_node;
}

void break_collectives(CommState& state, const FailureReport& report);

/// Ends the communicator's collectives on all members when two of them count later ones differently.
void check_positions(CommState& state, const LoggedCall& called, const FailureReport& report) {
  if (state.failures.broken || !positions_differ(called, report.notice) || !counts_with(state, report.from)) return;
  notify_all(state.comm, called.tag, notice_of(called, MPI_ERR_OTHER, Notice::kBroken, &report));
  break_collectives(state, report);
}

void break_collectives(CommState& state, const FailureReport& report) {
  FailureReports& failures = state.failures;
  if (failures.broken) return;
  failures.broken = failures.any = true;
  failures.latest = report;
  failures.latest.notice.flags |= Notice::kBroken;
  state.calls.each_open([&](LoggedCall& called) {
    if (called.is(LoggedCall::kFailed)) return;
    const Status why = failure_of(state.comm, called, failures.latest);
    set_failed(called, why);
    end_messages(state, called.tag, kNumberMask, why);
  });
}

/// After a report of a rank that counts for itself, the ranks of this node, which may have completed the collective,
/// compare their positions among each other.
void tell_node(CommState& state, const LoggedCall& called, const FailureReport& report) ASHLAR_NO_THREAD_SAFETY {
  if (!counts_alone(state) || counts_with(state, report.from)) return;
  Comm& comm = state.comm;
  const Notice notice = notice_of(called, called.error_class, 0, &report);
  each_of_node(state, [&](Rank rank) ASHLAR_NO_THREAD_SAFETY {
    p2p::send_notice(*comm.lane, comm.context, (*comm.local_group)[rank], true, called.tag, &notice, sizeof notice);
  });
}

/// How many starts of a persistent collective a notice is ahead of this rank; 0 for all other collectives.
std::int32_t starts_ahead(const LoggedCall& mine, const Notice& theirs) {
  return static_cast<std::int32_t>(theirs.start - mine.start);
}

bool is_of(const FailureReport& report, const LoggedCall& called) {
  return report.tag == called.tag && starts_ahead(called, report.notice) == 0;
}

/// The oldest report of this collective that is due at `now_ns`.
bool take_report(FailureReports& failures, const LoggedCall& called, std::uint64_t now_ns, FailureReport* report) {
  for (auto at = failures.kept.begin(); at != failures.kept.end(); ++at) {
    if (!is_of(*at, called) || at->due_ns > now_ns) continue;
    *report = *at;
    failures.kept.erase(at);
    failures.update_any();
    return true;
  }
  return false;
}

CommState* find_state(LaneCollectives& lane, std::uint32_t context) {
  for (CommState& state : lane.states)
    if (state.comm.context == context) return &state;
  return nullptr;
}

bool not_called_yet(const Comm& comm, Tag tag) {
  const auto ahead = (static_cast<std::uint32_t>(tag) - comm.collective_sequence) & kNumberMask;
  return ahead < static_cast<std::uint32_t>(kNumberMask) / 2;
}

/// Has the lane review its waits when a report is due.
void review_when_due(CommState& state, const FailureReport& report, std::uint64_t now = 0) ASHLAR_NO_THREAD_SAFETY {
  Lane& lane = *state.comm.lane;
  const std::uint64_t due = std::max(report.due_ns, now + 1);
  if (lane.review_by == 0 || due < lane.review_by) lane.review_by = due;
}

template <class Kept>
void keep(std::vector<Kept>& list, std::size_t most, Counters& counters, const Kept& one) {
  if (list.size() == most) {
    list.erase(list.begin());
    counters.reports_dropped.add();
  }
  list.push_back(one);
}

/// Keeps a report of a collective that is open here, or was not called yet. The collective may complete on this rank
/// nevertheless: only a wait that is still there when the report is due fails with it.
void keep_report(CommState& state, FailureReport report) ASHLAR_NO_THREAD_SAFETY {
  FailureReports& failures = state.failures;
  report.due_ns = now_ns() + state.comm.lane->review_every;
  review_when_due(state, report);
  keep(failures.kept, FailureReports::kMost, counters_of(state), report);
  counters_of(state).reports_kept.add();
  failures.any = true;
}

/// Keeps the call of a member that waits in what this rank has not called, or not started, yet.
void keep_call(CommState& state, const FailureReport& call) {
  keep(state.failures.asked, FailureReports::kMost, counters_of(state), call);
  state.failures.any = true;
}

/// Answers a member that waits: its collective, in this start of it, cannot complete.
void answer(CommState& state, const FailureReport& call, Notice failed) ASHLAR_NO_THREAD_SAFETY {
  failed.start = call.notice.start;
  counters_of(state).answers.add();
  p2p::send_notice(*state.comm.lane, state.comm.context, call.from, true, call.tag, &failed, sizeof failed);
}

/// Answers a member that waits in a further start of a persistent collective than this rank will ever start.
void answer_of_freed_request(CommState& state, const FailureReport& call, const LoggedCall& mine) {
  Notice freed = notice_of(mine, MPI_ERR_OTHER, Notice::kToOne | Notice::kRequestFreed);
  freed.other_bytes = mine.start;
  answer(state, call, freed);
}

/// The last collective that this rank has called on a communicator.
FreedComms::FreedComm last_call(const Comm& comm) {
  const auto number = static_cast<Tag>((comm.collective_sequence - 1) & kNumberMask);
  const LoggedCall* const last = comm.coll != nullptr ? comm.coll->calls.find(number) : nullptr;
  return {.context = comm.context, .number = number, .last = last != nullptr ? *last : LoggedCall{}};
}

/// Answers a member that waits on a communicator which this rank has freed, if its call was another one here, or was
/// never made here.
void answer_of_freed(Lane& lane, const FreedComms::FreedComm& freed,
                     const FailureReport& call) ASHLAR_NO_THREAD_SAFETY {
  const auto later = (static_cast<std::uint32_t>(call.tag - freed.number)) & kNumberMask;
  const bool never_called = later != 0 && later < static_cast<std::uint32_t>(kNumberMask) / 2;
  const bool logged = freed.last.tag == freed.number;
  if (!never_called && (later != 0 || !logged || alike(freed.last, call.notice))) return;
  const std::uint8_t flags = Notice::kToOne | (never_called ? Notice::kFreed : 0);
  const Notice failed = notice_of(freed.last, MPI_ERR_OTHER, flags);
  p2p::send_notice(lane, freed.context, call.from, true, call.tag, &failed, sizeof failed);
}

/// Takes kCollectiveCall: a member that waits has sent its call. All starts of a persistent collective have the same
/// arguments, so those are compared whatever the starts; which start this rank is in says whether it will come to the
/// member's.
void on_call(CommState& state, const FailureReport& call) {
  LoggedCall* const mine = state.calls.find(call.tag);
  if (mine == nullptr) {
    if (state.comm.left) return answer_of_freed(*state.comm.lane, last_call(state.comm), call);
    // This rank sends its own call if it waits there. But it may not have to wait, or free the communicator instead.
    if (not_called_yet(state.comm, call.tag)) keep_call(state, call);
    return;
  }
  const std::int32_t ahead = starts_ahead(*mine, call.notice);
  if (ahead == 0 && mine->is(LoggedCall::kFailed)) {
    answer(state, call, notice_of(*mine, mine->error_class, Notice::kToOne, &state.failures.latest));
  } else if (!alike(*mine, call.notice)) {
    if (ahead == 0 && mine->is(LoggedCall::kUncompared)) return;  // check.collectives tells it, to all ranks
    if (ahead == 0) return fail_here(state, *mine, call, difference(state.comm, *mine, call.from, call.notice));
    answer(state, call, notice_of(*mine, MPI_ERR_OTHER, Notice::kToOne));
  } else if (ahead > 0 && mine->is(LoggedCall::kRequestFreed)) {
    answer_of_freed_request(state, call, *mine);
  } else if (ahead > 0) {
    keep_call(state, call);
  }
}

/// Compares what members that waited have called with a call that this rank has made since, and that is over here.
void compare_asked(CommState& state, Tag tag) {
  FailureReports& failures = state.failures;
  std::vector<FailureReport> calls;
  std::erase_if(failures.asked, [&](const FailureReport& call) {
    if (call.tag == tag) calls.push_back(call);
    return call.tag == tag;
  });
  failures.update_any();
  for (const FailureReport& call : calls) on_call(state, call);
}

/// Takes kCollectiveFailed.
void on_report(CommState& state, const FailureReport& report) {
  if ((report.notice.flags & Notice::kBroken) != 0) return break_collectives(state, report);
  LoggedCall* const mine = state.calls.find(report.tag);
  if (mine == nullptr && !not_called_yet(state.comm, report.tag)) return;
  const std::int32_t ahead = mine != nullptr ? starts_ahead(*mine, report.notice) : 0;
  if (ahead < 0) return;  // of a start that is over here
  if (ahead > 0) {
    if (!mine->is(LoggedCall::kRequestFreed)) keep_report(state, report);
    return;
  }
  const bool open = mine == nullptr || !(mine->is(LoggedCall::kOver) || mine->is(LoggedCall::kFailed));
  if (open && (report.notice.flags & Notice::kToOne) == 0) return keep_report(state, report);
  if (open) fail_here(state, *mine, report, failure_of(state.comm, *mine, report));
  check_positions(state, *mine, report);
}

/// Takes what is about a communicator that has no state: none yet, none any more, or none for ever.
void on_stateless(Lane& lane, const EarlyReport& early) ASHLAR_NO_THREAD_SAFETY {
  LaneCollectives& own = *lane.coll;
  for (const FreedComms::FreedComm& freed : own.freed.all()) {
    if (freed.context != early.context) continue;
    if (early.asks) answer_of_freed(lane, freed, early.report);
    return;
  }
  keep(own.early, EarlyReport::kMost, own.counters, early);
}

void take_notice(Lane& lane, const ashlar_am& am) ASHLAR_NO_THREAD_SAFETY {
  FailureReport report;
  if (am.length != sizeof report.notice) return;
  const auto context = static_cast<std::uint32_t>(am.h0 >> 32);
  report.tag = static_cast<Tag>(am.h1 >> 32);
  report.from = am.peer;
  std::memcpy(&report.notice, am.data, sizeof report.notice);
  if (report.notice.what >= kCollectives) return;
  LaneCollectives& own = *lane.coll;
  CommState* const state = find_state(own, context);
  const bool asks = am.id == p2p::kCollectiveCall;
  if (state != nullptr) return asks ? on_call(*state, report) : on_report(*state, report);
  on_stateless(lane, {.context = context, .asks = asks, .report = report});
}

/// CollectiveHooks::mismatched.
Status on_mismatch(Comm& comm, Tag tag, Rank from, p2p::CallSignature theirs, std::uint64_t arrived,
                   MPI_Count expected) {
  CommState* const state = comm.coll;
  LoggedCall* const mine = state != nullptr ? state->calls.find(tag & kNumberMask) : nullptr;
  const auto sent = static_cast<MPI_Count>(arrived);
  if (mine == nullptr) return sizes_differ(from, sent, comm.rank, expected);
  FailureReport by{.tag = mine->tag, .from = (*comm.remote_group)[from], .notice = notice_of(*mine, 0)};
  Status why;
  if (theirs.known()) {
    by.notice.what = static_cast<std::uint8_t>(theirs.what());
    by.notice.bytes = theirs.bytes();
    why = difference(comm, *mine, by.from, by.notice, theirs.bytes() == p2p::CallSignature::kMostInBrief);
  } else {
    why = sizes_differ(from, sent, comm.rank, expected);
  }
  if (!mine->is(LoggedCall::kUncompared)) fail_here(*state, *mine, by, why);
  return why;
}

/// Sends this rank's call to the neighbouring ranks, which compare it with theirs.
void send_call(CommState& state, const LoggedCall& called) ASHLAR_NO_THREAD_SAFETY {
  Comm& comm = state.comm;
  const Notice notice = notice_of(called, 0);
  const auto send = [&](const Group& group, Rank rank) ASHLAR_NO_THREAD_SAFETY {
    if (group[rank] != Group::self_peer)
      p2p::send_notice(*comm.lane, comm.context, group[rank], false, called.tag, &notice, sizeof notice);
  };
  if (comm.inter) send(*comm.remote_group, comm.rank % comm.remote_size);
  send(*comm.local_group, (comm.rank + 1) % comm.size);
  if (comm.size > 2) send(*comm.local_group, (comm.rank + comm.size - 1) % comm.size);
}

/// Fails a collective that waits with a report that is due; else, from its second review on, has the neighbours compare
/// it.
void review(CommState& state, LoggedCall& called, std::uint64_t now) {
  FailureReport report;
  if (state.failures.any && take_report(state.failures, called, now, &report)) {
    const Status why = failure_of(state.comm, called, report);
    set_failed(called, why);
    state.failures.latest = report;
    end_messages(state, called.tag, kNumberMask, why);
    check_positions(state, called, report);
    tell_node(state, called, report);
  } else if (called.is(LoggedCall::kSeen) && !called.is(LoggedCall::kCompared)) {
    // With check.collectives too: a neighbour that has freed the communicator never comes to the check.
    called.flags |= LoggedCall::kCompared;
    send_call(state, called);
  }
  called.flags |= LoggedCall::kSeen;
}

/// Lane::review: a wait on this lane is a long one.
void review_all(Lane& lane) ASHLAR_NO_THREAD_SAFETY {
  const std::uint64_t now = now_ns();
  lane.review_by = 0;
  for (CommState& state : lane.coll->states) {
    state.calls.each_open([&](LoggedCall& called) {
      if (!called.is(LoggedCall::kFailed)) review(state, called, now);
    });
    // Reports of collectives that are not open here have nothing to end, and must not keep this lane from sleeping.
    for (const FailureReport& left : state.failures.kept) {
      const LoggedCall* const called = state.calls.find(left.tag);
      if (called != nullptr && is_of(left, *called) && !called->is(LoggedCall::kOver | LoggedCall::kFailed))
        review_when_due(state, left, now);
    }
  }
}

constexpr p2p::CollectiveHooks kHooks{.mismatched = on_mismatch, .notice = take_notice};

}  // namespace

void add_to_lane(CommState& state) ASHLAR_NO_THREAD_SAFETY {
  Lane& lane = *state.comm.lane;
  p2p::hook_collectives(lane, kHooks);
  lane.review_every = lane.coll->compare_after;
  lane.review = review_all;
  lane.coll->states.push_back(&state);
  std::erase_if(lane.coll->early, [&](const EarlyReport& early) {
    if (early.context != state.comm.context) return false;
    early.asks ? on_call(state, early.report) : on_report(state, early.report);
    return true;
  });
}

void leave_on_lane(Comm& comm) ASHLAR_NO_THREAD_SAFETY {
  Lane& lane = *comm.lane;
  if (comm.left || lane.coll == nullptr) return;
  comm.left = true;
  CommState* const state = comm.coll;
  const FreedComms::FreedComm& freed = lane.coll->freed.add(last_call(comm));
  if (state != nullptr) {
    for (const FailureReport& call : state->failures.asked) answer_of_freed(lane, freed, call);
    state->failures.asked.clear();
    state->failures.update_any();
  }
  std::erase_if(lane.coll->early, [&](const EarlyReport& early) {
    if (early.context != comm.context) return false;
    if (early.asks) answer_of_freed(lane, freed, early.report);
    return true;
  });
}

void remove_from_lane(Comm& comm) ASHLAR_NO_THREAD_SAFETY {
  leave_on_lane(comm);
  if (comm.coll != nullptr && comm.coll->linked()) List<CommState>::remove(comm.coll);
}

Status may_begin(CommState& state, LoggedCall& called) {
  for (const FailureReport& report : state.failures.kept)
    if (is_of(report, called)) review_when_due(state, report);
  if (!state.failures.broken) return {};
  const Status why = failure_of(state.comm, called, state.failures.latest);
  set_failed(called, why);
  return why;
}

void end_call(CommState& state, Tag tag, Status outcome) {
  LoggedCall* const called = state.calls.find(tag);
  if (called == nullptr) return;
  called->flags |= LoggedCall::kOver;
  if (!outcome.ok() && !called->is(LoggedCall::kUncompared)) fail_here(state, *called, {}, outcome);
  FailureReport report;
  while (state.failures.any && take_report(state.failures, *called, ~std::uint64_t{0}, &report))
    check_positions(state, *called, report);
  if (!state.failures.asked.empty()) compare_asked(state, tag);
}

void log_request(CommState& state, Tag tag, const Call& call) {
  state.enter(tag, call, state.engine.checks.any()).flags |= LoggedCall::kOver;
}

void log_request_freed(CommState& state, Tag tag) {
  LoggedCall* const called = state.calls.find(tag);
  FailureReports& failures = state.failures;
  if (called != nullptr) called->flags |= LoggedCall::kRequestFreed;
  std::erase_if(failures.asked, [&](const FailureReport& call) {
    if (call.tag != tag) return false;
    if (called != nullptr && starts_ahead(*called, call.notice) > 0) answer_of_freed_request(state, call, *called);
    return true;
  });
  std::erase_if(failures.kept, [tag](const FailureReport& report) { return report.tag == tag; });
  failures.update_any();
}

Status can_go_on(CommState& state, Tag tag) {
  const LoggedCall* const called = state.calls.find(tag & kNumberMask);
  if (called == nullptr || !called->is(LoggedCall::kFailed)) return {};
  return failure_of(state.comm, *called, state.failures.latest);
}

}  // namespace ashlar::coll
