#pragma once
#include <span>

#include "framework/plugin/component.h"

namespace ashlar::datatype {

/// Performance variables of this room: how many compiled forms there are, and how often one served a further datatype.
std::span<const ashlar_pvar> pvars();

}  // namespace ashlar::datatype
