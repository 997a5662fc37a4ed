/* What a queue costs: time for one message of 8 bytes while many receives are posted, matched from the last to the
 * first of them (the worst case of a list), and with as many unexpected messages, received from the last to the first:
 * `posted outstanding 1000 us 0.31`, `unexpected outstanding 1000 us 0.35`. */
#include "bench.h"

enum { kBytes = 8 };

static void posted(int n, int rank, char* slots, MPI_Request* r) {
  if (rank == 1)
    for (int i = 0; i < n; i++) MPI_Irecv(slots + i * kBytes, kBytes, MPI_BYTE, 0, i, MPI_COMM_WORLD, &r[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = n - 1; i >= 0 && rank == 0; i--) MPI_Send(slots, kBytes, MPI_BYTE, 1, i, MPI_COMM_WORLD);
  if (rank == 1) MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
}

static void unexpected(int n, int rank, char* slots, MPI_Request* r) {
  if (rank == 0)
    for (int i = 0; i < n; i++) MPI_Isend(slots, kBytes, MPI_BYTE, 1, i, MPI_COMM_WORLD, &r[i]);
  if (rank == 1) { /* all have arrived when the last one can be seen */
    MPI_Probe(0, n - 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = n - 1; i >= 0; i--) MPI_Recv(slots, kBytes, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank == 0) MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
}

static double timed(void (*what)(int, int, char*, MPI_Request*), int n, int rank, char* slots, MPI_Request* r) {
  double batch[kBatches];
  what(n, rank, slots, r);
  for (int b = 0; b < kBatches; b++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    what(n, rank, slots, r);
    MPI_Barrier(MPI_COMM_WORLD);
    batch[b] = (MPI_Wtime() - start) / n * 1e6;
  }
  return bench_median(batch, kBatches);
}

int main(int argc, char** argv) {
  static const long usual[] = {10, 1000, 10000, -1};
  long counts[32];
  int rank, size;
  bench_start(&argc, &argv, 2, &rank, &size);
  const int n = bench_sizes(argc, argv, usual, counts, 32);
  for (int k = 0; k < n; k++) {
    const int count = (int)counts[k];
    char* slots = bench_alloc((size_t)count * kBytes);
    MPI_Request* r = malloc(sizeof *r * (size_t)count);
    const double a = timed(posted, count, rank, slots, r), b = timed(unexpected, count, rank, slots, r);
    if (rank == 0) printf("posted outstanding %d us %.3f\nunexpected outstanding %d us %.3f\n", count, a, count, b);
    free(r);
    free(slots);
  }
  MPI_Finalize();
  return 0;
}
