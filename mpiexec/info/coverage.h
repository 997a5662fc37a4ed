#pragma once
#include <string>

#include "framework/base/status.h"

namespace ashlar::info {

/// Which functions of the standard this installation does, from the list that was installed with it: by chapter, as
/// text for people or as JSON. Fails when there is no list.
Status coverage(const std::string& prefix, bool json, std::string* out);

}  // namespace ashlar::info
