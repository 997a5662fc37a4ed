#include "mpiexec/job.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "framework/base/clock.h"
#include "framework/param/sources.h"
#include "mpiexec/missing_library.h"
#include "mpiexec/signals.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kTidyUp = 10 * kSecond;       // after a signal from outside, once one rank has ended by it
constexpr std::uint64_t kHint = kSecond;              // until the ranks that outlive a signal are reported
constexpr std::uint64_t kCause = kSecond;             // until the rank ends whose end another one has seen
constexpr std::uint64_t kLikewise = kSecond / 10;     // after an abort, for ranks that are about to abort, too
constexpr std::uint64_t kMostLikewise = kSecond / 2;  // as long as there are more of them
constexpr std::size_t kMostQueued = 1u << 20;         // unread output, beyond which ranks must wait

double seconds_since(std::uint64_t began) { return static_cast<double>(now_ns() - began) / 1e9; }

}  // namespace

Job::Job(const Options& options, const Settings& settings, const Inherited& inherited, Environment environment,
         NodeMap nodes, std::string host, std::string job_id, const char* const* argv, FurtherRequest* asked)
    : options_(options),
      settings_(settings),
      inherited_(inherited),
      environment_(std::move(environment)),
      nodes_(std::move(nodes)),
      host_(std::move(host)),
      job_id_(std::move(job_id)),
      argv_(argv),
      asked_(asked),
      names_(asked != nullptr),
      pmix_(settings.pmix_data),
      here_(options, settings, inherited, *this),
      there_(*this),
      board_(here_.board()),
      fates_(options.ranks()),
      fences_(nodes_.hosts.size()),
      left_behind_(nodes_.hosts.size()),
      merged_out_(options.ranks(), {.time = options.timestamp_output, .rank = options.tag_output}),
      merged_err_(options.ranks(), {.time = options.timestamp_output, .rank = options.tag_output}),
      notices_(options.ranks(), !options.tag_output, &merged_err_),
      to_out_(STDOUT_FILENO),
      to_err_(STDERR_FILENO),
      records_(settings.records, settings.records_file, host_) {
  for (unsigned s = 0; s < options.segments.size(); ++s)
    segment_of_rank_.insert(segment_of_rank_.end(), options.segments[s].ranks, s);
  for (unsigned r = 0; r < fates_.size(); ++r) {
    fates_[r].program = options.segments[segment_of_rank_[r]].argv[0];
    fates_[r].host = nodes_.several() ? nodes_.hosts[nodes_.node_of(r)] : host_;
  }
}

Job::~Job() {
  if (signal_fd_ >= 0) close(signal_fd_);
}

int Job::run() {
  status_ = 127;
  if (const Status status = prepare(); !status.ok()) {
    if (asked_ != nullptr)
      asked_->refused(status.text());  // the call that asked fails, and says so
    else
      say(in_words(status));
    return asked_ != nullptr ? 0 : status_;
  }
  if (options_.show_placement) return printed();
  status_ = 0;
  began_ns_ = now_ns();
  // What a further job took to start is part of the time that it has.
  if (options_.timeout_s > 0)
    limit_ns_ = (asked_ != nullptr ? asked_->asked_ns() : began_ns_) +
                static_cast<std::uint64_t>(std::min(options_.timeout_s * 1e9, 9e18));
  if (options_.timeout_s > 0 || settings_.stall_ns > 0) status_query_ = std::make_unique<StatusQuery>(board_.header());
  if (settings_.stall_ns > 0) watch_ = std::make_unique<StallWatch>(board_.header(), settings_.stall_ns, began_ns_);
  if (here_.has_pmix()) strangers_at_ns_ = began_ns_ + kStrangers;
  if (!start_ranks()) {
    status_ = 127;
    stop_everyone();
  }
  if (asked_ != nullptr && start_error_.empty()) asked_->started(options_, job_id_);
  if (here_.has_wrappers() && settings_.tool_refresh_ns > 0)
    sampler_ = std::make_unique<ToolSampler>(board_, settings_.tool_refresh_ns, began_ns_);
  loop();
  const std::uint64_t ended_ns = now_ns();
  if (sampler_) sampler_->finish();
  conclude();
  if (here_.has_wrappers() && there_.any()) bring_tools();
  there_.leave();
  if (here_.has_wrappers()) report_tools(board_, for_tools(ended_ns));
  return status_;
}

