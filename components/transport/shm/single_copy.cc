#include "components/transport/shm/single_copy.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "components/transport/shm/config.h"
#include "framework/base/descriptor.h"

namespace ashlar::shm {
namespace {

template <class Call>
int in_full(char* local, std::uint64_t remote, std::size_t length, Call call) {
  while (length > 0) {
    iovec mine{local, length};
    iovec theirs{reinterpret_cast<void*>(remote), length};
    const ssize_t n = call(&mine, &theirs);
    if (n < 0) return errno;
    if (n == 0) return EIO;
    local += n;
    remote += static_cast<std::uint64_t>(n);
    length -= static_cast<std::size_t>(n);
  }
  return 0;
}

}  // namespace

int read_from(std::int32_t pid, void* to, std::uint64_t remote, std::size_t length) {
  return in_full(static_cast<char*>(to), remote, length, [pid](const iovec* mine, const iovec* theirs) {
    return process_vm_readv(pid, mine, 1, theirs, 1, 0);
  });
}

int write_to(std::int32_t pid, const void* from, std::uint64_t remote, std::size_t length) {
  char* source = const_cast<char*>(static_cast<const char*>(from));  // the system call only reads it
  return in_full(source, remote, length, [pid](const iovec* mine, const iovec* theirs) {
    return process_vm_writev(pid, mine, 1, theirs, 1, 0);
  });
}

void open_to_peers(std::int32_t yama) {
  if (yama == kYamaNever) return;
  const Descriptor scope(open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC));
  char digit = '0';
  if (!scope || read(scope.get(), &digit, 1) != 1 || digit != '1') return;
  // Yama opens a process to one other process and all its descendants: naming the parent, which is the launcher, opens
  // it to the ranks beside it and to no other process.
  const auto whom = yama == kYamaAny ? PR_SET_PTRACER_ANY : static_cast<unsigned long>(getppid());
  if (yama == kYamaJob && whom <= 1) return;
  prctl(PR_SET_PTRACER, whom, 0, 0, 0);
}

}  // namespace ashlar::shm
