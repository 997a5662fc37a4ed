#pragma once
#include <cstdint>

#include "framework/base/event.h"
#include "framework/object/comm.h"

/// What the making and freeing of communicators tells tools (docs/tools.md). The predefined communicators, and those
/// inside of intercommunicators, raise nothing.
namespace ashlar::comm {

extern constinit event::Type comm_made, comm_freed, comm_named;

/// Whether a communicator of this context is one that the program made, and has its context for good.
bool is_given(std::uint32_t context);
/// Also for a communicator whose context was agreed on after it was made. With or without its lane's lock.
void tell_made(const Comm& comm);
/// Counts as well.
void tell_freed(const Comm& comm);
void tell_named(const Comm& comm);

}  // namespace ashlar::comm
