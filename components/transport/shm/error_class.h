#pragma once

namespace ashlar::shm {

// The standard ABI's error classes that this component gives (a unit test compares them with <mpi.h>).
inline constexpr int kErrArg = 13;
inline constexpr int kErrOther = 16;
inline constexpr int kErrNoMem = 39;
inline constexpr int kErrUnsupported = 55;
inline constexpr int kErrProcAborted = 58;

}  // namespace ashlar::shm
