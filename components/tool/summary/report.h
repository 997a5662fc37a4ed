#pragma once
#include <string>

#include "components/tool/common/figures.h"

namespace ashlar::tool_summary {

inline constexpr int kMostLines = 25;

/// The summary of a job, at most kMostLines lines.
std::string summary(const recording::Records& records);

}  // namespace ashlar::tool_summary