void Job::signal_rank(unsigned rank, int signal) {
  if (!fates_[rank].running) return;
  if (nodes_.here(rank))
    here_.signal(rank, signal);
  else
    there_.signal(rank, signal);
}

void Job::stop_everyone() {
  if (stopping_) return;
  stopping_ = true;
  kill_at_ns_ = now_ns() + settings_.kill_grace_ns;
  // Further jobs have the same time limit, and say themselves what their ranks wait for.
  if (!timed_out_) further_.tell_failed();
  for (RankFate& fate : fates_) fate.stopped = fate.stopped || fate.running;
  here_.stop();
  there_.stop();
}

void Job::forward(int signal, int code) {
  // In the terminal's own group the rank has got the signal from the kernel already.
  const bool told = !here_.own_groups() && code == SI_KERNEL;
  if (asks_to_end(signal)) {
    ++interrupts_;
    if (interrupted_by_) {
      kill_at_ns_ = now_ns();
      check_clock();
      return;
    }
    interrupted_by_ = signal;
    hint_at_ns_ = now_ns() + kHint;
  }
  if (signal == SIGCONT && here_.input() != nullptr) here_.input()->resumed();
  if (signal == SIGCONT && remote_input_) remote_input_->resumed();
  if (!told)
    for (unsigned r = 0; r < fates_.size(); ++r) here_.signal(r, signal);
  there_.signal_all(signal);
  there_.flush();
  further_.signal(signal);
  if (signal == SIGTSTP) raise(SIGSTOP);
}

