/* Cost of making communicators: `comm_dup alive 0 us 0.35`, `comm_split alive 10000 us 12.1`, and what one costs in
 * memory: `comm_memory B 310`.
 *
 *   communicators [ALIVE...]     how many communicators exist while it is measured; 0 and 10000 by default
 *
 * A batch makes kEach communicators one after another and frees them; the time is that of the slowest rank, for one. A
 * library that cannot have as many alive says so and leaves the figure out. Each communicator of the memory figure is
 * used for one message to a neighbour, since some libraries set much up on first use. */
#include "bench.h"

enum { kEach = 32, kShared = 500, kMemory = 2000 };

static int rank, size;

static int dup(MPI_Comm* made) { return MPI_Comm_dup(MPI_COMM_WORLD, made); }
static int split(MPI_Comm* made) { return MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, made); }

/* Microseconds for one; negative: the library could not. */
static double measure(int (*make)(MPI_Comm*)) {
  MPI_Comm made[kEach];
  double times[kBatches];
  for (int batch = -1; batch < kBatches; batch++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < kEach; i++)
      if (make(&made[i]) != MPI_SUCCESS) return -1;
    double spent = (MPI_Wtime() - begin) / kEach * 1e6, slowest = 0;
    for (int i = 0; i < kEach; i++) MPI_Comm_free(&made[i]);
    MPI_Allreduce(&spent, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (batch >= 0) times[batch] = slowest;
  }
  return bench_median(times, kBatches);
}

static long resident(void) {
  long pages = 0, all = 0;
  FILE* f = fopen("/proc/self/statm", "r");
  if (f) {
    if (fscanf(f, "%ld %ld", &all, &pages) != 2) pages = 0;
    fclose(f);
  }
  return pages * kPage;
}

/* One more that has been used; 0: the library could not. */
static int add(MPI_Comm* made) {
  int mine = rank, got;
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  if (dup(made) != MPI_SUCCESS) return 0;
  MPI_Sendrecv(&mine, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0, *made, MPI_STATUS_IGNORE);
  return 1;
}

/* The first communicators bring up what all of them share: segments of the collectives that agree on them, buffers of
 * the transports that fill with use. They stay, so that what is measured does not take their place. */
static void memory(void) {
  static MPI_Comm made[kShared + kMemory];
  int n = 0;
  while (n < kShared && add(&made[n])) n++;
  const long before = resident();
  while (n < kShared + kMemory && add(&made[n])) n++;
  const long grown = resident() - before;
  if (rank == 0 && n == kShared + kMemory) printf("comm_memory B %.0f\n", (double)grown / kMemory);
  while (n > 0) MPI_Comm_free(&made[--n]);
}

int main(int argc, char** argv) {
  static const long fallback[] = {0, 10000, -1};
  long alive[8];
  bench_start(&argc, &argv, 0, &rank, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int figures = bench_sizes(argc, argv, fallback, alive, 8);
  memory();
  for (int f = 0; f < figures; f++) {
    MPI_Comm* kept = (MPI_Comm*)bench_alloc((size_t)(alive[f] + 1) * sizeof *kept);
    long n = 0;
    while (n < alive[f] && dup(&kept[n]) == MPI_SUCCESS) n++;
    const double dup_us = n == alive[f] ? measure(dup) : -1, split_us = n == alive[f] ? measure(split) : -1;
    if (rank == 0 && dup_us >= 0 && split_us >= 0) {
      printf("comm_dup alive %ld us %.3f\n", alive[f], dup_us);
      printf("comm_split alive %ld us %.3f\n", alive[f], split_us);
      fflush(stdout);
    } else if (rank == 0) {
      fprintf(stderr, "bench: no more than %ld communicators\n", n);
    }
    while (n > 0) MPI_Comm_free(&kept[--n]);
    free(kept);
  }
  MPI_Finalize();
  return 0;
}
