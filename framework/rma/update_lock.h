#pragma once
#include <atomic>
#include <cstdint>

#include "framework/rma/guard.h"

namespace ashlar::rma {

/// Holds the lock of a target's update line: a mutex in shared memory, of processes and of their threads. Held for at
/// most `Guard::range.bytes` of an update, so its holder is soon done; not fair.
class UpdateLockGuard {
 public:
  explicit UpdateLockGuard(const Guard& guard) : line_(*guard.line) {
    std::uint32_t free = kFree;
    if (!line_.lock.compare_exchange_strong(free, kHeld, std::memory_order_acquire, std::memory_order_relaxed))
        [[unlikely]]
      wait();
    line_.holder.store(guard.own + 1, std::memory_order_relaxed);
  }
  ~UpdateLockGuard() {
    line_.holder.store(0, std::memory_order_relaxed);
    if (line_.lock.exchange(kFree, std::memory_order_release) == kAwaited) [[unlikely]]
      wake_one();
  }
  UpdateLockGuard(const UpdateLockGuard&) = delete;
  UpdateLockGuard& operator=(const UpdateLockGuard&) = delete;

 private:
  static constexpr std::uint32_t kFree = 0, kHeld = 1, kAwaited = 2;
  void wait();
  void wake_one();

  UpdateLine& line_;
};

}  // namespace ashlar::rma
