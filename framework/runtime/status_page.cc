// What a process says about what it is doing, on a page that others can read at any time: the answer to a status query,
// when it last got on, and the newest of its waits. Of a rank that computes, the last two are all that is known.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <new>

#include "framework/base/catalogue.h"
#include "framework/base/clock.h"
#include "framework/object/comm.h"
#include "framework/p2p/setup.h"
#include "framework/plugin/account.h"
#include "framework/plugin/launch.h"
#include "framework/plugin/launch_board.h"
#include "framework/plugin/variables.h"
#include "framework/progress/lane.h"
#include "framework/progress/waiting.h"
#include "framework/runtime/events.h"
#include "framework/runtime/other_jobs.h"
#include "framework/runtime/process.h"

namespace ashlar {
namespace {

// A record of a wait costs a microsecond or two. The next one comes so many times as much later.
constexpr std::uint64_t kRecordShare = 256;

// A program that looks in vain so often in a row does not get on.
constexpr std::uint32_t kVainLooks = 2000;

// Where each rank reports its own waits, the first ones of a job speak for all: a thousand reports say no more.
constexpr std::uint32_t kMostThatReport = 16;

}  // namespace

// PeerTable calls it in a round of progress, under the lane's lock.
void Process::look_at_news(void* self, Lane& lane) {
  auto& process = *static_cast<Process*>(self);
  process.take_left_values();
  process.look_for_failed_ranks();
  if (process.other_jobs_) process.other_jobs_->watch(lane);
  if (process.answers_queries_)
    answer_query(self, lane);
  else if (process.job->ranks > 1)
    report_long_wait(self, lane);
}

// PeerTable calls it in a round of progress and when a wait leaves its spin stage, under the lane's lock; the locks of
// the other lanes are taken in a loop. The analysis can express neither.
void Process::answer_query(void* self, Lane& lane) ASHLAR_NO_THREAD_SAFETY {
  auto& process = *static_cast<Process*>(self);
  // One lane answers for all; those that others hold right now are left out of this answer.
  const std::unique_lock guard(process.status_.writing, std::try_to_lock);
  if (!guard) return;
  const bool asked = process.launch->ops->asked(process.launch) != 0;
  process.publish_progress(lane);
  process.look_for_stalls(lane, false);
  if (asked)
    process.write_status(lane);
  else
    process.record_wait(lane);
  process.write_variables();
}

/// Tells the variables of this process, if that is asked. Without threads a lane's lock is none, and all can be read.
void Process::write_variables() {
  const ashlar_launch_ops& ops = *launch->ops;
  if (ops.size <= offsetof(ashlar_launch_ops, variables) || !ops.variables || !ops.variables_asked(launch)) return;
  const std::unique_ptr<char[]> text(new (std::nothrow) char[launch::kVariablesBytes]);
  if (text == nullptr) return;  // the asker hears nothing in its time
  plugin::VariablesWriter writer(text.get(), launch::kVariablesBytes - sizeof(launch::BoardVariables));
  writer.program_settings();
  writer.pvars(LaneLock::threads_on());
  const std::size_t bytes = writer.finish();
  counters_.queries.add();
  counters_.query_bytes.add(bytes);
  if (event::heard(runtime::query_answered)) [[unlikely]]
    event::raise(runtime::query_answered, nullptr, {0, bytes});
  ops.variables(launch, text.get(), bytes);
}

void Process::write_status(Lane& lane) ASHLAR_NO_THREAD_SAFETY {
  char text[launch::kAccountBytes];
  plugin::AccountWriter account(text, sizeof text);
  if (leaving_) account.finalizing();
  if (world) account.has_begun(world->context, world->collective_sequence);
  p2p::account_for(lane, account);
  for (const auto& other : lanes_) {
    if (other.get() == &lane || !other->lock.try_lock()) continue;
    p2p::account_for(*other, account);
    other->lock.unlock();
  }
  const std::size_t bytes = account.finish();
  counters_.queries.add();
  counters_.query_bytes.add(bytes);
  if (event::heard(runtime::query_answered)) [[unlikely]]
    event::raise(runtime::query_answered, nullptr, {account.waits() ? 1u : 0u, bytes});
  launch->ops->answer(launch, text, bytes, account.waits() || leaving_);
}

/// A wait that is registered tells since when nothing has happened in it. Without one, the round of progress that
/// brings us here belongs to a call that has just begun, or to one of many that look in vain.
void Process::publish_progress(Lane& lane) ASHLAR_NO_THREAD_SAFETY {
  const ashlar_launch_ops& ops = *launch->ops;
  if (ops.size <= offsetof(ashlar_launch_ops, moved) || !ops.moved) return;
  bool waits = leaving_;
  for (const progress::Waiting& waiting : lane.waits) {
    status_.moved_ns = std::max(status_.moved_ns, waiting.quiet_since());
    waits = true;
  }
  for (const auto& other : lanes_) waits = waits || (other.get() != &lane && other->attended.load() != 0);
  // The background thread's rounds belong to no call.
  if (!waits && !progress_config_.thread && lane.empty_looks < kVainLooks) status_.moved_ns = now_ns();
  ops.moved(launch, status_.moved_ns, waits ? 1 : 0);
}

/// Keeps the newest wait on the page. The process may leave MPI after it and compute, and then answers nothing; what it
/// last waited for says how far it has come.
void Process::record_wait(Lane& lane) ASHLAR_NO_THREAD_SAFETY {
  const ashlar_launch_ops& ops = *launch->ops;
  if (ops.size <= offsetof(ashlar_launch_ops, waits) || !ops.waits) return;
  const progress::Waiting* const newest = lane.waits.back();
  if (newest == nullptr || newest->reason().tell == nullptr) return;
  if (newest->since() <= status_.recorded_ns || newest->since() < status_.next_record_ns) return;
  status_.recorded_ns = newest->since();
  char text[launch::kWaitBytes];
  plugin::AccountWriter account(text, sizeof text);
  const std::uint64_t began = now_ns();
  p2p::account_for(lane, *newest, account);
  ops.waits(launch, text, account.finish());
  const std::uint64_t ended = now_ns();
  status_.next_record_ns = ended + kRecordShare * (ended - began);
}

/// What a wait that has become a stall waits for, in the fields of the event.
void Process::note_stall(const progress::Waiting& waiting, const plugin::Account& account) {
  counters_.stalls.add();
  if (!event::heard(runtime::stall_seen)) return;
  const std::uint64_t quiet_ns = now_ns() - waiting.quiet_since();
  if (!account.collectives.empty()) {
    const plugin::Account::Collective& collective = account.collectives[0];
    event::raise(runtime::stall_seen, nullptr,
                 {runtime::kStalledCollective, quiet_ns, plugin::kNoPeer, collective.context, collective.number});
  } else {
    event::raise(runtime::stall_seen, nullptr, {runtime::kStalledMessage, quiet_ns, account.waits_for[0].peer, 0, 0});
  }
}

void Process::report_stall(const plugin::Account& account) {
  if (job->rank >= kMostThatReport) return;
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%g", static_cast<double>(status_.stall_ns) / 1e9);
  const auto m = catalogue::message(
      "watch.long_wait",
      {{"seconds", seconds},
       {"what", account.collectives.empty() ? account.waits_for[0].text : account.collectives[0].text}});
  reporter.notice(1, m.id, m.paragraph());
}

// Once for each time that a wait becomes quiet. Where the launcher watches the job, it is the launcher that reports.
void Process::look_for_stalls(Lane& lane, bool report) ASHLAR_NO_THREAD_SAFETY {
  if (status_.stall_ns == 0) return;
  const std::uint64_t now = now_ns();
  for (const progress::Waiting& waiting : lane.waits) {
    if (waiting.quiet_since() <= status_.stalled_ns || now < waiting.quiet_since() + status_.stall_ns) continue;
    char text[launch::kWaitBytes];
    plugin::AccountWriter writer(text, sizeof text);
    p2p::account_for(lane, waiting, writer);
    const plugin::Account account = plugin::Account::parse({text, writer.finish()});
    if (account.collectives.empty() && account.waits_for.empty()) continue;
    status_.stalled_ns = waiting.quiet_since();
    note_stall(waiting, account);
    if (report) report_stall(account);
  }
}

void Process::report_long_wait(void* self, Lane& lane) ASHLAR_NO_THREAD_SAFETY {
  auto& process = *static_cast<Process*>(self);
  const std::unique_lock guard(process.status_.writing, std::try_to_lock);
  if (guard) process.look_for_stalls(lane, true);
}

}  // namespace ashlar
