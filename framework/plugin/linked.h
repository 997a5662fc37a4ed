#pragma once
#include "framework/plugin/component.h"

namespace ashlar::plugin {

/// The components linked into this library, up to a nullptr: none, unless it was built with some (the build option
/// ASHLAR_LINKED_COMPONENTS puts another definition in this one's place).
const ashlar_component* const* linked_components();

}  // namespace ashlar::plugin
