#pragma once
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace ashlar::memory {

constexpr int kSkipped = 77;

/// What `body` returns in a child process, as its exit status; 128 + the number of the signal that ended it.
template <class Body>
int in_child(Body body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int result = body();
    std::fflush(nullptr);
    _exit(result);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// For bodies: says what is wrong, and is the result then.
inline int wrong(const std::string& what) {
  std::fprintf(stderr, "in the child: %s\n", what.c_str());
  return 1;
}

}  // namespace ashlar::memory
