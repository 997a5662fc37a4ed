#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "mpiexec/board.h"
#include "mpiexec/verdict.h"

namespace ashlar::mpiexec {

/// What the tools of a job need to know of it when it is over.
struct EndOfJob {
  const std::vector<RankFate>& fates;
  const std::string& params;  // the ranks' parameters, which choose the tools
  const std::string& host;
  const std::string& job_id;
  int exit_status;
  std::uint64_t began_ns, ended_ns;
};

/// Lets the tools that the ranks had read what they recorded: job_end() of framework/plugin/tool.h, in a process of its
/// own, so that a component that fails there changes neither mpiexec's messages nor its exit status. Waits for it.
void report_tools(Board& board, const EndOfJob& job);

}  // namespace ashlar::mpiexec
