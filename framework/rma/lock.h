#pragma once
#include <mpi.h>

#include <cstdint>

#include "framework/base/lane_lock.h"
#include "framework/rma/api.h"
#include "framework/rma/epochs.h"
#include "framework/rma/rounds.h"
#include "framework/rma/sync.h"
#include "framework/rma/window.h"

/// Locks for which everything is as usual: no mistake, no promise, no checks, and the target was used before. Such a
/// lock costs about as much as a call into the library, so entry points have it in line.
namespace ashlar::rma {

/// Closes the epoch again. Returns `why`.
[[gnu::cold]] Status lock_not_taken(RmaWindow& window, Target& target, Status why);

/// The target of such a lock; nullptr: something is unusual.
inline Target* usual_lock(const RmaWindow& window, int lock_type, int rank, int assert) {
  if (static_cast<std::uint32_t>(rank) >= static_cast<std::uint32_t>(window.ranks)) [[unlikely]]
    return nullptr;
  Target* const target = window.targets.find(rank);
  const bool usual = (lock_type == MPI_LOCK_SHARED || lock_type == MPI_LOCK_EXCLUSIVE) && assert == 0 &&
                     window.epochs.access <= AccessEpoch::kLock && !window.hints.no_locks && !LaneLock::threads_on();
  return usual && target != nullptr && target->held == Held::kNothing ? target : nullptr;
}

/// win_lock.
inline Status lock_in_line(int lock_type, int rank, int assert, Window& win) {
  RmaWindow& window = of(win);
  Target* const target = usual_lock(window, lock_type, rank, assert);
  if (target == nullptr) [[unlikely]]
    return win_lock(lock_type, rank, assert, win);
  const bool exclusive = lock_type == MPI_LOCK_EXCLUSIVE;
  target->open = true;
  target->held = exclusive ? Held::kExclusive : Held::kShared;
  ++window.epochs.locks;
  window.epochs.access = AccessEpoch::kLock;
  window.epochs.last = "MPI_Win_lock";
  const Status locked = window.sync->lock(*target, exclusive);
  return locked.ok() ? locked : lock_not_taken(window, *target, locked);
}

/// The target of an unlock for which everything is as usual; nullptr: something is not.
inline Target* usual_unlock(const RmaWindow& window, int rank) {
  if (static_cast<std::uint32_t>(rank) >= static_cast<std::uint32_t>(window.ranks)) [[unlikely]]
    return nullptr;
  Target* const target = window.targets.find(rank);
  const bool usual = target != nullptr && (target->held == Held::kShared || target->held == Held::kExclusive) &&
                     !target->outstanding && window.check == nullptr && !LaneLock::threads_on();
  return usual ? target : nullptr;
}

/// win_unlock.
inline Status unlock_in_line(int rank, Window& win) {
  RmaWindow& window = of(win);
  Target* const target = usual_unlock(window, rank);
  if (target == nullptr) [[unlikely]]
    return win_unlock(rank, win);
  const bool exclusive = target->held == Held::kExclusive;
  target->open = false;
  target->held = Held::kNothing;
  if (--window.epochs.locks == 0) window.epochs.access = AccessEpoch::kNone;
  window.epochs.last = "MPI_Win_unlock";
  const Status given = window.sync->unlock(*target, exclusive);
  count_call(window);
  return given;
}

}  // namespace ashlar::rma
