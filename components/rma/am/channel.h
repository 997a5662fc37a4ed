#pragma once
#include "components/rma/am/answers.h"
#include "components/rma/am/lock_queue.h"
#include "components/rma/am/requests.h"

namespace ashlar::rma::am {

/// This process's request for one lock of another one, as that one has answered it.
struct LockGrant {
  bool granted = false;
  Rank holder = -1;  // when the request was queued; -1: not known
  LockMode held = LockMode::kShared;
  std::uint32_t before = 0;
};

/// All between this process and one other of a window. Made by the first message in either direction. Guarded by the
/// lane's lock.
struct Channel {
  Channel(AmWindow& window, Rank rank) : requests(window, rank), answers(window, rank) {
    for (LockEntry& entry : entries) entry.rank = rank;
  }

  Requests requests;          // of this process to the other
  Answers answers;            // to requests of the other
  LockEntry entries[kLocks];  // of the other, in this process's locks
  LockGrant grants[kLocks];   // of this process, in the other's
  // MPI_Win_post and MPI_Win_complete of the other toward this process that no call here has met. A call with
  // MPI_MODE_NOCHECK does not wait for the post, which then makes up for it when it comes: below zero until then.
  int posts = 0, completes = 0;
};

}  // namespace ashlar::rma::am
