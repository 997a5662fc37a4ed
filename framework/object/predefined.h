#pragma once

namespace ashlar {

/// Fills the table of predefined handles with this room's objects (error handlers, MPI_GROUP_EMPTY, MPI_INFO_ENV).
/// Idempotent, any thread, any time; the calls that are allowed outside init..finalize start with it.
void register_predefined_objects();

}  // namespace ashlar
