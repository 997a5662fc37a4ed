/* Messages a second of several pairs at once, 64 in flight for each: the first half of the ranks sends to the second.
 * `multi_pair bytes 8 pairs 2 M/s 11.1` (millions of messages, all pairs together). */
#include "bench.h"

enum { kWindow = 64, kWindows = 60, kData = 1, kAnswer = 2 };

static void run(char* buffer, int bytes, int sender, int peer) {
  MPI_Request r[kWindow];
  for (int w = 0; w < kWindows; w++) {
    for (int i = 0; i < kWindow; i++) {
      char* slot = buffer + (size_t)i * (size_t)bytes;
      if (sender)
        MPI_Isend(slot, bytes, MPI_BYTE, peer, kData, MPI_COMM_WORLD, &r[i]);
      else
        MPI_Irecv(slot, bytes, MPI_BYTE, peer, kData, MPI_COMM_WORLD, &r[i]);
    }
    MPI_Waitall(kWindow, r, MPI_STATUSES_IGNORE);
    if (sender)
      MPI_Recv(NULL, 0, MPI_BYTE, peer, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
      MPI_Send(NULL, 0, MPI_BYTE, peer, kAnswer, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  static const long usual[] = {0, 8, 512, -1};
  long sizes[32];
  int rank, size;
  bench_start(&argc, &argv, 0, &rank, &size);
  const int pairs = size / 2, sender = rank < pairs, peer = sender ? rank + pairs : rank - pairs;
  const int idle = rank >= 2 * pairs;
  const int n = bench_sizes(argc, argv, usual, sizes, 32);
  for (int s = 0; s < n; s++) {
    const int bytes = (int)sizes[s];
    char* buffer = bench_alloc((size_t)bytes * kWindow);
    double batch[kBatches];
    if (!idle) run(buffer, bytes, sender, peer);
    for (int b = 0; b < kBatches; b++) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      if (!idle) run(buffer, bytes, sender, peer);
      MPI_Barrier(MPI_COMM_WORLD);
      batch[b] = (double)pairs * kWindow * kWindows / (MPI_Wtime() - start) / 1e6;
    }
    if (rank == 0) printf("multi_pair bytes %d pairs %d M/s %.3f\n", bytes, pairs, bench_median(batch, kBatches));
    free(buffer);
  }
  MPI_Finalize();
  return 0;
}
