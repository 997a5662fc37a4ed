/* Preloaded: the system calls that move bytes of files are interrupted every few times, and often move a part only. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static _Thread_local uint64_t state = 88172645463325252u;

static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

/* Files without a name are memory that processes share. */
static int is_file(int fd) {
  struct stat found;
  return fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_nlink > 0;
}

static int interrupted(int fd) {
  if (!is_file(fd) || next() % 5 != 0) return 0;
  errno = EINTR;
  return 1;
}

/* From 1 to `bytes`. */
static size_t part_of(size_t bytes) { return bytes == 0 || next() % 3 == 0 ? bytes : 1 + next() % bytes; }
static size_t part_for(int fd, size_t bytes) { return is_file(fd) ? part_of(bytes) : bytes; }

ssize_t pread(int fd, void* to, size_t bytes, off_t at) {
  return interrupted(fd) ? -1 : syscall(SYS_pread64, fd, to, part_for(fd, bytes), at);
}
ssize_t pwrite(int fd, const void* from, size_t bytes, off_t at) {
  return interrupted(fd) ? -1 : syscall(SYS_pwrite64, fd, from, part_for(fd, bytes), at);
}

/* The first pieces, and a part of the last of them. */
static int some_pieces(const struct iovec* all, int count, struct iovec* out) {
  const int used = (int)part_of((size_t)(count > 64 ? 64 : count));
  for (int i = 0; i < used; i++) out[i] = all[i];
  out[used - 1].iov_len = part_of(out[used - 1].iov_len);
  return used;
}
ssize_t preadv(int fd, const struct iovec* pieces, int count, off_t at) {
  struct iovec some[64];
  return interrupted(fd) ? -1 : syscall(SYS_preadv, fd, some, some_pieces(pieces, count, some), at, 0);
}
ssize_t pwritev(int fd, const struct iovec* pieces, int count, off_t at) {
  struct iovec some[64];
  return interrupted(fd) ? -1 : syscall(SYS_pwritev, fd, some, some_pieces(pieces, count, some), at, 0);
}
