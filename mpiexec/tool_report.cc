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

/// A rank's buffer of one tool, as far as what the rank wrote can be believed.
const ToolMemory::Row* row_of(const ToolMemory& memory, std::uint64_t bytes, const char* tool) {
  const std::uint32_t count = std::min(memory.count.load(std::memory_order_acquire), plugin::kMostTools);
  for (std::uint32_t i = 0; i < count; ++i) {
    const ToolMemory::Row& row = memory.rows[i];
    if (std::strncmp(row.name, tool, sizeof row.name) != 0) continue;
    return row.offset <= bytes && row.bytes <= bytes - row.offset ? &row : nullptr;
  }
  return nullptr;
}

std::vector<ashlar_tool_rank> ranks_of(Board& board, const EndOfJob& job, const char* tool) {
  std::vector<ashlar_tool_rank> ranks;
  const launch::BoardHeader& header = *board.header();
  for (unsigned r = 0; r < job.fates.size(); ++r) {
    const RankFate& fate = job.fates[r];
    ashlar_tool_rank& rank =
        ranks.emplace_back(ashlar_tool_rank{.buffer = nullptr,
                                            .buffer_bytes = 0,
                                            .exit_status = fate.wait_status,
                                            .finalized = fate.state == launch::RankState::kFinalized,
                                            .host = job.host.c_str(),
                                            .program = fate.program.c_str()});
    const auto* const memory = launch::board_at<ToolMemory>(board.header(), header.tools + r * header.tool_bytes);
    if (const ToolMemory::Row* const row = row_of(*memory, header.tool_bytes, tool)) {
      rank.buffer = reinterpret_cast<const std::byte*>(memory) + row->offset;
      rank.buffer_bytes = row->bytes;
    }
  }
  return ranks;
}

/// One tool's report. Fails when its module cannot be made.
Status report_one(const plugin::Chosen& chosen, Board& board, const EndOfJob& job, const ashlar_tool_context& context) {
  const std::vector<ashlar_tool_rank> ranks = ranks_of(board, job, chosen.component->name());
  if (std::none_of(ranks.begin(), ranks.end(), [](const ashlar_tool_rank& r) { return r.buffer; })) return {};
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
  if (tool->ops->job_end) tool->ops->job_end(tool, &facts);
  chosen.component->destroy(tool);
  return {};
}

/// The child's work; its exit status.
int report_all(Board& board, const EndOfJob& job) {
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
                                    .decisions = nullptr};
  std::vector<plugin::Chosen> chosen;
  Status status = plugin::adopt(own_prefix(), job.params, environ, &store, &registry);
  if (status.ok()) status = registry.select("tool", &context, &chosen);
  for (const plugin::Chosen& tool : chosen) {
    if (!status.ok()) break;
    status = report_one(tool, board, job, context);
  }
  if (!status.ok()) say(in_words(status));
  std::fflush(nullptr);
  return status.ok() ? 0 : 1;
}

}  // namespace

void report_tools(Board& board, const EndOfJob& job) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    // An interactive user may end a report that takes long.
    sigset_t none;
    sigemptyset(&none);
    for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) signal(signal_number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    _exit(report_all(board, job));
  }
  if (child < 0) {
    say(in_words(
        fail(kErrOther, "start.system", {{"what", "start the tools' report"}, {"lower", std::strerror(errno)}})));
    return;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    say(in_words(fail(kErrOther, "tool.report_failed", {{"lower", strsignal(WTERMSIG(status))}})));
}

}  // namespace ashlar::mpiexec
