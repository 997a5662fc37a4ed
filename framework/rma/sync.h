#pragma once
#include <cstdint>
#include <span>

#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/rma/target.h"

namespace ashlar::rma {

struct Guard;

/// How the processes of a window wait for each other: through a block of memory that all of them map, or by messages.
/// One object per window and process. The window has checked that the call is allowed (epoch.h), and has completed its
/// own operations as far as the call demands. All of them block unless said; none holds the lane's lock when called,
/// and while they wait the lane makes progress. A wait fails when a process it needs is gone.
class Sync {
 public:
  virtual ~Sync() = default;
  virtual const char* name() const = 0;  // "shared", "messages": for records

  /// Until every process of the window has called it. All their stores to window memory are visible then. `call`: the
  /// user's, for reports.
  virtual Status barrier(const char* call) = 0;

  /// MPI_Win_post; never waits. `origins`: ranks in the window's group, without duplicates.
  virtual Status post(std::span<const Rank> origins, bool no_check) = 0;
  /// MPI_Win_start: until every one of `targets` has posted to this process, unless `no_check`.
  virtual Status start(std::span<const Rank> targets, bool no_check) = 0;
  /// MPI_Win_complete; never waits. The operations are complete at their targets.
  virtual Status complete(std::span<const Rank> targets) = 0;
  /// MPI_Win_wait, MPI_Win_test: `*over` when every one of the origins of the last post has completed; `wait`: until
  /// then.
  virtual Status exposure_over(std::span<const Rank> origins, bool wait, bool* over) = 0;

  virtual Status lock(Target& target, bool exclusive) = 0;
  virtual Status unlock(Target& target, bool exclusive) = 0;
  virtual Status lock_all() = 0;
  virtual Status unlock_all() = 0;

  /// What makes updates of the memory of `target` atomic (guard.h). Constant for the life of the window.
  virtual Guard guard(Rank target) = 0;
};

}  // namespace ashlar::rma
