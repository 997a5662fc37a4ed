#include "tests/unit/rma/updates.h"

#include <sys/wait.h>
#include <unistd.h>

namespace ashlar::rma::test {

int in_processes(std::uint32_t n, const std::function<bool(std::uint32_t)>& body) {
  std::vector<pid_t> children;
  for (std::uint32_t i = 0; i < n; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(100);  // a process that hangs does not outlive its test
      _exit(body(i) ? 0 : 1);
    }
    children.push_back(child);
  }
  int failed = 0;
  for (const pid_t child : children) {
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) ++failed;
  }
  return failed;
}

}  // namespace ashlar::rma::test
