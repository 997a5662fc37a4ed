#pragma once
#include <span>

#include "framework/mpit/cvars.h"

namespace ashlar::mpit {

/// What can be set for one communicator alone.
std::span<const CommVariable> comm_variables();

}  // namespace ashlar::mpit
