/* Overlap by partitions: rank 0 fills a buffer part by part, a fixed amount of work for each, and sends it; as one
 * message when all is done, and as partitions, each when it is done. Time until rank 1 has it all, and the time of the
 * work alone, which is the least that there can be:
 * `work bytes 4194304 us 800`, `whole bytes 4194304 us 1200`, `partitioned bytes 4194304 partitions 16 us 900`. */
#include "bench.h"

enum { kPartitions = 16, kTag = 3 };

/* Work that takes about as long as the memory it writes: a few operations for each number. */
static void fill(double* part, size_t n, double seed) {
  for (size_t i = 0; i < n; i++) {
    double x = seed + (double)i;
    for (int k = 0; k < 8; k++) x = x * 0.999 + 0.5;
    part[i] = x;
  }
}

static double work(double* buffer, size_t n, int rank) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  if (rank == 0)
    for (int p = 0; p < kPartitions; p++) fill(buffer + n / kPartitions * (size_t)p, n / kPartitions, p);
  const double end = MPI_Wtime();
  MPI_Barrier(MPI_COMM_WORLD);
  return (end - start) * 1e6;
}

static double whole(double* buffer, size_t n, int rank) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  if (rank == 0) {
    for (int p = 0; p < kPartitions; p++) fill(buffer + n / kPartitions * (size_t)p, n / kPartitions, p);
    MPI_Send(buffer, (int)n, MPI_DOUBLE, 1, kTag, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_DOUBLE, 1, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(buffer, (int)n, MPI_DOUBLE, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_DOUBLE, 0, kTag, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - start) * 1e6;
}

static double parts(double* buffer, size_t n, int rank, MPI_Request* r) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  MPI_Start(r);
  if (rank == 0) {
    for (int p = 0; p < kPartitions; p++) {
      fill(buffer + n / kPartitions * (size_t)p, n / kPartitions, p);
      MPI_Pready(p, *r);
    }
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Recv(NULL, 0, MPI_DOUBLE, 1, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_DOUBLE, 0, kTag, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - start) * 1e6;
}

int main(int argc, char** argv) {
  static const long usual[] = {65536, 1048576, 4194304, -1};
  long sizes[32];
  int rank, size;
  bench_start(&argc, &argv, 2, &rank, &size);
  const int count = bench_sizes(argc, argv, usual, sizes, 32);
  for (int s = 0; s < count; s++) {
    const size_t n = (size_t)sizes[s] / sizeof(double) / kPartitions * kPartitions;
    double* buffer = (double*)bench_alloc(n * sizeof(double));
    double batch[3][kBatches];
    MPI_Request r;
    if (rank == 0)
      MPI_Psend_init(buffer, kPartitions, (MPI_Count)(n / kPartitions), MPI_DOUBLE, 1, kTag, MPI_COMM_WORLD,
                     MPI_INFO_NULL, &r);
    else
      MPI_Precv_init(buffer, kPartitions, (MPI_Count)(n / kPartitions), MPI_DOUBLE, 0, kTag, MPI_COMM_WORLD,
                     MPI_INFO_NULL, &r);
    whole(buffer, n, rank), parts(buffer, n, rank, &r);
    for (int b = 0; b < kBatches; b++) {
      batch[0][b] = whole(buffer, n, rank);
      batch[1][b] = parts(buffer, n, rank, &r);
      batch[2][b] = work(buffer, n, rank);
    }
    if (rank == 0) {
      printf("work bytes %ld us %.1f\n", sizes[s], bench_median(batch[2], kBatches));
      printf("whole bytes %ld us %.1f\n", sizes[s], bench_median(batch[0], kBatches));
      printf("partitioned bytes %ld partitions %d us %.1f\n", sizes[s], kPartitions, bench_median(batch[1], kBatches));
    }
    MPI_Request_free(&r);
    free(buffer);
  }
  MPI_Finalize();
  return 0;
}
