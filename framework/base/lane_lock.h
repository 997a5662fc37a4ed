#pragma once
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "framework/base/thread_annotations.h"

namespace ashlar {

/// A mutex that costs one predictable branch until threads are on.
/// `enable_threads()` is called once, before a second thread may enter the library (MPI_THREAD_MULTIPLE).
class ASHLAR_CAPABILITY("lane lock") LaneLock {
 public:
  void lock() ASHLAR_ACQUIRE() {
    if (threads_on()) [[unlikely]] {
      if (watch_ != Watch::kNone) [[unlikely]]
        check_entry();
      if (!mutex_.try_lock()) {
        wanted_.fetch_add(1, std::memory_order_relaxed);
        mutex_.lock();
        wanted_.fetch_sub(1, std::memory_order_relaxed);
      }
      ++uses_;
    }
  }
  bool try_lock() ASHLAR_TRY_ACQUIRE(true) { return !threads_on() || mutex_.try_lock(); }
  void unlock() ASHLAR_RELEASE() {
    if (threads_on()) [[unlikely]] {
      inside_.store(0, std::memory_order_relaxed);
      mutex_.unlock();
    }
  }
  /// Around what a call does without the lock before it goes on: others may have it, but the call is not over.
  void step_out() ASHLAR_RELEASE() {
    if (threads_on()) [[unlikely]]
      mutex_.unlock();
  }
  void step_in() ASHLAR_ACQUIRE() { lock(); }

  /// For the holder between two rounds of waiting: lets one thread that waits for the lock have it, if there is any.
  /// A plain unlock and lock would keep them out, because the mutex is not fair and they are asleep.
  void give_way() ASHLAR_REQUIRES(this) ASHLAR_NO_THREAD_SAFETY {
    if (!threads_on() || wanted_.load(std::memory_order_relaxed) == 0) return;
    mutex_.unlock();
    for (int i = 0; i < kPatience && wanted_.load(std::memory_order_relaxed) != 0; ++i) sched_yield();
    lock();
  }

  /// Tells the analysis what it cannot see: that the caller holds this lock, by another name.
  void held_by_caller() const ASHLAR_ASSERTS(this) {}
  /// How often it was locked (not by try_lock), with threads on: whether a thread has used what it guards since a look
  /// before.
  std::uint32_t uses() const ASHLAR_REQUIRES(this) { return uses_; }

  /// Which threads may be in the library below MPI_THREAD_MULTIPLE.
  enum class Watch : std::uint8_t { kNone, kOneAtATime, kMainThread };
  /// From now on every lock() looks whether the calling thread may enter; this one is the main thread. Once, before a
  /// second thread may enter the library.
  static void watch_threads(Watch watch);
  /// What happens to a thread that may not, and does not return; set once.
  static void (*intruded)(const char* what);

  static bool threads_on() { return threads_on_.load(std::memory_order_relaxed); }
  static void enable_threads() { threads_on_.store(true, std::memory_order_relaxed); }

 private:
  void check_entry();

  static Watch watch_;
  static constexpr int kPatience = 4;    // yields after which the lock is taken back even if no thread came
  static std::atomic<bool> threads_on_;  // in lane_lock.cc: one for all libraries that see this header
  std::mutex mutex_;
  std::atomic<int> wanted_{0};  // threads asleep in lock()
  std::uint32_t uses_ = 0;
  std::atomic<std::uintptr_t> inside_{0};  // with a watch: the thread whose call is not over
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
