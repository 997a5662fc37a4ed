#include "mpiexec/further_jobs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <utility>

#include "framework/plugin/further_job.h"
#include "framework/plugin/launch_board.h"
#include "mpiexec/pipe.h"
#include "mpiexec/start_errors.h"
#include "mpiexec/text.h"

extern char** environ;

namespace ashlar::mpiexec {
namespace {

bool is_own_user(int fd) {
  ucred other = {};
  socklen_t size = sizeof other;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 && other.uid == geteuid();
}

}  // namespace

void FurtherJobs::open() {
  std::uint64_t place = 0;
  if (getrandom(&place, sizeof place, 0) != static_cast<ssize_t>(sizeof place) || place == 0) return;
  Descriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;  // sun_path[0] stays 0: the abstract name space
  const int n = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, launch::kControlSocket,
                              static_cast<unsigned long long>(place));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(n));
  if (!listener || bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      listen(listener.get(), SOMAXCONN) != 0)
    return;
  listener_ = std::move(listener);
  place_ = place;
}

void FurtherJobs::serve(const char* const* argv, const Facts& facts, const Inherited& inherited) {
  for (;;) {
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) return;
    if (is_own_user(socket.get())) start(std::move(socket), argv, facts, inherited);
  }
}

void FurtherJobs::start(Descriptor socket, const char* const* argv, const Facts& facts, const Inherited& inherited) {
  int leash[2];
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing || !make_pipe(leash)) return;  // the rank sees that the connection ends
  Descriptor theirs(leash[0]), ours(leash[1]);
  const std::string name = (facts.name.empty() ? "" : facts.name + ".") + std::to_string(++started_);
  const std::string variable = text("%s=%d:%s:%d:%g:%u:%s", launch::kFurtherVariable, socket.get(), name.c_str(),
                                    theirs.get(), facts.timeout_s, facts.ranks, facts.name_scope.c_str());
  std::vector<const char*> envp;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (std::strncmp(*entry, launch::kFurtherVariable, std::strlen(launch::kFurtherVariable)) != 0)
      envp.push_back(*entry);
  envp.push_back(variable.c_str());
  envp.push_back(nullptr);
  SpawnRequest request;
  request.file = "/proc/self/exe";
  request.argv = argv;
  request.envp = envp.data();
  request.in = nothing.get();
  request.out = STDOUT_FILENO;
  request.err = STDERR_FILENO;
  request.keep[0] = socket.get();
  request.keep[1] = theirs.get();
  request.inherited = &inherited;
  const SpawnResult result = spawn(request);
  if (result.pid < 0) {
    const std::string refused = launch::message_of(
        {launch::kRefused, "-1", text("mpiexec cannot start another one: %s", error_words(result.error).c_str())});
    (void)!send(socket.get(), refused.data(), refused.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return;
  }
  children_.push_back({.pid = result.pid, .leash = std::move(ours)});
  ++running_;
}

bool FurtherJobs::ended(pid_t pid, int wait_status) {
  const auto child = std::find_if(children_.begin(), children_.end(), [pid](const Child& c) { return c.pid == pid; });
  if (child == children_.end()) return false;
  children_.erase(child);
  --running_;
  const int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
  if (status_ == 0) status_ = status;
  return true;
}

void FurtherJobs::signal(int number) const {
  for (const Child& child : children_) kill(child.pid, number);
}

void FurtherJobs::tell_failed() {
  const char byte = 'f';
  for (const Child& child : children_) (void)!write(child.leash.get(), &byte, 1);
}

}  // namespace ashlar::mpiexec
