#pragma once
#include <cstddef>

#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/rma/patience.h"
#include "framework/rma/window.h"

namespace ashlar::plugin {
class AccountWriter;
}
namespace ashlar::rma {

/// A state of shared memory that other processes of a window bring about.
class Condition {
 public:
  /// Whether it holds. Called many times, with the lane's lock held or not.
  virtual bool holds() = 0;
  /// Between two calls of holds(), while it may hold soon.
  virtual void pause() const { pause_briefly(); }
  /// Called before the process may sleep, and before its last look: asks the others to wake it; and when it waits no
  /// more.
  virtual void announce() = 0;
  virtual void withdraw() = 0;
  /// Whether wait() has the lane's lock while it calls holds(); it says so.
  bool lane_is_held() const { return lane_is_held_; }
  void set_lane_is_held(bool held) { lane_is_held_ = held; }
  /// The user's call that waits for it.
  virtual const char* call() const = 0;
  /// The rank it is waited for, or -1, and what for, for reports: "for the lock of rank 3, which rank 1 holds".
  virtual Rank awaited() const = 0;
  virtual void describe(char* out, std::size_t room) const = 0;

 protected:
  ~Condition() = default;

 private:
  bool lane_is_held_ = false;
};

/// Waits until the condition holds; meanwhile the process makes progress. Fails with MPI_ERR_PROC_ABORTED when a
/// process of the window is gone. The lane's lock is not held.
Status wait(RmaWindow& window, Condition& condition);

/// Writes into a report that a call on the window waits for `reason`, which is up to the process of `rank`; -1: to any.
void tell_wait(plugin::AccountWriter& account, const RmaWindow& window, Rank rank, const char* reason);

/// Wakes the process, should it sleep, because memory that it waits for has changed. `lane_is_held`: the caller holds
/// the lane's lock, as a condition may.
void wake(RmaWindow& window, Rank rank, bool lane_is_held = false);

}  // namespace ashlar::rma
