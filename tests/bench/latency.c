/* Half a round trip between two ranks, blocking calls: `latency bytes 8 us 0.213`. */
#include "bench.h"

static void trips(char* buffer, int bytes, int rank, int n) {
  for (int i = 0; i < n; i++) {
    if (rank == 0) {
      MPI_Send(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
      MPI_Recv(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
  }
}

int main(int argc, char** argv) {
  static const long usual[] = {0, 8, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, -1};
  long sizes[32];
  int rank, size;
  bench_start(&argc, &argv, 2, &rank, &size);
  const int n = bench_sizes(argc, argv, usual, sizes, 32);
  for (int s = 0; s < n; s++) {
    const int bytes = (int)sizes[s], repeats = bench_repeats((size_t)bytes);
    char* buffer = bench_alloc((size_t)bytes);
    double batch[kBatches];
    MPI_Barrier(MPI_COMM_WORLD);
    trips(buffer, bytes, rank, repeats);
    for (int b = 0; b < kBatches; b++) {
      const double start = MPI_Wtime();
      trips(buffer, bytes, rank, repeats);
      batch[b] = (MPI_Wtime() - start) / repeats / 2 * 1e6;
    }
    if (rank == 0) printf("latency bytes %d us %.3f\n", bytes, bench_median(batch, kBatches));
    free(buffer);
  }
  MPI_Finalize();
  return 0;
}
