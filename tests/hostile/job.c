/* A job for hostile surroundings: a bit of everything, checked, and one line "ok RANKS" at the end.
 *   job            messages of all protocols, collectives, communicators
 *   job reduce N   N reductions of 8 bytes
 *   job wait       every rank prints "pid RANK PID" and waits for ever */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/mpi/check.h"

static void ring(size_t n) {
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  unsigned char* out = check_alloc(n);
  unsigned char* in = check_alloc(n);
  MPI_Request r[2];
  for (unsigned round = 0; round < 3; round++) {
    pattern_fill(out, n, (unsigned)check_rank + round);
    memset(in, 0, n);
    MUST(MPI_Irecv(in, (int)n, MPI_BYTE, left, 1, MPI_COMM_WORLD, &r[0]));
    MUST(MPI_Isend(out, (int)n, MPI_BYTE, right, 1, MPI_COMM_WORLD, &r[1]));
    MUST(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    CHECK_PATTERN(in, n, (unsigned)left + round);
  }
  free(out);
  free(in);
}

static void reduce(int times) {
  long sum = 0, mine = check_rank;
  for (int i = 0; i < times; i++) {
    MUST(MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(sum, (long)check_size * (check_size - 1) / 2);
  }
}

static void exchange(int ints) {
  int* out = check_alloc((size_t)ints * (size_t)check_size * sizeof *out);
  int* in = check_alloc((size_t)ints * (size_t)check_size * sizeof *in);
  for (int i = 0; i < ints * check_size; i++) out[i] = check_rank * 1000 + i / ints;
  MUST(MPI_Alltoall(out, ints, MPI_INT, in, ints, MPI_INT, MPI_COMM_WORLD));
  for (int r = 0; r < check_size; r++) CHECK_EQ(in[r * ints + ints - 1], r * 1000 + check_rank);
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {0, 8, 1000, 5000, 20000, 100000, 1 << 20, 5 << 20};
  const char* way = argc > 1 ? argv[1] : "";
  check_start(&argc, &argv);
  if (strcmp(way, "wait") == 0) {
    int never;
    printf("pid %d %ld\n", check_rank, (long)getpid());
    fflush(stdout);
    MPI_Recv(&never, 1, MPI_INT, check_rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 1;
  }
  if (strcmp(way, "reduce") == 0) {
    reduce(argc > 2 ? atoi(argv[2]) : 1000);
  } else {
    MPI_Comm half;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) ring(sizes[i]);
    MUST(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &half));
    MUST(MPI_Barrier(half));
    MUST(MPI_Comm_free(&half));
    reduce(20);
    exchange(10);
    exchange(20000);
  }
  int mine = check_failures, all = 0;
  MUST(MPI_Reduce(&mine, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
  if (check_rank == 0 && all == 0) printf("ok %d\n", check_size);
  return check_end();
}
