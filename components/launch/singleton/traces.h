#pragma once
#include <cstddef>

namespace ashlar::launch {

/// Whether the environment says that this process is one of several that a launcher started together.
/// A batch script's own environment (one task, or no step) does not say so. `words` names launcher and variables.
bool parallel_launch(char* words, std::size_t bytes);

}  // namespace ashlar::launch
