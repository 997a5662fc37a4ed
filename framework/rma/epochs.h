#pragma once
#include <sched.h>

#include <atomic>

#include "framework/base/lane_lock.h"
#include "framework/base/status.h"
#include "framework/rma/aim.h"
#include "framework/rma/window.h"

/// What the synchronization calls have in common.
namespace ashlar::rma {

/// Whether no access epoch is open, or only one of a fence that no operation has followed, which is none (MPI-5.0,
/// 12.5.1).
inline bool accesses_nothing(const RmaWindow& window) {
  const AccessEpoch now = window.epochs.access;
  return now == AccessEpoch::kNone ||
         (now == AccessEpoch::kFence && !window.open_to_all.load(std::memory_order_relaxed));
}
inline bool exposes_nothing(const RmaWindow& window) { return window.epochs.exposure != ExposureEpoch::kPost; }

/// Held while a lock or unlock changes the epochs: several threads may hold locks of different targets. Other
/// synchronization calls of one window are made by one thread at a time.
class EpochGuard {
 public:
  explicit EpochGuard(RmaWindow& window) : flag_(LaneLock::threads_on() ? &window.changing : nullptr) {
    while (flag_ != nullptr && flag_->test_and_set(std::memory_order_acquire)) sched_yield();
  }
  ~EpochGuard() {
    if (flag_ != nullptr) flag_->clear(std::memory_order_release);
  }
  EpochGuard(const EpochGuard&) = delete;
  EpochGuard& operator=(const EpochGuard&) = delete;

 private:
  std::atomic_flag* const flag_;
};

/// The call `call` is not allowed now; `wanted` says what would have to be.
[[gnu::cold]] Status wrong_epoch(const RmaWindow& window, const char* wanted);
/// `assert` has a bit that is none of the known ones.
[[gnu::cold]] Status bad_assert(int assert, const char* names);
inline Status check_assert(int assert, int known, const char* names) {
  if ((assert & ~known) == 0) [[likely]]
    return {};
  return bad_assert(assert, names);
}

/// Ends the epoch of a fence, which another kind of epoch follows.
void leave_fence(RmaWindow& window);

}  // namespace ashlar::rma
