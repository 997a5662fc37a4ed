#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace ashlar::launch {

/// A bound for what a broken launcher can make us believe of the size of a job.
inline constexpr std::int64_t kMostRanks = std::int64_t{1} << 24;

/// What the environment of a process says of its PMI launcher.
struct PmiTrace {
  int fd = -1;                        // PMI_FD: a connection that the process has
  std::string address;                // PMI_PORT: where to connect to instead
  std::string id;                     // PMI_ID: who we are there
  std::uint32_t rank = 0, ranks = 0;  // 0 ranks: the launcher says it later
  std::string job;                    // PMI_JOBID, which Slurm sets; may be ""
  bool spawned = false;               // PMI_SPAWNED: by a process of another job
};

/// Changes nothing. False: this process is no rank of a PMI launcher that can be joined, for `reason`.
bool read_trace(PmiTrace* trace, char* reason, std::size_t bytes);

}  // namespace ashlar::launch
