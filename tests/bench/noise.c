/* How long calls take beside processes that compute on the same cores: what tests/bench/noise runs.
 *
 *   noise SECONDS [NAME...]        names: latency8 latency64K window1M barrier allreduce8 bcast8 allreduce64K alltoall8
 *
 * Each row runs for about SECONDS, in batches of calls with nothing between them. Two figures come of it: the mean
 * over all calls, `allreduce bytes 8 us 4.1`, and, named `... slowest`, the mean of the slowest batch in twenty. A mean
 * and not a median, because what a slice of a competitor costs is paid by few calls. The root of broadcasts goes round,
 * so that no rank runs ahead of the others. */
#include "bench.h"

enum { kMostBatches = 1 << 16, kWindow = 16, kLarge = 1 << 20 };

static char *in, *out;
static int rank, size;

static void ping_pong(int bytes) {
  if (rank == 0) MPI_Send(in, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  MPI_Recv(out, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
}
static void latency_8(int turn) { (void)turn, ping_pong(8); }
static void latency_64k(int turn) { (void)turn, ping_pong(65536); }
static void window_1m(int turn) {
  MPI_Request requests[kWindow];
  (void)turn;
  for (int i = 0; i < kWindow; i++) {
    if (rank == 0) {
      MPI_Isend(in, kLarge, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[i]);
    } else {
      MPI_Irecv(out, kLarge, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[i]);
    }
  }
  MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
  if (rank == 1) MPI_Send(in, 4, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(out, 4, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void barrier(int turn) { (void)turn, MPI_Barrier(MPI_COMM_WORLD); }
static void bcast_8(int turn) { MPI_Bcast(in, 8, MPI_BYTE, turn % size, MPI_COMM_WORLD); }
static void allreduce_8(int turn) { (void)turn, MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void allreduce_64k(int turn) { (void)turn, MPI_Allreduce(in, out, 8192, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void alltoall_8(int turn) { (void)turn, MPI_Alltoall(in, 8, MPI_BYTE, out, 8, MPI_BYTE, MPI_COMM_WORLD); }

static const struct Row {
  const char *name, *label;
  void (*run)(int turn);
  int batch;          /* calls of one: few, because one may take a thousand times as long as another */
  int ranks;          /* 0: any number */
  double calls_in_us; /* a figure is that of so many calls: half a round trip, a message of a window */
} kRows[] = {{"latency8", "latency bytes 8", latency_8, 50, 2, 2},
             {"latency64K", "latency bytes 65536", latency_64k, 20, 2, 2},
             {"window1M", "window bytes 1048576", window_1m, 1, 2, kWindow},
             {"barrier", "barrier", barrier, 50, 0, 1},
             {"allreduce8", "allreduce bytes 8", allreduce_8, 50, 0, 1},
             {"bcast8", "bcast bytes 8", bcast_8, 50, 0, 1},
             {"allreduce64K", "allreduce bytes 65536", allreduce_64k, 20, 0, 1},
             {"alltoall8", "alltoall bytes 8", alltoall_8, 50, 0, 1}};

static double time_batch(const struct Row* row, int calls) {
  const double start = MPI_Wtime();
  for (int i = 0; i < calls; i++) row->run(i);
  return MPI_Wtime() - start;
}

/* What rank 0 says. */
static int agree(int value) {
  MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return value;
}

static void measure(const struct Row* row, double seconds) {
  static double batch[kMostBatches];
  const int calls = row->batch;
  int n = 0;
  double spent = 0;
  time_batch(row, calls);
  const double end = MPI_Wtime() + seconds;
  do {
    batch[n] = time_batch(row, calls);
    spent += batch[n++];
  } while (agree(MPI_Wtime() < end && n < kMostBatches));
  if (rank != 0) return;
  const double unit = 1e6 / (calls * row->calls_in_us);
  qsort(batch, (size_t)n, sizeof *batch, bench_by_value);
  printf("%s us %.3f\n", row->label, spent / n * unit);
  printf("%s slowest us %.3f\n", row->label, batch[(n * 19 + 19) / 20 - 1] * unit);
}

int main(int argc, char** argv) {
  bench_start(&argc, &argv, 0, &rank, &size);
  const double seconds = argc > 1 ? atof(argv[1]) : 0.2;
  in = bench_alloc(kLarge);
  out = bench_alloc(kLarge);
  memset(in, 0, kLarge); /* sums of zeros stay numbers however long the run */
  for (size_t k = 0; k < sizeof kRows / sizeof *kRows; k++) {
    int wanted = argc <= 2;
    for (int i = 2; i < argc; i++) wanted |= strcmp(argv[i], kRows[k].name) == 0;
    if (wanted && (kRows[k].ranks == 0 || kRows[k].ranks == size)) measure(&kRows[k], seconds);
  }
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
