#pragma once
#include <string>
#include <vector>

#include "mpiexec/waits.h"

namespace ashlar::mpiexec {

/// Why the ranks were asked.
enum class WaitsReason { kQuery, kStall, kTimeLimit };

/// What a query has shown as one JSON object in one line, ended; its form is waits.schema.json. Sets of ranks are texts
/// such as "0-3,7", since a large job has many.
std::string waits_json(const std::vector<RankStatus>& ranks, const std::string& job_id, const std::string& host,
                       WaitsReason reason);

}  // namespace ashlar::mpiexec
