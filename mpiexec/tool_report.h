#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "framework/plugin/tool.h"
#include "mpiexec/board.h"
#include "mpiexec/verdict.h"

namespace ashlar::mpiexec {

/// What the tools of a job need to know of it, at its end or at a moment of its life.
struct ToolJob {
  const std::vector<RankFate>& fates;
  const std::string& params;  // the ranks' parameters, which choose the tools
  const std::string& host;    // of mpiexec; those of ranks are in their fates
  const std::string& job_id;
  int exit_status;
  std::uint64_t began_ns, ended_ns;            // the second of a job that runs: now
  std::vector<ashlar_tool_host_clock> clocks;  // by rank, of a job on several hosts
};

/// Lets the tools that the ranks had read what they recorded: job_end() of framework/plugin/tool.h, in a process of its
/// own, so that a component that fails there changes neither mpiexec's messages nor its exit status. Waits for it.
void report_tools(Board& board, const ToolJob& job);

/// Lets the tools read it while the job runs, one time each tools.refresh: job_sample(), in a process of its own for
/// each time. Nothing waits for that process until the job is over.
class ToolSampler {
 public:
  ToolSampler(Board& board, std::uint64_t period_ns, std::uint64_t now)
      : board_(board), period_ns_(period_ns), due_ns_(now + period_ns) {}
  /// When the next sample is taken; 0: while one is being taken, and when no tool wants another.
  std::uint64_t due_ns() const { return pid_ > 0 ? 0 : due_ns_; }
  void sample(const ToolJob& job);
  /// A child of mpiexec has ended: whether it was the sample.
  bool ended(pid_t pid, int wait_status, std::uint64_t now);
  /// Waits for the sample that is being taken; there is none afterwards.
  void finish();

 private:
  Board& board_;
  const std::uint64_t period_ns_;
  std::uint64_t due_ns_;
  pid_t pid_ = -1;
};

}  // namespace ashlar::mpiexec
