#include "framework/rma/update_lock.h"

#include "framework/rma/patience.h"

namespace ashlar::rma {

// A process that has slept takes the lock as kAwaited, because it does not know whether it was the only sleeper: at
// worst the unlock wakes a process in vain.
void UpdateLockGuard::wait() {
  Patience patience;
  std::uint32_t taken_as = kHeld;
  for (;;) {
    std::uint32_t seen = line_.lock.load(std::memory_order_relaxed);
    if (seen == kFree) {
      if (line_.lock.compare_exchange_weak(seen, taken_as, std::memory_order_acquire, std::memory_order_relaxed))
        return;
      continue;
    }
    if (patience.about_to_sleep() && seen == kHeld) {
      if (!line_.lock.compare_exchange_weak(seen, kAwaited, std::memory_order_relaxed)) continue;
      seen = kAwaited;
    }
    if (patience.round(line_.lock, seen)) taken_as = kAwaited;
  }
}

void UpdateLockGuard::wake_one() { wake(line_.lock, 1); }

}  // namespace ashlar::rma
