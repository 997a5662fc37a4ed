#pragma once
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "framework/base/status.h"

namespace ashlar::mpiexec {

/// How mpiexec itself was started; ranks start the same way.
struct Inherited {
  sigset_t mask;
  bool pipe_ignored = false;  // SIGPIPE; mpiexec ignores it, and SIGXFSZ, and learns the reason from write
  bool file_size_ignored = false;
  rlimit files = {};  // mpiexec raises its own limit when it has many ranks
};

struct SpawnRequest {
  const char* file = nullptr;  // found beforehand, with its folder
  const char* const* argv = nullptr;
  const char* const* envp = nullptr;
  const char* wdir = nullptr;  // nullptr: here
  int in = -1, out = -1, err = -1;
  int keep[3] = {-1, -1, -1};                   // descriptors the rank gets under their own numbers
  const std::vector<unsigned>* cpus = nullptr;  // nullptr or empty: not bound
  bool own_group = true;
  const Inherited* inherited = nullptr;
};

struct SpawnResult {
  pid_t pid = -1;
  int error = 0;          // errno of the step that failed
  const char* step = "";  // "execve", "chdir", ...
  int bind_error = 0;     // binding failed with this errno; the rank runs all the same
};

/// Starts a process that the kernel kills when the calling thread's process dies, even between these lines.
/// Shares memory with the caller until it has exec'ed, so it costs the same however large the caller is. Blocks until
/// then. Call it from the main thread only: the death signal is tied to the thread.
SpawnResult spawn(const SpawnRequest& request);

/// Finds the program as execvp would, first in `path`, then in PATH.
Status find_program(const std::string& name, const std::string& path, const std::string& wdir,
                    const std::string& environment_path, std::string* found);

}  // namespace ashlar::mpiexec
