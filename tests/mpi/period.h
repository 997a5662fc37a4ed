/* Buffers of more than 2^31 bytes: long addresses over little memory, the same pages again and again, every kPeriod
 * bytes. Byte x of a buffer depends on x modulo the period, which divides no power of two; so whatever loses the upper
 * bits of an offset brings bytes to a wrong place, and shows. Include it first: it needs _GNU_SOURCE. */
#ifndef ASHLAR_TESTS_MPI_PERIOD_H
#define ASHLAR_TESTS_MPI_PERIOD_H

#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

enum { kPageBytes = 4096 };
static const size_t kPeriod = (size_t)kPageBytes * 4099; /* pages: a prime number */
static const size_t kSpan = (1ull << 31) + (64u << 20);  /* addresses of a buffer */

/* kSpan bytes of addresses: the period over and over. */
static unsigned char* make_buffer(void) {
  const int fd = memfd_create("period", MFD_CLOEXEC);
  unsigned char* at = mmap(NULL, kSpan, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  int ok = fd >= 0 && at != MAP_FAILED && ftruncate(fd, (off_t)kPeriod) == 0;
  for (size_t done = 0; ok && done < kSpan; done += kPeriod) {
    const size_t length = kSpan - done < kPeriod ? kSpan - done : kPeriod;
    ok = mmap(at + done, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED;
  }
  CHECK(ok, "no addresses for %zu bytes", kSpan);
  if (!ok) MPI_Abort(MPI_COMM_WORLD, 1);
  close(fd);
  return at;
}

#endif
