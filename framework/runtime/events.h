#pragma once
#include "framework/base/event.h"

namespace ashlar::runtime {

extern constinit event::Type transport_chosen, query_answered;

/// The word of transport_chosen for a component.
unsigned transport_word(const char* component);

}  // namespace ashlar::runtime
