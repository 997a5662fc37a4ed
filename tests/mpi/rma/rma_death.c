/* Rank 1 dies while it has what others wait for: rma_death lock | lock_all | update | gate | fence | post. It dies
 * inside the library where it holds the lock or the gate of an update: it reads the origin's data there. */
#include <signal.h>
#include <sys/mman.h>

#include "rma.h"

enum { kDoubles = 4096 };

static char* unreadable(size_t bytes) {
  char* at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(at != MAP_FAILED);
  return at;
}

/* The others' part goes on until the job ends. */
int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const char* const how = argc > 1 ? argv[1] : "";
  const int dies = check_rank == 1;
  double *base, *data = check_alloc(kDoubles * sizeof *data);
  long double one = 1;
  memset(data, 0, kDoubles * sizeof *data);
  MPI_Win win;
  MUST(MPI_Win_allocate(kDoubles * sizeof *base, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  MUST(MPI_Win_set_name(win, "halo"));
  memset(base, 0, kDoubles * sizeof *base);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (strcmp(how, "lock") == 0 || strcmp(how, "lock_all") == 0) {
    if (dies) MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    if (dies) raise(SIGKILL);
    MUST(strcmp(how, "lock") ? MPI_Win_lock_all(0, win) : MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
  } else if (strcmp(how, "fence") == 0) {
    if (dies) raise(SIGKILL);
    MUST(MPI_Win_fence(0, win));
  } else if (strcmp(how, "post") == 0) {
    if (dies) raise(SIGKILL);
    MPI_Group all;
    MUST(MPI_Win_get_group(win, &all));
    MUST(MPI_Win_start(all, 0, win));
  } else {
    const int gate = strcmp(how, "gate") == 0;
    MUST(MPI_Win_lock_all(0, win));
    if (dies) {
      char* const bad = unreadable(kDoubles * sizeof *data);
      if (gate) MUST(MPI_Accumulate(bad, kDoubles, MPI_DOUBLE, 0, 0, kDoubles, MPI_DOUBLE, MPI_SUM, win));
      MUST(MPI_Accumulate(bad, 1, MPI_LONG_DOUBLE, 0, 0, 1, MPI_LONG_DOUBLE, MPI_SUM, win));
    }
    for (;;) {
      if (gate) MUST(MPI_Accumulate(data, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, win));
      if (!gate) MUST(MPI_Accumulate(&one, 1, MPI_LONG_DOUBLE, 0, 0, 1, MPI_LONG_DOUBLE, MPI_SUM, win));
      MUST(MPI_Win_flush(0, win));
    }
  }
  return check_end();
}
