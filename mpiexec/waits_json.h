#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "mpiexec/waits.h"

namespace ashlar::mpiexec {

/// Why the ranks were asked.
enum class WaitsReason { kQuery, kStall, kTimeLimit };

/// The job they belong to.
struct WaitsOf {
  std::string job_id, host;
  std::uint32_t launcher_pid;
};

/// What a query has shown as one JSON object in one line, ended; its form is waits.schema.json. Sets of ranks are texts
/// such as "0-3,7", since a large job has many.
std::string waits_json(const std::vector<RankStatus>& ranks, const WaitsOf& job, WaitsReason reason);

}  // namespace ashlar::mpiexec
