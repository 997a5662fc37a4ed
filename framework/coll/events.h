#pragma once
#include "framework/base/event.h"
#include "framework/base/status.h"
#include "framework/coll/check.h"
#include "framework/coll/engine.h"
#include "framework/object/comm.h"

/// What collectives tell tools (docs/tools.md).
namespace ashlar::coll {

/// Not seen by other libraries, so that the sites need no address to be loaded.
[[gnu::visibility("hidden")]] extern constinit event::Type collective_begin, collective_end;

/// The number of an algorithm's name in the enumeration of these events: that of "another" when it is not one of this
/// tree.
unsigned algorithm_word(const char* name);

[[gnu::cold]] void tell_begin(const Comm& comm, Tag sequence, const Call& call, CallForm form, const Choice& choice);
[[gnu::cold]] void tell_end(const Comm& comm, Tag sequence, const Choice& choice, Status outcome);

}  // namespace ashlar::coll
