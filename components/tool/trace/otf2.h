#pragma once
#include <string>

#include "components/tool/common/reader.h"

namespace ashlar::tool_trace {

/// Writes the calls in the rings as an OTF2 archive, a folder of this name, which must not exist. Returns why it could
/// not, or an empty text.
std::string write_otf2(const recording::Records& records, const std::string& folder);

}  // namespace ashlar::tool_trace
