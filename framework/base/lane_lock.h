#pragma once
#include <atomic>
#include <mutex>

#include "framework/base/thread_annotations.h"

namespace ashlar {

/// A mutex that costs one predictable branch until threads are on.
/// `enable_threads()` is called once, before a second thread may enter the library (MPI_THREAD_MULTIPLE).
class ASHLAR_CAPABILITY("lane lock") LaneLock {
 public:
  void lock() ASHLAR_ACQUIRE() {
    if (threads_on()) [[unlikely]] mutex_.lock();
  }
  bool try_lock() ASHLAR_TRY_ACQUIRE(true) { return !threads_on() || mutex_.try_lock(); }
  void unlock() ASHLAR_RELEASE() {
    if (threads_on()) [[unlikely]] mutex_.unlock();
  }

  static bool threads_on() { return threads_on_.load(std::memory_order_relaxed); }
  static void enable_threads() { threads_on_.store(true, std::memory_order_relaxed); }

 private:
  static std::atomic<bool> threads_on_;  // in lane_lock.cc: one for all libraries that see this header
  std::mutex mutex_;
};

class ASHLAR_SCOPED_CAPABILITY LaneGuard {
 public:
  explicit LaneGuard(LaneLock& lock) ASHLAR_ACQUIRE(lock) : lock_(lock) { lock_.lock(); }
  ~LaneGuard() ASHLAR_RELEASE() { lock_.unlock(); }
  LaneGuard(const LaneGuard&) = delete;
  LaneGuard& operator=(const LaneGuard&) = delete;

 private:
  LaneLock& lock_;
};

}  // namespace ashlar
