#include "framework/runtime/process.h"

namespace ashlar {

/// Lets the launcher tell which ranks of a job that goes on without them have failed since the last time.
/// Transports notice the end of the processes that they exchange messages with, and of no others; a collective waits
/// for all members of its communicator.
void Process::look_for_failed_ranks() {
  if (job->outlives_ranks == 0) return;  // this rank is about to be ended, too
  // One lane looks for all. What it finds changes the word that each of them looks at.
  const std::unique_lock guard(failures_read_, std::try_to_lock);
  if (guard) launch->ops->poll(launch);
}

void Process::rank_failed(void* self, std::uint32_t rank, const char* how) {
  static_cast<Process*>(self)->peers_->mark_failed(rank, how);
}

}  // namespace ashlar
