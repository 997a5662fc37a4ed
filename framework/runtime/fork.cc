#include "framework/runtime/fork.h"

#include <mpi.h>
#include <pthread.h>

#include <atomic>

#include "framework/base/failure.h"
#include "framework/object/errhandler.h"
#include "framework/runtime/process.h"

namespace ashlar::runtime {
namespace {

std::atomic<bool> child{false};
constexpr char kForked[] = "this process was forked from one that uses MPI";

void in_child() {
  child.store(true);
  // The job is the rank's: an error here ends this process alone.
  error_hooks.abort = nullptr;
  error_hooks.report = nullptr;
  error_hooks.forked = true;
  if (Process* const process = Process::current()) process->cut_off(kForked);
}

}  // namespace

void watch_forks() {
  static const bool watched = pthread_atfork(nullptr, nullptr, in_child) == 0;
  (void)watched;
}

bool forked() noexcept { return child.load(std::memory_order_relaxed); }

Status check_not_forked() {
  if (!forked()) return {};
  return fail(MPI_ERR_OTHER, "process.forked");
}

}  // namespace ashlar::runtime
