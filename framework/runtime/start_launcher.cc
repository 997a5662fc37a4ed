// A launcher for a process that has none which starts further jobs: mpiexec of this installation.
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "framework/base/failure.h"
#include "framework/param/sources.h"
#include "framework/plugin/further_job.h"
#include "framework/runtime/other_jobs.h"

extern char** environ;

namespace ashlar::runtime {
namespace {

struct Start {
  const char* file;
  const char* const* argv;
  char* const* envp;
  int socket;
  int error;
  char* inner_stack;  // its end
};

constexpr std::size_t kStack = 64 * 1024;

/// Runs in the memory of the process, which waits: system calls only.
int run_launcher(void* argument) {
  auto& start = *static_cast<Start*>(argument);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  fcntl(start.socket, F_SETFD, 0);
  execve(start.file, const_cast<char* const*>(start.argv), start.envp);
  start.error = errno;
  _exit(127);
}

/// The process in between, which ends at once: the program has no child that it could wait for by accident.
int step_between(void* argument) {
  auto& start = *static_cast<Start*>(argument);
  setsid();
  const int pid = clone(run_launcher, start.inner_stack, CLONE_VM | CLONE_VFORK | SIGCHLD, argument);
  if (pid < 0) start.error = errno;
  return 0;
}

/// The environment without what belongs to a rank of a launcher, and with the descriptor.
std::vector<std::string> environment_with(int socket) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (std::strncmp(*entry, "ASHLAR__", 8) != 0) out.emplace_back(*entry);
  char variable[64];
  std::snprintf(variable, sizeof variable, "%s=%d:1", launch::kFurtherVariable, socket);
  out.emplace_back(variable);
  return out;
}

}  // namespace

Status start_launcher(Descriptor* socket) {
  const std::string file = param::installation_prefix() + "/bin/mpiexec";
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(MPI_ERR_SPAWN, "spawn.no_launcher", {{"lower", std::strerror(errno)}});
  Descriptor ours(ends[0]), theirs(ends[1]);
  const std::vector<std::string> environment = environment_with(theirs.get());
  std::vector<char*> envp;
  for (const std::string& entry : environment) envp.push_back(const_cast<char*>(entry.c_str()));
  envp.push_back(nullptr);
  const char* const argv[] = {"mpiexec", nullptr};
  const auto end_of = [](std::vector<char>& stack) {
    return stack.data() + stack.size() - reinterpret_cast<std::uintptr_t>(stack.data() + stack.size()) % 16;
  };
  std::vector<char> stack(kStack), inner_stack(kStack);
  Start start{.file = file.c_str(),
              .argv = argv,
              .envp = envp.data(),
              .socket = theirs.get(),
              .error = 0,
              .inner_stack = end_of(inner_stack)};
  // Signals of the program stay out of the two processes that share its memory for a moment. The first has no signal
  // for its end, so that the program hears nothing of it.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int pid = clone(step_between, end_of(stack), CLONE_VM | CLONE_VFORK, &start);
  const int error = pid < 0 ? errno : 0;
  if (pid > 0) waitpid(pid, nullptr, static_cast<int>(__WCLONE));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0 || start.error != 0)
    return fail(MPI_ERR_SPAWN, "spawn.no_launcher",
                {{"lower", file + ": " + std::strerror(error ? error : start.error)}});
  *socket = std::move(ours);
  return {};
}

}  // namespace ashlar::runtime
