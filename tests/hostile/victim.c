/* The job that kills.py kills: every stage of a program's life, some milliseconds of each.
 *   victim MS              before MPI_Init, in it, messages, collectives, in MPI_Finalize; MS milliseconds per stage
 *   victim MS RANK         the same, and RANK dies of SIGSEGV as soon as MPI_Init has returned
 *   victim MS RANK abort   the same, and the others have errors returned and call MPI_Abort themselves */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mpi.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(int code) {
  if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  const double stage = argc > 1 ? atoi(argv[1]) * 1e-3 : 0.02;
  const int dies = argc > 2 ? atoi(argv[2]) : -1;
  const struct timespec pause = {0, (long)(stage * 1e9)};
  int rank, size, go = 1;
  char* out = calloc(1, 1 << 20);
  char* in = calloc(1, 1 << 20);
  nanosleep(&pause, NULL);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 3 && strcmp(argv[3], "abort") == 0) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == dies) {
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  }
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  static const int sizes[] = {8, 4000, 60000, 1 << 20};
  /* Rank 0 has the clock, so that all make the same calls. */
  for (const double end = now() + stage; go;) {
    for (int i = 0; i < 4; i++)
      must(MPI_Sendrecv(out, sizes[i], MPI_BYTE, right, 1, in, sizes[i], MPI_BYTE, left, 1, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
    go = now() < end;
    must(MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD));
  }
  go = 1;
  for (const double end = now() + stage; go;) {
    must(MPI_Allreduce(out, in, 500, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    must(MPI_Barrier(MPI_COMM_WORLD));
    go = now() < end;
    must(MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD));
  }
  MPI_Finalize();
  nanosleep(&pause, NULL);
  free(out);
  free(in);
  return 0;
}
