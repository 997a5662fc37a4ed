#pragma once
#include "framework/base/status.h"

/// A process that a rank forks has a copy of the rank's state and shares its peers' memory: one message of it would
/// break those of the rank. So it is cut off. What a call can tell from memory it still tells (programs ask for their
/// rank there); what would reach others fails; MPI_Finalized says that it is over, and exit leaves no job.
namespace ashlar::runtime {

/// From now on children are cut off. Idempotent.
void watch_forks();
/// Whether this is such a child.
bool forked() noexcept;
/// Fails in such a child.
Status check_not_forked();

}  // namespace ashlar::runtime
