#pragma once
#include <string>

#include "framework/param/store.h"
#include "framework/plugin/statement.h"

namespace ashlar::info {

/// Takes one component file through the contract, step by step, and says what was found. For authors: loads it and
/// calls its open, query (where the framework's context can be made here) and close. Returns whether everything is
/// right; `out` has a line per step.
bool check_component(const std::string& file, const plugin::Accepts& kernel, std::string* out);

}  // namespace ashlar::info
