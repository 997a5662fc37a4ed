#include "framework/base/lane_lock.h"

#include <pthread.h>

namespace ashlar {

std::atomic<std::uint8_t> LaneLock::mode_{0};
LaneLock::Watch LaneLock::watch_ = Watch::kNone;
void (*LaneLock::intruded)(const char* what) = nullptr;

namespace {

std::uintptr_t main_thread = 0;

std::uintptr_t this_thread() { return static_cast<std::uintptr_t>(pthread_self()); }

}  // namespace

void LaneLock::watch_threads(Watch watch) {
  main_thread = this_thread();
  watch_ = watch;
  if (watch != Watch::kNone) enable_threads();
}

void LaneLock::check_entry() {
  const std::uintptr_t me = this_thread(), other = inside_.load(std::memory_order_relaxed);
  if (watch_ == Watch::kMainThread && me != main_thread)
    intruded("a thread that is not the one that initialised MPI made an MPI call");
  if (other != 0 && other != me) intruded("two threads were in MPI calls at the same time");
  inside_.store(me, std::memory_order_relaxed);
}

}  // namespace ashlar
