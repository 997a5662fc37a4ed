/* Messages a second from one rank to another, 64 in flight: `rate bytes 8 M/s 11.1` (millions of messages). */
#include "bench.h"

enum { kWindow = 64, kWindows = 200, kData = 1, kAnswer = 2 };

static void run(char* buffer, int bytes, int rank) {
  MPI_Request r[kWindow];
  for (int w = 0; w < kWindows; w++) {
    for (int i = 0; i < kWindow; i++) {
      char* slot = buffer + (size_t)i * (size_t)bytes;
      if (rank == 0)
        MPI_Isend(slot, bytes, MPI_BYTE, 1, kData, MPI_COMM_WORLD, &r[i]);
      else
        MPI_Irecv(slot, bytes, MPI_BYTE, 0, kData, MPI_COMM_WORLD, &r[i]);
    }
    MPI_Waitall(kWindow, r, MPI_STATUSES_IGNORE);
    if (rank == 0)
      MPI_Recv(NULL, 0, MPI_BYTE, 1, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
      MPI_Send(NULL, 0, MPI_BYTE, 0, kAnswer, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  static const long usual[] = {0, 8, 64, 512, -1};
  long sizes[32];
  int rank, size;
  bench_start(&argc, &argv, 2, &rank, &size);
  const int n = bench_sizes(argc, argv, usual, sizes, 32);
  for (int s = 0; s < n; s++) {
    const int bytes = (int)sizes[s];
    char* buffer = bench_alloc((size_t)bytes * kWindow);
    double batch[kBatches];
    MPI_Barrier(MPI_COMM_WORLD);
    run(buffer, bytes, rank);
    for (int b = 0; b < kBatches; b++) {
      const double start = MPI_Wtime();
      run(buffer, bytes, rank);
      batch[b] = (double)kWindow * kWindows / (MPI_Wtime() - start) / 1e6;
    }
    if (rank == 0) printf("rate bytes %d M/s %.3f\n", bytes, bench_median(batch, kBatches));
    free(buffer);
  }
  MPI_Finalize();
  return 0;
}
