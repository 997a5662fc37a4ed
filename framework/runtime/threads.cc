#include "framework/runtime/threads.h"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "framework/base/failure.h"
#include "framework/base/lane_lock.h"
#include "framework/object/errhandler.h"
#include "framework/runtime/process.h"

namespace ashlar::runtime {
namespace {

const char* name_of(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE:
      return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    default:
      return "MPI_THREAD_SERIALIZED";
  }
}

[[noreturn]] void intruded(const char* what) {
  LaneLock::watch_threads(LaneLock::Watch::kNone);  // what reports this may lock
  end_job(fail(MPI_ERR_OTHER, "thread.level", {{"what", what}, {"level", name_of(Process::current()->thread_level)}}),
          "an MPI call");
}

constexpr int kNoLanes = -1;
std::atomic<int> level_in_use{kNoLanes};
std::atomic<std::thread::id> program_thread{};

}  // namespace

void lanes_begin(int thread_level) {
  const int before = level_in_use.load(std::memory_order_relaxed);
  if (before == kNoLanes) program_thread.store(std::this_thread::get_id(), std::memory_order_relaxed);
  level_in_use.store(std::max(before, thread_level), std::memory_order_release);
}

void lanes_end() { level_in_use.store(kNoLanes, std::memory_order_relaxed); }

bool may_enter_lanes() {
  if (LaneLock::threads_on()) return true;
  const int level = level_in_use.load(std::memory_order_acquire);
  return level < MPI_THREAD_SERIALIZED &&
         (level == kNoLanes || program_thread.load(std::memory_order_relaxed) == std::this_thread::get_id());
}

bool may_look_into_lanes() {
  return level_in_use.load(std::memory_order_acquire) == MPI_THREAD_SERIALIZED || may_enter_lanes();
}

void watch_threads(int thread_level, bool check) {
  LaneLock::intruded = intruded;
  if (!check || thread_level == MPI_THREAD_MULTIPLE) return;
  LaneLock::watch_threads(thread_level == MPI_THREAD_SERIALIZED ? LaneLock::Watch::kOneAtATime
                                                                : LaneLock::Watch::kMainThread);
}

}  // namespace ashlar::runtime
