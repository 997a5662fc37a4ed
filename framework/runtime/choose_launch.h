#pragma once
#include "framework/base/status.h"
#include "framework/plugin/registry.h"

namespace ashlar::runtime {

/// The component that knows the job of this process.
Status choose_launch(plugin::Registry& registry, plugin::Chosen* chosen);

}  // namespace ashlar::runtime
