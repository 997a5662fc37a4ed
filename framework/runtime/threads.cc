#include "framework/runtime/threads.h"

#include <mpi.h>

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

}  // namespace

void watch_threads(int thread_level, bool check) {
  LaneLock::intruded = intruded;
  if (!check || thread_level == MPI_THREAD_MULTIPLE) return;
  LaneLock::watch_threads(thread_level == MPI_THREAD_SERIALIZED ? LaneLock::Watch::kOneAtATime
                                                                : LaneLock::Watch::kMainThread);
}

}  // namespace ashlar::runtime
