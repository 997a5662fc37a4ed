#include "mpiexec/pipe.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace ashlar::mpiexec {

bool make_pipe(int ends[2], int flags) {
  if (pipe2(ends, O_CLOEXEC | flags) == 0) return true;
  if (errno != EPERM && errno != ENOSYS && errno != EACCES) return false;
#ifdef SYS_pipe
  if (syscall(SYS_pipe, ends) != 0) return false;
  for (int i = 0; i < 2; ++i) {
    fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    if (flags != 0) fcntl(ends[i], F_SETFL, flags);
  }
  return true;
#else
  return false;  // this machine has pipe2 only
#endif
}

}  // namespace ashlar::mpiexec
