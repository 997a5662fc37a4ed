#pragma once
#include <cstdint>

namespace ashlar::rma {

/// The access epoch of a process in a window: which operations it may call, to which targets (MPI-5.0, 12.5).
enum class AccessEpoch : std::uint8_t {
  kNone,
  kLock,    // to each target that is locked; beside kNone: MPI_Win_lock looks for one of the two
  kFence,   // to all, since MPI_Win_fence; it counts only from the first operation on (RmaWindow::open_to_all)
  kStart,   // to the group of MPI_Win_start
  kLockAll  // to all, since MPI_Win_lock_all
};

/// Whether others may access this process's memory by active target synchronization.
enum class ExposureEpoch : std::uint8_t { kNone, kFence, kPost };

/// The epochs of one process in one window. They belong to the process, not to a thread; two threads that change them
/// at the same time are a mistake of the program.
struct Epochs {
  AccessEpoch access = AccessEpoch::kNone;
  ExposureEpoch exposure = ExposureEpoch::kNone;
  std::uint32_t locks = 0;           // targets that are locked
  const char* last = "none so far";  // the call that changed them last: for sentences
};

}  // namespace ashlar::rma
