/* A collective that was started goes on although its rank makes other calls only, or with progress.thread none at all.
 * Rank 0 starts one and does not look after it; the others wait for theirs, which need rank 0's part, and count
 * themselves in memory that all share. `probe`: rank 0 probes another communicator meanwhile. `none`: it calls nothing.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

enum { kMost = 1 << 20 };
static const double kPatience = 40; /* seconds; then rank 0 helps, and the test has failed */
static volatile int* over;          /* ranks whose collective is over, by the collectives so far */
static MPI_Comm aside;
static int probes;

static double *in, *out;

static void share_counter(void) {
  char path[64];
  int fd = -1;
  if (check_rank == 0) {
    snprintf(path, sizeof path, "/dev/shm/coll_progress.%ld", (long)getpid());
    fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
    CHECK(fd >= 0 && ftruncate(fd, sizeof(int)) == 0, "%s", path);
  }
  MUST(MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD));
  if (check_rank != 0) fd = open(path, O_RDWR);
  void* const memory = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(memory != MAP_FAILED, "mapping %s", path);
  if (memory == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 1);
  over = memory;
  close(fd);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank == 0) unlink(path);
}

static int wanted;
static void leave_alone(const char* what, int count, MPI_Request* request) {
  wanted += check_size - 1;
  if (check_rank != 0) {
    MUST(MPI_Wait(request, MPI_STATUS_IGNORE));
    __atomic_fetch_add(over, 1, __ATOMIC_RELEASE);
  } else {
    int flag;
    const double start = MPI_Wtime();
    while (__atomic_load_n(over, __ATOMIC_ACQUIRE) < wanted && MPI_Wtime() - start < kPatience) {
      if (probes) MUST(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, aside, &flag, MPI_STATUS_IGNORE));
      sched_yield();
    }
    CHECK(__atomic_load_n(over, __ATOMIC_ACQUIRE) == wanted, "%s of %d doubles did not go on", what, count);
    MUST(MPI_Wait(request, MPI_STATUS_IGNORE));
  }
  if (MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
}

static void each(int count) {
  MPI_Request r;
  const int share = count / check_size, last = check_size - 1;
  for (int i = 0; i < count; i++) in[i] = check_rank + i % 7;
  MUST(MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r));
  leave_alone("Iallreduce", count, &r);
  for (int i = 0; i < count; i += 997)
    CHECK(out[i] == check_size * (check_size - 1) / 2 + check_size * (i % 7), "element %d is %g", i, out[i]);
  MUST(MPI_Ibcast(check_rank == 0 ? in : out, count, MPI_DOUBLE, 0, MPI_COMM_WORLD, &r));
  leave_alone("Ibcast", count, &r);
  if (check_rank != 0) CHECK(out[count - 1] == (count - 1) % 7, "bcast: %g", out[count - 1]);
  MUST(MPI_Ialltoall(in, share, MPI_DOUBLE, out, share, MPI_DOUBLE, MPI_COMM_WORLD, &r));
  leave_alone("Ialltoall", count, &r);
  MUST(MPI_Iallgather(in, share, MPI_DOUBLE, out, share, MPI_DOUBLE, MPI_COMM_WORLD, &r));
  leave_alone("Iallgather", count, &r);
  MUST(MPI_Ireduce(in, out, count, MPI_DOUBLE, MPI_SUM, last, MPI_COMM_WORLD, &r));
  leave_alone("Ireduce", count, &r);
  MUST(MPI_Igather(in, share, MPI_DOUBLE, out, share, MPI_DOUBLE, last, MPI_COMM_WORLD, &r));
  leave_alone("Igather", count, &r);
  MUST(MPI_Iscatter(in, share, MPI_DOUBLE, out, share, MPI_DOUBLE, 0, MPI_COMM_WORLD, &r));
  leave_alone("Iscatter", count, &r);
  MUST(MPI_Ireduce_scatter_block(in, out, share, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r));
  leave_alone("Ireduce_scatter_block", count, &r);
  MUST(MPI_Iscan(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r));
  leave_alone("Iscan", count, &r);
  MUST(MPI_Ibarrier(MPI_COMM_WORLD, &r));
  leave_alone("Ibarrier", 0, &r);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  probes = argc > 1 && strcmp(argv[1], "probe") == 0;
  in = check_alloc(kMost), out = check_alloc(kMost);
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &aside));
  share_counter();
  for (size_t bytes = 64; bytes <= kMost; bytes *= 128) each((int)(bytes / sizeof(double)));
  MUST(MPI_Comm_free(&aside));
  free(in), free(out);
  return check_end();
}
