// MPI_Win_lock and its kin: epochs of which the target knows nothing.
#include <mpi.h>

#include "framework/base/failure.h"
#include "framework/rma/api.h"
#include "framework/rma/check.h"
#include "framework/rma/epochs.h"
#include "framework/rma/lock.h"
#include "framework/rma/rounds.h"
#include "framework/rma/ways.h"

namespace ashlar::rma {
namespace {

Status check_rank(const RmaWindow& window, int rank) {
  if (static_cast<std::uint32_t>(rank) < static_cast<std::uint32_t>(window.ranks)) return {};
  return bad_rank(window, "rank", rank);
}

[[gnu::cold]] Status not_locked(const RmaWindow& window, Rank rank) {
  return fail(MPI_ERR_RMA_SYNC, "rma.not_locked", {{"peer", rank}, {"window", window.label()}});
}

/// Nothing here builds on the promise, so a program that breaks it gets its lock all the same, except with check.rma.
[[gnu::cold]] Status promise_broken(const RmaWindow& window) {
  if (window.check == nullptr) return {};
  return fail(MPI_ERR_RMA_SYNC, "rma.no_locks", {{"window", window.label()}});
}

/// Opens the epoch, if it may be: no other thread can lock the target from now on.
Status begin(RmaWindow& window, Target& target, Held held) {
  const EpochGuard guard(window);
  if (window.epochs.access != AccessEpoch::kLock && !accesses_nothing(window))
    return wrong_epoch(window, "no access epoch of another kind to be open");
  if (target.held != Held::kNothing)
    return fail(MPI_ERR_RMA_SYNC, "rma.locked_already", {{"peer", target.rank}, {"window", window.label()}});
  if (window.epochs.access == AccessEpoch::kFence) leave_fence(window);
  target.held = held;
  ++window.epochs.locks;
  window.epochs.access = AccessEpoch::kLock;
  window.epochs.last = "MPI_Win_lock";
  return {};
}

void end(RmaWindow& window, Target& target, const char* last) {
  const EpochGuard guard(window);
  target.held = Held::kNothing;
  if (--window.epochs.locks == 0) window.epochs.access = AccessEpoch::kNone;
  window.epochs.last = last;
}

/// With check.rma: the accesses to the target are complete, and others cannot know it yet.
[[gnu::cold]] void end_checks(RmaWindow& window, Rank target, Status* outcome) {
  const Status checked = end_passive(window, target);
  if (outcome->ok()) *outcome = checked;
}

}  // namespace

Status lock_not_taken(RmaWindow& window, Target& target, Status why) {
  target.open = false;
  end(window, target, "MPI_Win_lock, which failed");
  return why;
}

Status win_lock(int lock_type, int rank, int assert, Window& win) {
  RmaWindow& window = of(win);
  if (rank == MPI_PROC_NULL) return {};
  ASHLAR_TRY(check_rank(window, rank));
  if (lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE)
    return fail(MPI_ERR_LOCKTYPE, "argument.value",
                {{"argument", "lock_type"}, {"value", lock_type}, {"wanted", "MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE"}});
  ASHLAR_TRY(check_assert(assert, MPI_MODE_NOCHECK, "MPI_MODE_NOCHECK"));
  if (window.hints.no_locks) [[unlikely]]
    ASHLAR_TRY(promise_broken(window));
  Target* entry = nullptr;
  ASHLAR_TRY(window.targets.find_or_make(window, rank, &entry));
  Target& target = *entry;
  const bool exclusive = lock_type == MPI_LOCK_EXCLUSIVE;
  const bool checked = (assert& MPI_MODE_NOCHECK) == 0;
  ASHLAR_TRY(begin(window, target, !checked ? Held::kUnchecked : exclusive ? Held::kExclusive : Held::kShared));
  const Status locked = checked ? window.sync->lock(target, exclusive) : Status();
  if (!locked.ok()) return lock_not_taken(window, target, locked);
  target.open = true;
  return {};
}

Status win_unlock(int rank, Window& win) {
  RmaWindow& window = of(win);
  if (rank == MPI_PROC_NULL) return {};
  ASHLAR_TRY(check_rank(window, rank));
  Target* const entry = window.targets.find(rank);
  if (entry == nullptr || entry->held == Held::kNothing) [[unlikely]]
    return not_locked(window, rank);
  Target& target = *entry;
  Status flushed = flush("MPI_Win_unlock", window, target, true);
  if (window.check != nullptr) [[unlikely]]
    end_checks(window, rank, &flushed);
  // The lock is given back whether or not an operation failed: other processes wait for it.
  const Held held = target.held;
  target.open = false;
  const Status given = held == Held::kUnchecked ? Status() : window.sync->unlock(target, held == Held::kExclusive);
  end(window, target, "MPI_Win_unlock");
  count_call(window);
  return flushed.ok() ? given : flushed;
}

Status win_lock_all(int assert, Window& win) {
  RmaWindow& window = of(win);
  ASHLAR_TRY(check_assert(assert, MPI_MODE_NOCHECK, "MPI_MODE_NOCHECK"));
  if (window.hints.no_locks) [[unlikely]]
    ASHLAR_TRY(promise_broken(window));
  if (!accesses_nothing(window)) return wrong_epoch(window, "no access epoch to be open");
  if (window.epochs.access == AccessEpoch::kFence) leave_fence(window);
  window.all_unchecked = (assert& MPI_MODE_NOCHECK) != 0;
  if (!window.all_unchecked) ASHLAR_TRY(window.sync->lock_all());
  window.passive_to_all = true;
  window.open_to_all.store(true, std::memory_order_relaxed);
  window.epochs.access = AccessEpoch::kLockAll;
  window.epochs.last = "MPI_Win_lock_all";
  return {};
}

Status win_unlock_all(Window& win) {
  RmaWindow& window = of(win);
  if (window.epochs.access != AccessEpoch::kLockAll)
    return wrong_epoch(window, "an access epoch of MPI_Win_lock_all to be open");
  Status flushed = flush_all("MPI_Win_unlock_all", window, true);
  if (window.check != nullptr) [[unlikely]]
    end_checks(window, kEveryTarget, &flushed);
  const Status given = window.all_unchecked ? Status() : window.sync->unlock_all();
  window.passive_to_all = false;
  window.open_to_all.store(false, std::memory_order_relaxed);
  window.epochs.access = AccessEpoch::kNone;
  window.epochs.last = "MPI_Win_unlock_all";
  count_call(window);
  return flushed.ok() ? given : flushed;
}

}  // namespace ashlar::rma