void Job::handle_signals() {
  signalfd_siginfo info;
  while (read(signal_fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
    if (info.ssi_signo != SIGCHLD) forward(static_cast<int>(info.ssi_signo), info.ssi_code);
}

void Job::reap() {
  for (;;) {
    // Look first, wait later: as long as the process is a zombie its group's number cannot be another's.
    siginfo_t info = {};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    const pid_t pid = info.si_pid;
    if (here_.take_end(pid, info.si_code == CLD_EXITED)) continue;
    int status = 0;
    waitpid(pid, &status, 0);
    if (!there_.take_end(pid, status, now_ns()) && !further_.ended(pid, status) && sampler_)
      (void)sampler_->ended(pid, status, now_ns());
  }
}

/// Whether a rank that runs has joined MPI, and may be waiting for others.
bool Job::others_in_mpi() {
  for (unsigned r = 0; r < fates_.size(); ++r)
    if (fates_[r].running &&
        (board_.state(r) == launch::RankState::kAttached || board_.state(r) == launch::RankState::kInitialized))
      return true;
  return false;
}

void Job::rank_ended(unsigned rank, const RankEnding& ending) {
  if (!fates_[rank].running) return;
  --running_;
  RankFate& fate = fates_[rank];
  fate.running = false;
  fate.ended = true;
  const int wait_status = fate.wait_status = ending.wait_status;
  fate.state = ending.state;
  fate.use = ending.use;
  fate.seconds = seconds_since(began_ns_);
  if (ending.aborted) {
    fate.aborted = true;
    fate.abort_code = ending.abort_code;
    fate.abort_text = ending.abort_text;
  }
  if (!options_.output.empty() && nodes_.here(rank) &&
      rank_files_cut_short(options_.output,
                           {rank, static_cast<unsigned>(fates_.size()), segment_of_rank_[rank], host_})) {
    cut_short_.push_back(rank);
    output_lost_ = true;
  }
  const bool others = others_in_mpi();
  const bool signaled = WIFSIGNALED(wait_status);
  // SIGTERM and SIGKILL after we sent them are our own doing; anything else a rank died of is its own.
  const bool our_doing = (fate.stopped || interrupted_by_) && !fate.aborted &&
                         (!signaled || WTERMSIG(wait_status) == SIGTERM || WTERMSIG(wait_status) == SIGKILL ||
                          WTERMSIG(wait_status) == interrupted_by_);
  fate.failed = !our_doing && fails_the_job(fate, others);
  if (!nodes_.here(rank)) board_.slot(rank).fences.store(ending.fences);
  here_.publish_end(rank, wait_status, fate.failed);
  there_.publish_end(rank, wait_status, fate.failed, ending.fences);
  if (fate.failed) {
    name_failed(rank);
    if (settings_.keep_going && !fate.aborted)
      leave_behind(rank);
    else
      stop_everyone();
    return;
  }
  if (status_ == 0 && !stopping_) {
    status_ = exit_status(fate);
    if (status_ != 0) first_returned_ = static_cast<int>(rank);
  }
  // After a Ctrl-C some ranks may wait for ever for one that obeyed it. Those that tidy up get their time.
  if (interrupted_by_ && !kill_at_ns_ && fails_the_job(fate, others)) kill_at_ns_ = now_ns() + kTidyUp;
}

/// The others go on without a rank that has failed (--keep-going), and fences complete without it.
void Job::leave_behind(unsigned rank) {
  if (nodes_.several()) {
    const unsigned node = nodes_.node_of(rank);
    bool all_failed = true;
    for (unsigned r = 0; r < fates_.size(); ++r)
      all_failed = all_failed && (nodes_.node_of(r) != node || fates_[r].failed);
    left_behind_[node] = all_failed;
    if (all_failed) complete_fences();
  }
  fates_[rank].advice = why_not_loaded(rank);
  say(end_words(fates_, rank) + (running_ > 0 ? " The others go on (mpiexec.on_failure)." : "") +
      (fates_[rank].advice.empty() ? "" : "\n" + fates_[rank].advice + "."));
}

// The first that failed is the one that is reported.
void Job::name_failed(unsigned rank) {
  cause_until_ns_ = 0;
  if (first_failed_ >= 0 || timed_out_) return;
  first_failed_ = static_cast<int>(rank);
  if (status_ == 0) status_ = exit_status(fates_[rank]);
}

void Job::rank_aborted(unsigned rank, int code, const std::string& words) {
  RankFate& fate = fates_[rank];
  if (!fate.running || fate.aborted) return;
  more_aborted_ = true;
  fate.aborted = fate.failed = true;
  fate.abort_code = code;
  fate.abort_text = words;
  fate.seconds = seconds_since(began_ns_);
  if (!blames_another(fate)) {
    name_failed(rank);
  } else if (effect_ < 0) {
    // Its peer may be seen to be gone before it has ended for its parent.
    effect_ = static_cast<int>(rank);
    if (first_failed_ < 0) cause_until_ns_ = now_ns() + kCause;
  }
}

void Job::judge_aborts() {
  const bool more = std::exchange(more_aborted_, false);
  any_aborted_ = any_aborted_ || more;
  if (first_failed_ < 0 || stopping_ || !any_aborted_) return;
  // A mistake that all ranks make is told of all of them: their words come one after the other.
  const std::uint64_t now = now_ns();
  if (aborted_ns_ == 0) aborted_ns_ = now;
  if (more) stop_at_ns_ = std::min(aborted_ns_ + kMostLikewise, now + kLikewise);
  const bool all =
      std::none_of(fates_.begin(), fates_.end(), [](const RankFate& fate) { return fate.running && !fate.aborted; });
  if (all) stop_everyone();
}

void Job::rank_started(unsigned rank, pid_t pid) {
  RankFate& fate = fates_[rank];
  if (fate.running || fate.ended) return;
  fate.pid = pid;
  fate.running = true;
  ++running_;
  if (!nodes_.here(rank)) --to_start_;
}

/// The call that has asked for a further job has an error in the end, and until then only its own program waits.
void Job::host_tried_again(const Status& why) {
  if (asked_ == nullptr) say(in_words(why));
}

/// All that is known of a host's ranks from now on is that they are gone.
void Job::node_lost(unsigned node, const std::string& how) {
  if (to_start_ > 0 && start_error_.empty()) {
    start_error_ = text("cannot start ranks on host %s: %s", shown(nodes_.hosts[node]).c_str(), how.c_str());
    status_ = 127;
  }
  relayed_.close_if([node](std::uint64_t call) { return call >> 32 == node; });
  for (unsigned r = 0; r < fates_.size(); ++r) {
    if (nodes_.node_of(r) != node || fates_[r].ended) continue;
    pmix_.ended({.space = job_id_, .rank = r});
    if (!fates_[r].running) rank_started(r, -1);
    fates_[r].lost = how;
    stream_ended(r, false);
    stream_ended(r, true);
    rank_ended(r, {.wait_status = SIGKILL, .state = board_.state(r), .use = board_.slot(r).use.load()});
  }
}

void Job::fence_entered(unsigned node, std::uint32_t generation) {
  fences_[node] = generation;
  complete_fences();
}

/// A fence is complete when all nodes have entered it.
void Job::complete_fences() {
  std::uint32_t least = fences_done_;
  bool any = false;
  for (unsigned node = 0; node < fences_.size(); ++node) {
    if (left_behind_[node]) continue;
    if (!any || static_cast<std::int32_t>(fences_[node] - least) < 0) least = fences_[node];
    any = true;
  }
  if (least == fences_done_) return;
  fences_done_ = least;
  board_.fence_complete(least);
  there_.fence_done(least);
}

void Job::record_wanted(const RecordWanted& wanted) { there_.look_up(wanted); }

void Job::poll_once(int timeout_ms) {
  std::vector<pollfd> fds;
  InputForwarder* const input = here_.input();
  const bool full[2] = {merged_out_.queued() > kMostQueued, merged_err_.queued() > kMostQueued};
  const std::size_t room = remote_input_ ? there_.input_room() : 0;
  fds.reserve(2 * fates_.size() + 12);
  fds.push_back({signal_fd_, POLLIN, 0});
  fds.push_back({board_.bell_read_fd(), POLLIN, 0});
  fds.push_back({merged_out_.queued() ? to_out_.fd() : -1, POLLOUT, 0});
  fds.push_back({merged_err_.queued() ? to_err_.fd() : -1, POLLOUT, 0});
  fds.push_back({input != nullptr ? input->wants_read() : -1, POLLIN, 0});
  fds.push_back({input != nullptr ? input->wants_write() : -1, POLLOUT, 0});
  fds.push_back({control_.fd(), POLLIN, 0});
  fds.push_back({asked_ != nullptr && !leash_ended_ ? asked_->leash() : -1, POLLIN, 0});
  fds.push_back({remote_input_ ? remote_input_->wants_read(room) : -1, POLLIN, 0});
  const std::size_t first_stream = fds.size();
  here_.add_streams(&fds, full);
  there_.add(&fds);
  callers_.add(&fds);
  relayed_.add(&fds);
  names_.add(&fds);
  pmix_.add(&fds);
  if (poll(fds.data(), fds.size(), timeout_ms) <= 0) return;
  here_.read_streams(fds, first_stream);
  there_.handle(fds, now_ns());
  if (fds[4].revents) input->read_some();
  if (fds[5].revents) input->write_some();
  serve_callers(fds);
  relayed_.handle(fds, *this);
  names_.handle(fds);
  pmix_.handle(fds, now_ns());
  if (fds[7].revents) hear_above();
  if (fds[8].revents) pass_input_on(room);
  write_streams();
  there_.give_room(merged_out_.queued() > kMostQueued || merged_err_.queued() > kMostQueued);
  // Deaths after output, so that a rank's last words come before the news of its end.
  if (fds[0].revents) handle_signals();
  // Ends before aborts, which may be the answer to an end.
  if (fds[1].revents) {
    reap();
    here_.look_at_board();
    open_control();
    if (there_.any()) there_.pass_queries_on(now_ns());
  }
  judge_aborts();
  there_.flush();
}

void Job::pass_input_on(std::size_t room) {
  const auto rank = static_cast<unsigned>(options_.stdin_rank);
  if (const std::string_view bytes = remote_input_->read_some(room); !bytes.empty() || remote_input_->ended())
    there_.input(rank, bytes);
}

void Job::loop() {
  while (!all_over()) {
    poll_once(next_timeout_ms());
    reap();
    check_clock();
  }
  drain_after_end();
}

/// Why a rank's program did not begin to run, when the dynamic loader ended it; else empty.
std::string Job::why_not_loaded(unsigned rank) const {
  const RankFate& fate = fates_[rank];
  if (fate.state != launch::RankState::kAbsent || !WIFEXITED(fate.wait_status) || WEXITSTATUS(fate.wait_status) != 127)
    return {};
  if (!nodes_.here(rank)) return {};  // its files are there
  const Segment& segment = options_.segments[segment_of_rank_[rank]];
  const std::string library = missing_library(here_.file_of(segment_of_rank_[rank]),
                                              here_.variable_of(segment, "LD_LIBRARY_PATH"), segment.wdir);
  return library.empty() ? std::string() : missing_library_words(library, param::library_folder(own_prefix()));
}

/// What to say when each process of a program of another MPI library found no job here and ran as one of its own; else
/// empty.
std::string Job::why_alone() const {
  const auto joined = [](const RankFate& fate) { return fate.state != launch::RankState::kAbsent; };
  if (fates_.size() < 2 || nodes_.several() || std::any_of(fates_.begin(), fates_.end(), joined)) return {};
  for (unsigned segment = 0; segment < options_.segments.size(); ++segment) {
    const Segment& of = options_.segments[segment];
    const std::string& file = here_.file_of(segment);
    const OtherLibrary library = other_mpi_library(file, here_.variable_of(of, "LD_LIBRARY_PATH"), of.wdir);
    if (library.name.empty()) continue;
    const std::string instead = library.same_abi
                                    ? "Run it with LD_LIBRARY_PATH=" + shown(param::library_folder(own_prefix()))
                                    : "Compile it with the mpicc of this installation";
    return text(
        "none of the %zu ranks joined the job: %s %s %s, which belongs to another MPI library, and each process ran "
        "alone. %s, or start it with the mpiexec of that library",
        fates_.size(), shown(file).c_str(), library.same_abi ? "ran with" : "needs", shown(library.name).c_str(),
        instead.c_str());
  }
  return {};
}

void Job::conclude() {
  if (asked_ != nullptr && !start_error_.empty()) asked_->refused(start_error_);
  if (asked_ != nullptr) asked_->over("");
  for (const int rank : {first_failed_, first_returned_})
    if (rank >= 0) fates_[static_cast<unsigned>(rank)].advice = why_not_loaded(static_cast<unsigned>(rank));
  if (!start_error_.empty() && asked_ != nullptr) {
    status_ = 0;  // the call that asked fails, and says so
  } else if (!start_error_.empty()) {
    say(start_error_);
  } else if (first_failed_ >= 0 && !(settings_.keep_going && timed_out_)) {
    const RankFate& fate = fates_[static_cast<unsigned>(first_failed_)];
    const bool told = settings_.keep_going && !stopping_;  // each failure when it came
    const bool reader_left = (to_out_.reader_left() || to_err_.reader_left()) && WIFSIGNALED(fate.wait_status) &&
                             WTERMSIG(fate.wait_status) == SIGPIPE;
    if (!reader_left && !told) say(failure_words(fates_, static_cast<unsigned>(first_failed_)));
  } else if (timed_out_) {
    say(text("the time limit of %g s is over; rank%s %s of %zu still ran and %s stopped%s%s", options_.timeout_s,
             still_ran_.size() == 1 ? "" : "s", list_of(still_ran_).c_str(), fates_.size(),
             still_ran_.size() == 1 ? "was" : "were", waits_.empty() ? "" : ":\n", waits_.c_str()));
  } else if (above_failed_) {
    say("the job that has started this one has failed, and they were connected");
  } else if (interrupted_by_) {
    if (status_ == 0 && stopping_) status_ = 128 + interrupted_by_;
    if (status_ != 0)
      say(text("ended by %s after %.2f s", signal_words(interrupted_by_).c_str(), seconds_since(began_ns_)));
    else if (fates_.size() > 1)
      say(text("%s was passed on to the ranks, and all of them ended with exit code 0, after %.2f s",
               signal_words(interrupted_by_).c_str(), seconds_since(began_ns_)));
  } else if (first_returned_ >= 0 &&
             (fates_.size() > 1 || !fates_[static_cast<unsigned>(first_returned_)].advice.empty())) {
    say(return_words(fates_, static_cast<unsigned>(first_returned_)));
  }
  if (const std::string alone = start_error_.empty() ? why_alone() : ""; !alone.empty()) say(alone);
  if (!cut_short_.empty()) {
    std::sort(cut_short_.begin(), cut_short_.end());
    const bool one = cut_short_.size() == 1;
    say(
        text("--output %s: the disk is full, and the files of rank%s %s of %zu end where it was: what %s wrote to them "
             "afterwards is lost",
             shown(options_.output).c_str(), one ? "" : "s", list_of(cut_short_).c_str(), fates_.size(),
             one ? "this rank" : "these ranks"));
  }
  if (output_lost_ && status_ == 0) status_ = 1;
  if (status_ == 0) status_ = further_.status();
}

}  // namespace ashlar::mpiexec
