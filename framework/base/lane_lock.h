#pragma once
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "framework/base/event.h"
#include "framework/base/thread_annotations.h"

namespace ashlar {

/// A mutex that costs one predictable branch until threads are on, or a tool listens to events: these are delivered
/// when a thread gives up its last lane lock. `enable_threads()` is called once, before a second thread may enter the
/// library (MPI_THREAD_MULTIPLE). The byte that says so is also where a short path sees, with the same test, that it
/// must not be taken: plain().
class ASHLAR_CAPABILITY("lane lock") LaneLock {
 public:
  void lock() ASHLAR_ACQUIRE() {
    const std::uint8_t mode = mode_.load(std::memory_order_relaxed);
    if (mode == 0) [[likely]]
      return;
    if (mode & kEvents) event::entered_lane();
    if (mode & kThreads) take();
  }
  bool try_lock() ASHLAR_TRY_ACQUIRE(true) {
    const std::uint8_t mode = mode_.load(std::memory_order_relaxed);
    if ((mode & kThreads) != 0 && !mutex_.try_lock()) return false;
    if (mode & kEvents) event::entered_lane();
    return true;
  }
  void unlock() ASHLAR_RELEASE() {
    const std::uint8_t mode = mode_.load(std::memory_order_relaxed);
    if (mode == 0) [[likely]]
      return;
    if (mode & kThreads) {
      inside_.store(0, std::memory_order_relaxed);
      mutex_.unlock();
    }
    if (mode & kEvents) event::left_lane();
  }
  /// Around what a call does without the lock before it goes on: others may have it, but the call is not over.
  void step_out() ASHLAR_RELEASE() {
    const std::uint8_t mode = mode_.load(std::memory_order_relaxed);
    if (mode == 0) [[likely]]
      return;
    if (mode & kThreads) mutex_.unlock();
    if (mode & kEvents) event::left_lane();
  }
  void step_in() ASHLAR_ACQUIRE() { lock(); }

  /// For the holder between two rounds of waiting: lets one thread that waits for the lock have it, if there is any.
  /// A plain unlock and lock would keep them out, because the mutex is not fair and they are asleep.
  void give_way() ASHLAR_REQUIRES(this) ASHLAR_NO_THREAD_SAFETY {
    if (!threads_on() || wanted_.load(std::memory_order_relaxed) == 0) return;
    mutex_.unlock();
    for (int i = 0; i < kPatience && wanted_.load(std::memory_order_relaxed) != 0; ++i) sched_yield();
    take();
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

  /// Whether there are no threads, no tool listens to events, and no tool counts the messages of a communicator.
  static bool plain() { return mode_.load(std::memory_order_relaxed) == 0; }
  /// Whether a tool counts the messages of a communicator. For good, as enable_events().
  static bool counts() { return (mode_.load(std::memory_order_relaxed) & kCounts) != 0; }
  static void enable_counts() { mode_.fetch_or(kCounts, std::memory_order_relaxed); }

  static bool threads_on() { return (mode_.load(std::memory_order_relaxed) & kThreads) != 0; }
  static void enable_threads() { mode_.fetch_or(kThreads, std::memory_order_relaxed); }
  /// From now on a thread that gives up its last lock delivers the events that it has raised. For good: a thread that
  /// is between lock() and unlock() must find the same rule.
  static void enable_events() { mode_.fetch_or(kEvents, std::memory_order_relaxed); }

 private:
  void take() ASHLAR_NO_THREAD_SAFETY {
    if (watch_ != Watch::kNone) [[unlikely]]
      check_entry();
    if (!mutex_.try_lock()) {
      wanted_.fetch_add(1, std::memory_order_relaxed);
      mutex_.lock();
      wanted_.fetch_sub(1, std::memory_order_relaxed);
    }
    ++uses_;
  }
  void check_entry();

  static Watch watch_;
  static constexpr int kPatience = 4;  // yields after which the lock is taken back even if no thread came
  static constexpr std::uint8_t kThreads = 1, kEvents = 2, kCounts = 4;
  static std::atomic<std::uint8_t> mode_;  // in lane_lock.cc: one for all libraries that see this header
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
