#include "tests/conformance/transport/process.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace ashlar::test {

void Child::Channel::say(const std::string& message) const {
  if (send(fd_, message.data(), message.size(), MSG_NOSIGNAL) < 0) std::perror("send to the other process");
}

std::string Child::Channel::hear() const {
  char bytes[4096];
  ssize_t n;
  do {
    n = recv(fd_, bytes, sizeof bytes, 0);
  } while (n < 0 && errno == EINTR);
  return n > 0 ? std::string(bytes, static_cast<std::size_t>(n)) : std::string();
}

Child::Child(const std::function<int(const Channel&)>& body) {
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets_) != 0) std::abort();
  std::fflush(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(sockets_[0]);
    int status = 1;
    try {
      status = body(Channel(sockets_[1]));
    } catch (const std::exception& what) {
      std::fprintf(stderr, "the other process: %s\n", what.what());
    }
    std::fflush(nullptr);
    _exit(status);
  }
  close(sockets_[1]);
  channel_ = Channel(sockets_[0]);
}

Child::~Child() {
  if (pid_ > 0) {
    kill_now();
    wait();
  }
  close(sockets_[0]);
}

void Child::kill_now() { kill(pid_, SIGKILL); }

int Child::wait() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void forbid(int system_call) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(system_call), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog filter{sizeof program / sizeof program[0], program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    std::perror("seccomp");
    std::abort();
  }
}

}  // namespace ashlar::test
