#include "mpiexec/guard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "mpiexec/pipe.h"
#include "mpiexec/start_errors.h"

namespace ashlar::mpiexec {

Status Guard::start(unsigned ranks, const std::string& folder) {
  ranks_ = ranks;
  void* at = mmap(nullptr, ranks * sizeof *groups_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int ends[2];
  if (at == MAP_FAILED || !make_pipe(ends)) return cannot("set up the guard process (mmap and pipe)", errno);
  groups_ = static_cast<std::atomic<pid_t>*>(at);
  pid_ = fork();
  if (pid_ < 0) return cannot("start the guard process", errno);
  if (pid_ > 0) {
    close(ends[0]);
    pipe_ = ends[1];
    return {};
  }
  // In the guard: nothing of mpiexec's may stay open here, and no signal meant for the job may end it.
  setsid();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  prctl(PR_SET_NAME, "mpiexec-guard");
  dup2(ends[0], 0);
  close(ends[1]);  // its own end would keep the end of file from ever coming
  if (syscall(SYS_close_range, 1u, ~0u, 0u) != 0)
    for (int fd = 1; fd < 1024; ++fd) close(fd);  // before Linux 5.9
  char byte;
  while (read(0, &byte, 1) < 0 && errno == EINTR) {
  }
  for (unsigned r = 0; r < ranks_; ++r)
    if (const pid_t group = groups_[r].load(); group > 1) kill(-group, SIGKILL);
  std::error_code ignored;  // mpiexec has removed it itself when it has had the time
  if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
  _exit(0);
}

Guard::~Guard() {
  if (pipe_ >= 0) close(pipe_);
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
  if (groups_) munmap(static_cast<void*>(groups_), ranks_ * sizeof *groups_);
}

}  // namespace ashlar::mpiexec
