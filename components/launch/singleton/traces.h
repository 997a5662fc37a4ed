#pragma once
#include <cstddef>

namespace ashlar::launch {

/// Whether the environment says that this process is one of several that a launcher started together.
/// A batch script's own environment (one task, or no step) does not say so. `words` names launcher and variables.
/// `elevated`: the process has more rights than its user, and launch/native, launch/pmix and launch/pmi joined nothing
/// for that.
bool parallel_launch(char* words, std::size_t bytes, bool elevated = false);

}  // namespace ashlar::launch
