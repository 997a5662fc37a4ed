// MPI_Win_flush and its kin, and MPI_Win_sync.
#include <mpi.h>

#include <atomic>

#include "framework/progress/waiting.h"
#include "framework/rma/api.h"
#include "framework/rma/check.h"
#include "framework/rma/epochs.h"
#include "framework/rma/flush.h"
#include "framework/rma/ways.h"

namespace ashlar::rma {
namespace {

/// With check.rma; nullptr: of all targets.
[[gnu::cold]] Status checked_flush(const char* name, RmaWindow& window, Target* target) {
  const Status checked = end_passive(window, target != nullptr ? target->rank : kEveryTarget);
  const Status flushed = target != nullptr ? flush(name, window, *target, true) : flush_all(name, window, true);
  if (!flushed.ok()) return flushed;
  ASHLAR_TRY(nothing_outstanding(window));
  return checked;
}

Status flush_one(const char* name, RmaWindow& window, int rank, bool remote) {
  if (rank == MPI_PROC_NULL) return {};
  if (static_cast<std::uint32_t>(rank) >= static_cast<std::uint32_t>(window.ranks))
    return bad_rank(window, "rank", rank);
  Target* const target = window.targets.find(rank);
  if (!window.passive_to_all && (target == nullptr || target->held == Held::kNothing)) return not_passive(window, rank);
  if (window.check != nullptr && remote && target != nullptr) [[unlikely]]
    return checked_flush(name, window, target);
  if (target != nullptr && target->outstanding) return flush(name, window, *target, remote);
  return nothing_outstanding(window);
}

Status flush_every(const char* name, RmaWindow& window, bool remote) {
  if (!window.passive_to_all && window.epochs.access != AccessEpoch::kLock)
    return wrong_epoch(window, "a passive target epoch to be open");
  if (window.check != nullptr && remote) [[unlikely]]
    return checked_flush(name, window, nullptr);
  if (window.any_outstanding) return flush_all(name, window, remote);
  return nothing_outstanding(window);
}

}  // namespace

void make_round(RmaWindow& window) {
  const LaneGuard guard(window.lane().lock);
  progress::look(window.lane());
}

Status win_flush(int rank, Window& win) { return flush_one("MPI_Win_flush", of(win), rank, true); }
Status win_flush_all(Window& win) { return flush_every("MPI_Win_flush_all", of(win), true); }
Status win_flush_local(int rank, Window& win) { return flush_one("MPI_Win_flush_local", of(win), rank, false); }
Status win_flush_local_all(Window& win) { return flush_every("MPI_Win_flush_local_all", of(win), false); }

// All copies of the window are one here; what is left is the order of this process's loads and stores, and progress.
Status win_sync(Window& win) {
  RmaWindow& window = of(win);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  Lane& lane = window.lane();
  const LaneGuard guard(lane.lock);
  progress::look(lane);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return {};
}

}  // namespace ashlar::rma
