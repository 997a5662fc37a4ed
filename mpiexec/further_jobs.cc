#include "mpiexec/further_jobs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "framework/plugin/further_job.h"
#include "mpiexec/pipe.h"
#include "mpiexec/start_errors.h"
#include "mpiexec/text.h"

extern char** environ;

namespace ashlar::mpiexec {
void FurtherJobs::start(Descriptor socket, const char* const* argv, const Facts& facts, const Inherited& inherited) {
  int leash[2];
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing || !make_pipe(leash)) return;  // the rank sees that the connection ends
  Descriptor theirs(leash[0]), ours(leash[1]);
  const std::string name = (facts.name.empty() ? "" : facts.name + ".") + std::to_string(++started_);
  const std::string variable =
      text("%s=%d:%s:%d:%g:%u:%llx:%s", launch::kFurtherVariable, socket.get(), name.c_str(), theirs.get(),
           facts.timeout_s, facts.ranks, static_cast<unsigned long long>(facts.names_at), facts.taken.c_str());
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
