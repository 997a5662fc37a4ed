// What a job does when a time has come: limits and stalls, samples, unfinished lines, the end of patience.
#include <algorithm>

#include "framework/base/clock.h"
#include "mpiexec/job.h"
#include "mpiexec/signals.h"
#include "mpiexec/strangers.h"
#include "mpiexec/text.h"
#include "mpiexec/waits_json.h"

namespace ashlar::mpiexec {
namespace {

constexpr std::uint64_t kRefresh = 1'000'000'000;  // how exactly a silent rank's silence is known
constexpr std::uint64_t kAnswers = 10'000'000;     // between looks for answers
constexpr std::uint64_t kAgain = 1'000'000'000;    // between two SIGKILL

}  // namespace

int Job::next_timeout_ms() const {
  std::uint64_t next = ~std::uint64_t{0};
  if (status_query_ && !timed_out_ && !stopping_) next = refresh_at_ns_;
  if (limit_ns_ != 0 && !timed_out_) next = std::min(next, limit_ns_);
  if (asking_ && !stopping_) next = std::min(next, now_ns() + kAnswers);
  if (kill_at_ns_) next = std::min(next, kill_at_ns_);
  if (strangers_at_ns_) next = std::min(next, strangers_at_ns_);
  if (sampler_ && sampler_->due_ns() && !stopping_ && !bringing_) next = std::min(next, sampler_->due_ns());
  if (hint_at_ns_) next = std::min(next, hint_at_ns_);
  if (cause_until_ns_) next = std::min(next, cause_until_ns_);
  if (flush_at_ns_) next = std::min(next, flush_at_ns_);
  if (notices_.due_ns()) next = std::min(next, notices_.due_ns());
  if (stop_at_ns_ && !stopping_) next = std::min(next, stop_at_ns_);
  if (there_.any()) next = std::min(next, there_.next_ns());
  next = std::min(next, pmix_.next_ns());
  if (next == ~std::uint64_t{0}) return -1;
  const std::uint64_t now = now_ns();
  return next <= now ? 0 : static_cast<int>(std::min<std::uint64_t>((next - now) / 1'000'000 + 1, 1u << 30));
}

/// The time limit and the watch, which share the query and the looks between queries.
void Job::check_standing(std::uint64_t now) {
  if (limit_ns_ != 0 && !timed_out_ && now >= limit_ns_) {
    timed_out_ = asking_ = true;
    status_ = 124;
    for (unsigned r = 0; r < fates_.size(); ++r)
      if (fates_[r].running) still_ran_.push_back(r);
    status_query_->start();
  } else if (!timed_out_ && now >= refresh_at_ns_) {
    refresh_at_ns_ = now + (watch_ ? std::min(kRefresh, watch_->interval_ns()) : kRefresh);
    const bool stalls = watch_ && watch_->look(now);
    if (stalls && !asking_) {
      asking_ = true;
      status_query_->start();
    }
    status_query_->refresh();
    there_.refresh();
  }
  if (asking_ && status_query_->finished()) {
    asking_ = false;
    told(now);
  }
}

/// The ranks have said what they wait for.
void Job::told(std::uint64_t now) {
  const std::vector<RankStatus> statuses = status_query_->statuses();
  if (records_.wanted() && inside_mpi(statuses))
    records_.write(waits_json(statuses,
                              {.job_id = job_id_, .host = host_, .launcher_pid = board_.header()->launcher_pid},
                              timed_out_ ? WaitsReason::kTimeLimit : WaitsReason::kStall));
  const std::string words = waits_in_words(statuses);
  if (timed_out_) {
    waits_ = words;
    stop_everyone();
  } else if (!words.empty()) {
    say(text("no rank has made progress for %g s (watch.stall); the job, begun %.0f s ago, goes on:\n%s",
             static_cast<double>(settings_.stall_ns) / 1e9, static_cast<double>(now - began_ns_) / 1e9, words.c_str()));
  }
}

void Job::check_clock() {
  const std::uint64_t now = now_ns();
  if (status_query_ && !stopping_ && running_ > 0) check_standing(now);
  there_.check(now);
  if (now >= pmix_.next_ns()) pmix_.handle({}, now);
  if (strangers_at_ns_ && now >= strangers_at_ns_) {
    hang_up_on_strangers();
    strangers_at_ns_ = now + kStrangers;
  }
  if (sampler_ && sampler_->due_ns() && now >= sampler_->due_ns() && !stopping_) sample_tools(now);
  if (hint_at_ns_ && now >= hint_at_ns_) {
    hint_at_ns_ = 0;
    if (running_ > 0 && !stopping_)
      say(text("%s was passed on, and %u of %zu ranks still run; a second one kills them",
               signal_words(interrupted_by_).c_str(), running_, fates_.size()));
  }
  if (notices_.due_ns() && now >= notices_.due_ns()) {
    notices_.flush();
    write_streams();
  }
  if (stop_at_ns_ && now >= stop_at_ns_) stop_everyone();
  if (cause_until_ns_ && now >= cause_until_ns_) {
    name_failed(static_cast<unsigned>(effect_));
    stop_everyone();
  }
  if (kill_at_ns_ && now >= kill_at_ns_) {
    stopping_ = true;
    kill_at_ns_ = now + kAgain;  // again, for a process that was just being born into a group
    for (unsigned r = 0; r < fates_.size(); ++r) {
      if (fates_[r].running && interrupted_by_) fates_[r].stopped = true;
      here_.signal(r, SIGKILL);
    }
    there_.signal_all(SIGKILL);
    there_.hurry(now);
    if (interrupted_by_) further_.signal(SIGKILL);  // whose guards kill their ranks
  }
  if (flush_at_ns_ && now >= flush_at_ns_) {
    flush_at_ns_ = 0;
    for (unsigned r = 0; r < fates_.size(); ++r) {
      if (to_out_.terminal()) merged_out_.flush(r);
      if (to_err_.terminal()) merged_err_.flush(r);
    }
  }
}

}  // namespace ashlar::mpiexec
