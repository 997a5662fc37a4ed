#include "framework/runtime/fork.h"

#include <mpi.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "framework/base/arena_clear.h"
#include "framework/object/errhandler.h"
#include "framework/object/handle.h"
#include "framework/runtime/process.h"

namespace ashlar::runtime {
namespace {

std::atomic<bool> child{false};

// Other threads may have held any lock when the rank forked: nothing here takes one.
void in_child() {
  child.store(true);
  for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
    predefined_objects[reinterpret_cast<std::uintptr_t>(comm)] = nullptr;
  Process::forget();
  // The job is the rank's: an error here ends this process alone.
  error_hooks.abort = nullptr;
  error_hooks.report = nullptr;
  clear_arena();
}

}  // namespace

void watch_forks() {
  static const bool watched = pthread_atfork(nullptr, nullptr, in_child) == 0;
  (void)watched;
}

bool forked() noexcept { return child.load(std::memory_order_relaxed); }

Status check_not_forked() {
  if (!forked()) return {};
  return Status::fail(MPI_ERR_OTHER,
                      "this process was forked from one that uses MPI, and shares its memory; a program that it starts "
                      "with exec may use MPI");
}

}  // namespace ashlar::runtime
