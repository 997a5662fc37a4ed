#pragma once
#include "framework/base/status.h"

/// A process that a rank forks has a copy of the rank's state and shares its peers' memory: one message of it would
/// break those of the rank. So for it, MPI is over: handles are none, MPI_Finalized says so, exit leaves no job.
namespace ashlar::runtime {

/// From now on children are told. Idempotent.
void watch_forks();
/// Whether this is such a child.
bool forked() noexcept;
/// Fails in such a child.
Status check_not_forked();

}  // namespace ashlar::runtime
