#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

// Memory that processes share through a descriptor. In a header, so that components have it without the kernel.
namespace ashlar {

/// Whether the file system of the file has `bytes` left. One without a bound, such as that of memfds, always has.
inline bool has_room_for(int fd, std::size_t bytes) {
  struct statvfs of = {};
  return fstatvfs(fd, &of) != 0 || of.f_blocks == 0 || std::uint64_t{of.f_bavail} * of.f_frsize >= bytes;
}

/// A file of `folder` that has no name, or none any more. Returns the descriptor, or -1 with errno.
inline int make_nameless_file(const char* folder, const char* name) {
  int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
  char path[512];
  if (fd < 0 && std::snprintf(path, sizeof path, "%s/%s-XXXXXX", folder, name) < static_cast<int>(sizeof path)) {
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) unlink(path);
  }
  return fd;
}

/// Makes one without a name in any file system: a memfd, or where memfd_create is forbidden (seccomp profiles) a file
/// of /dev/shm or a folder for temporary files that never had a name, or lost it at once. A folder with room is
/// preferred. `sealable`: F_ADD_SEALS works on the memfd. Returns the descriptor, close-on-exec; -1 with what was tried
/// in `why`. Set-up path.
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
  constexpr std::size_t kRoom = std::size_t{64} << 20;  // a job's board and the segments of some ranks
  for (const std::size_t least : {kRoom, std::size_t{0}}) {
    for (const char* folder : {"/dev/shm", tmpdir ? tmpdir : "/tmp", "/tmp", "/var/tmp"}) {
      if (no_other_way) break;
      fd = make_nameless_file(folder, name);
      if (fd >= 0 && has_room_for(fd, least)) return fd;
      if (fd >= 0)
        close(fd);
      else
        file_errno = errno;
    }
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

/// Gives [from, from + bytes) of the file memory now, so that touching it later cannot fail. What was written there
/// stays. Returns 0 or an errno.
inline int claim_shared_file(int fd, std::size_t from, std::size_t bytes) {
  while (fallocate(fd, 0, static_cast<off_t>(from), static_cast<off_t>(bytes)) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

/// Whether this result of claim_shared_file says that claiming is not possible here at all (a filter, the file system),
/// and nothing about memory.
inline bool cannot_claim(int error) { return error == EOPNOTSUPP || error == ENOSYS || error == EPERM; }

/// size_shared_file, and where the file system is bounded all of it is claimed: touching it cannot fail then. Returns 0
/// or an errno.
inline int size_whole_shared_file(int fd, std::size_t bytes) {
  if (const int error = size_shared_file(fd, bytes); error != 0) return error;
  struct statvfs of = {};
  if (fstatvfs(fd, &of) != 0 || of.f_blocks == 0) return 0;
  const int error = claim_shared_file(fd, 0, bytes);
  return cannot_claim(error) ? 0 : error;
}

/// Opens the file that is descriptor `fd` of process `pid`, through its /proc entry. Whoever opens it checks a nonce in
/// it: in another name space the process number belongs to a stranger, and the file may be a terminal or a device.
/// Returns the descriptor, close-on-exec, or -1 with errno.
inline int open_shared_file_of(long long pid, int fd) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%lld/fd/%d", pid, fd);
  return open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/// Never 0; unique on the node, and no secret.
inline std::uint64_t random_nonce() {
  std::uint64_t nonce = 0;
  if (getrandom(&nonce, sizeof nonce, GRND_NONBLOCK) == sizeof nonce && nonce != 0) return nonce;
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  for (const auto part :
       {static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec),
        static_cast<std::uint64_t>(getpid()), reinterpret_cast<std::uint64_t>(&nonce)})
    nonce = ((nonce ^ part) * 0x9e3779b97f4a7c15u) ^ (nonce >> 29);
  return nonce | 1;
}

}  // namespace ashlar
