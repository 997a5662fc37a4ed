#pragma once
#include <string>
#include <vector>

#include "framework/base/status.h"
#include "mpiexec/info/running.h"

namespace ashlar::info {

/// The performance variables below `prefix` of a running job's ranks. For people: a column for each of a few ranks, of
/// many the least, mean and most. Fails when no rank has answered, or none has such a variable.
Status values_text(const std::vector<RunningJob::RankVariables>& ranks, const std::string& prefix, std::string* out);
/// As JSON: each rank with all its values.
Status values_json(const RunningJob& job, const std::vector<RunningJob::RankVariables>& ranks,
                   const std::string& prefix, std::string* out);

}  // namespace ashlar::info
