#pragma once

namespace ashlar::mpiexec {

/// A pipe with O_CLOEXEC, and other flags of fcntl, on both ends, where pipe2 is forbidden too. False with errno.
bool make_pipe(int ends[2], int flags = 0);

}  // namespace ashlar::mpiexec
