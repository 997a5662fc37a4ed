/* Windows of 64 messages in flight, answered by an empty message: one way (`bandwidth way one bytes 65536 MB/s 19000`)
 * and both ways at once. 1 MB is a million bytes; both ways counts the bytes of both. */
#include "bench.h"

enum { kWindow = 64, kData = 1, kAnswer = 2 };

static void send_window(char* buffer, int bytes, int peer, MPI_Request* r) {
  for (int i = 0; i < kWindow; i++) MPI_Isend(buffer, bytes, MPI_BYTE, peer, kData, MPI_COMM_WORLD, &r[i]);
}

static void receive_window(char* buffer, int bytes, int peer, MPI_Request* r) {
  for (int i = 0; i < kWindow; i++) MPI_Irecv(buffer, bytes, MPI_BYTE, peer, kData, MPI_COMM_WORLD, &r[i]);
}

static void one_way(char* out, char* in, int bytes, int rank, int windows) {
  MPI_Request r[kWindow];
  for (int w = 0; w < windows; w++) {
    if (rank == 0) {
      send_window(out, bytes, 1, r);
      MPI_Waitall(kWindow, r, MPI_STATUSES_IGNORE);
      MPI_Recv(NULL, 0, MPI_BYTE, 1, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      receive_window(in, bytes, 0, r);
      MPI_Waitall(kWindow, r, MPI_STATUSES_IGNORE);
      MPI_Send(NULL, 0, MPI_BYTE, 0, kAnswer, MPI_COMM_WORLD);
    }
  }
}

static void both_ways(char* out, char* in, int bytes, int rank, int windows) {
  MPI_Request r[2 * kWindow];
  for (int w = 0; w < windows; w++) {
    receive_window(in, bytes, 1 - rank, r);
    send_window(out, bytes, 1 - rank, r + kWindow);
    MPI_Waitall(2 * kWindow, r, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(NULL, 0, MPI_BYTE, 1 - rank, kAnswer, NULL, 0, MPI_BYTE, 1 - rank, kAnswer, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
}

static double measure(void (*run)(char*, char*, int, int, int), int bytes, int rank, double streams) {
  char* out = bench_alloc((size_t)bytes);
  char* in = bench_alloc((size_t)bytes);
  const int windows = bench_repeats((size_t)bytes) / 20 + 1;
  double batch[kBatches];
  MPI_Barrier(MPI_COMM_WORLD);
  run(out, in, bytes, rank, windows);
  for (int b = 0; b < kBatches; b++) {
    const double start = MPI_Wtime();
    run(out, in, bytes, rank, windows);
    batch[b] = streams * bytes * kWindow * windows / (MPI_Wtime() - start) / 1e6;
  }
  free(out);
  free(in);
  return bench_median(batch, kBatches);
}

int main(int argc, char** argv) {
  static const long usual[] = {1024, 8192, 65536, 262144, 1048576, 4194304, -1};
  long sizes[32];
  int rank, size;
  bench_start(&argc, &argv, 2, &rank, &size);
  const int n = bench_sizes(argc, argv, usual, sizes, 32);
  for (int s = 0; s < n; s++) {
    const double one = measure(one_way, (int)sizes[s], rank, 1), both = measure(both_ways, (int)sizes[s], rank, 2);
    if (rank != 0) continue;
    printf("bandwidth way one bytes %ld MB/s %.1f\n", sizes[s], one);
    printf("bandwidth way both bytes %ld MB/s %.1f\n", sizes[s], both);
  }
  MPI_Finalize();
  return 0;
}
