#pragma once
#include <string>

#include "framework/param/store.h"

namespace ashlar::plugin {

/// What the parameters in `store` say of the start of a process, as MPI_INFO_ENV has it: KEY=VALUE; for each
/// parameter that a source sets.
std::string start_words(const param::Store& store);

}  // namespace ashlar::plugin
