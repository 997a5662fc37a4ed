#pragma once
#include "framework/mpit/params.h"

namespace ashlar::mpit {

/// The values of tools.* in force.
Config limits();

}  // namespace ashlar::mpit
