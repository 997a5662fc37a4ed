#pragma once
#include <string>

#include "framework/param/store.h"

namespace ashlar::plugin {

/// Whether the parameter `tool` names any.
bool tools_chosen(const param::Store& store);

/// The library of wrappers around the MPI calls, which has to be in LD_PRELOAD for tools to see them.
std::string wrappers_file(const std::string& prefix);

}  // namespace ashlar::plugin
