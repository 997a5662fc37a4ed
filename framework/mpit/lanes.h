#pragma once
#include "framework/runtime/process.h"

namespace ashlar::mpit {

/// Whether the calling thread may look into what lanes hold: with threads locks guard it. Without, the thread is the
/// one that calls MPI; with MPI_THREAD_SERIALIZED the program sees to that.
inline bool may_look_into_lanes() {
  const Process* const process = Process::current();
  return process == nullptr || process->thread_level == MPI_THREAD_SERIALIZED || process->may_enter_lanes();
}

}  // namespace ashlar::mpit
