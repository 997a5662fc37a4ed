#pragma once
#include "framework/base/event.h"

namespace ashlar::runtime {

extern constinit event::Type transport_chosen, query_answered, stall_seen;

/// What a stalled call waits for: the first field of stall_seen.
inline constexpr unsigned kStalledMessage = 0, kStalledCollective = 1;

/// The word of transport_chosen for a component.
unsigned transport_word(const char* component);

}  // namespace ashlar::runtime
