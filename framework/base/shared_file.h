#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// Memory that processes share through a descriptor. In a header, so that components have it without the kernel.
namespace ashlar {

/// Makes one without a name in any file system: a memfd, or where memfd_create is forbidden (seccomp profiles) a file
/// of /dev/shm or a folder for temporary files that never had a name, or lost it at once. `sealable`: F_ADD_SEALS works
/// on the memfd. Returns the descriptor, close-on-exec; -1 with what was tried in `why`. Set-up path.
inline int make_shared_file(const char* name, bool sealable, char* why, std::size_t why_bytes) {
  constexpr unsigned kNoExecSeal = 0x0008;  // asked for by kernels with vm.memfd_noexec; unknown before Linux 6.3
  const unsigned flags = MFD_CLOEXEC | (sealable ? MFD_ALLOW_SEALING : 0u);
  int fd = static_cast<int>(syscall(SYS_memfd_create, name, flags | kNoExecSeal));
  if (fd < 0 && errno == EINVAL) fd = static_cast<int>(syscall(SYS_memfd_create, name, flags));
  if (fd >= 0) return fd;
  const int memfd_errno = errno;
  // A full table of descriptors is full for files too.
  const bool no_other_way = memfd_errno == EMFILE || memfd_errno == ENFILE || memfd_errno == ENOMEM;
  const char* const tmpdir = std::getenv("TMPDIR");
  int file_errno = 0;
  for (const char* folder : {"/dev/shm", tmpdir ? tmpdir : "/tmp", "/tmp", "/var/tmp"}) {
    if (no_other_way) break;
    fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
    char path[512];
    if (fd < 0 && std::snprintf(path, sizeof path, "%s/%s-XXXXXX", folder, name) < static_cast<int>(sizeof path)) {
      fd = mkostemp(path, O_CLOEXEC);
      if (fd >= 0) unlink(path);
    }
    if (fd >= 0) return fd;
    file_errno = errno;
  }
  if (no_other_way)
    std::snprintf(why, why_bytes, "memfd_create failed (%s)", std::strerror(memfd_errno));
  else
    std::snprintf(why, why_bytes,
                  "memfd_create failed (%s), and so did making a file in /dev/shm, %s%s/tmp and /var/tmp (%s)",
                  std::strerror(memfd_errno), tmpdir ? tmpdir : "", tmpdir ? ", " : "", std::strerror(file_errno));
  return -1;
}

/// ftruncate, but where the limit on the size of files forbids it EFBIG instead of a signal that ends the process.
/// Returns 0 or an errno.
inline int size_shared_file(int fd, std::size_t bytes) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes) return EFBIG;
  return ftruncate(fd, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
}

}  // namespace ashlar
