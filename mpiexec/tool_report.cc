#include "mpiexec/tool_report.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/param/store.h"
#include "framework/plugin/registry.h"
#include "framework/plugin/setup.h"
#include "framework/plugin/tool.h"
#include "framework/plugin/tool_memory.h"
#include "mpiexec/settings.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

using plugin::ToolMemory;

constexpr int kPatienceMs = 10'000;  // for a sample that is being taken when the job is over

/// When the tools read: at the end, or while the job runs.
enum class Moment { kEnd, kSample };

// Exit status of the process that lets them read.
enum : int { kDone = 0, kFailed = 1, kNoMore = 2 };

std::vector<ashlar_tool_rank> ranks_of(Board& board, const ToolJob& job, const char* tool) {
  std::vector<ashlar_tool_rank> ranks;
  const launch::BoardHeader& header = *board.header();
  for (unsigned r = 0; r < job.fates.size(); ++r) {
    const RankFate& fate = job.fates[r];
    const launch::RankState state = fate.ended ? fate.state : board.state(r);
    ashlar_tool_rank& rank = ranks.emplace_back(ashlar_tool_rank{.buffer = nullptr,
                                                                 .buffer_bytes = 0,
                                                                 .exit_status = fate.wait_status,
                                                                 .finalized = state == launch::RankState::kFinalized,
                                                                 .host = fate.host.c_str(),
                                                                 .program = fate.program.c_str(),
                                                                 .running = !fate.ended,
                                                                 .clock = {}});
    if (r < job.clocks.size()) rank.clock = job.clocks[r];
    const auto* const memory = launch::board_at<ToolMemory>(board.header(), header.tools + r * header.tool_bytes);
    if (const ToolMemory::Row* const row = plugin::tool_row(*memory, header.tool_bytes, tool)) {
      rank.buffer = reinterpret_cast<const std::byte*>(memory) + row->offset;
      rank.buffer_bytes = row->bytes;
    }
  }
  return ranks;
}

/// One tool's turn. Fails when its module cannot be made. `more`: it wants further samples.
Status report_one(const plugin::Chosen& chosen, Board& board, const ToolJob& job, const ashlar_tool_context& context,
                  Moment moment, bool* more) {
  const std::vector<ashlar_tool_rank> ranks = ranks_of(board, job, chosen.component->name());
  if (std::none_of(ranks.begin(), ranks.end(), [](const ashlar_tool_rank& r) { return r.buffer; })) {
    *more = true;  // no rank has initialised MPI so far
    return {};
  }
  ashlar_tool* tool = nullptr;
  ASHLAR_TRY(chosen.component->create(&context, &tool));
  const ashlar_tool_job facts{.size = sizeof facts,
                              .ranks = static_cast<std::uint32_t>(ranks.size()),
                              .rank = ranks.data(),
                              .rank_bytes = sizeof(ashlar_tool_rank),
                              .exit_status = job.exit_status,
                              .began_ns = job.began_ns,
                              .ended_ns = job.ended_ns,
                              .job_id = job.job_id.c_str()};
  if (moment == Moment::kEnd && tool->ops->job_end) tool->ops->job_end(tool, &facts);
  if (moment == Moment::kSample && tool->ops->job_sample) *more |= tool->ops->job_sample(tool, &facts) != 0;
  chosen.component->destroy(tool);
  return {};
}

/// The child's work; its exit status.
int report_all(Board& board, const ToolJob& job, Moment moment) {
  param::Store store;
  plugin::Registry registry(&store);
  const ashlar_tool_context context{.size = sizeof context,
                                    .role = ASHLAR_TOOL_AT_END,
                                    .rank = 0,
                                    .ranks = static_cast<std::uint32_t>(job.fates.size()),
                                    .job_id = job.job_id.c_str(),
                                    .host = job.host.c_str(),
                                    .procedures = nullptr,
                                    .procedure_count = 0,
                                    .procedure_bytes = sizeof(ashlar_tool_procedure),
                                    .buffer = nullptr,
                                    .buffer_bytes = 0,
                                    .clock = nullptr,
                                    .variable = nullptr,
                                    .comm_name = nullptr,
                                    .variables = nullptr,
                                    .decisions = nullptr,
                                    .event_types = nullptr,
                                    .event_type_count = 0,
                                    .event_type_bytes = sizeof(ashlar_tool_event_type)};
  std::vector<plugin::Chosen> chosen;
  Status status = plugin::adopt(own_prefix(), job.params, environ, &store, &registry);
  if (status.ok()) status = registry.select("tool", &context, &chosen);
  bool more = false;
  for (const plugin::Chosen& tool : chosen) {
    if (!status.ok()) break;
    status = report_one(tool, board, job, context, moment, &more);
  }
  if (!status.ok() && moment == Moment::kEnd) say(in_words(status));  // of a sample the end will tell
  std::fflush(nullptr);
  if (!status.ok()) return kFailed;
  return moment == Moment::kEnd || more ? kDone : kNoMore;
}

void not_started() {
  say(in_words(
      fail(kErrOther, "start.system", {{"what", "start the tools' report"}, {"lower", std::strerror(errno)}})));
}

void tell_signal(int wait_status) {
  if (WIFSIGNALED(wait_status))
    say(in_words(fail(kErrOther, "tool.report_failed", {{"lower", strsignal(WTERMSIG(wait_status))}})));
}

}  // namespace

void report_tools(Board& board, const ToolJob& job) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    // An interactive user may end a report that takes long.
    sigset_t none;
    sigemptyset(&none);
    for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) signal(signal_number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    _exit(report_all(board, job, Moment::kEnd));
  }
  if (child < 0) {
    not_started();
    return;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  tell_signal(status);
}

// The signals that mpiexec reads stay blocked in this process: one that arrives while a file is being written would
// leave half of it behind.
void ToolSampler::sample(const ToolJob& job) {
  std::fflush(nullptr);
  pid_ = fork();
  if (pid_ == 0) _exit(report_all(board_, job, Moment::kSample));
  if (pid_ < 0) {
    not_started();
    due_ns_ = 0;
  }
}

bool ToolSampler::ended(pid_t pid, int wait_status, std::uint64_t now) {
  if (pid != pid_) return false;
  pid_ = -1;
  tell_signal(wait_status);
  due_ns_ = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == kDone ? now + period_ns_ : 0;
  return true;
}

void ToolSampler::finish() {
  if (pid_ <= 0) return;
  // It writes files, and their file system may hang.
  int status = 0;
  pid_t gone = 0;
  for (int ms = 0; ms < kPatienceMs && gone == 0; ++ms) {
    gone = waitpid(pid_, &status, WNOHANG);
    if (gone == 0) usleep(1000);
  }
  if (gone == 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  (void)ended(pid_, gone > 0 ? status : 0, 0);
  due_ns_ = 0;
}

}  // namespace ashlar::mpiexec
