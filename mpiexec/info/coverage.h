#pragma once
#include <string>

namespace ashlar::info {

/// Which functions of the standard this installation does, from the list that was installed with it: by chapter, as
/// text for people or as JSON. `missing` is set, and the text says so, when there is no list.
std::string coverage(const std::string& prefix, bool json, bool* missing);

}  // namespace ashlar::info
