#pragma once
#include <span>

#include "framework/base/event.h"

namespace ashlar::mpit {

/// Every event type of the kernel's rooms, in an order that never changes while the program runs. A room with an
/// events.h has its lines here.
std::span<event::Type* const> kernel_events();

}  // namespace ashlar::mpit
