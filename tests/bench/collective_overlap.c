/* How much of a nonblocking collective hides behind work: `collective_overlap allreduce tests bytes 1048576
 * percent 71.0`. The work takes as long as the collective alone. `tests`: it is cut in 20 slices with an MPI_Test
 * behind each; `calls`: with an MPI_Iprobe that has nothing to do with it; `none`: no call until the MPI_Wait. 100: the
 * time of the collective is gone altogether; 0: it was waited for in full. `exposed`: what the call adds to the work,
 * in microseconds: of two libraries the slower one has more to hide.
 *
 *   collective_overlap [BYTES...] */
#include "bench.h"

enum { kNone, kTests, kCalls, kWays, kSlices = 20 };
static const char* const kWayNames[] = {"none", "tests", "calls"};

typedef struct {
  char *in, *out;
  int bytes;
} Data;

static void start_bcast(const Data* d, MPI_Request* r) { MPI_Ibcast(d->in, d->bytes, MPI_BYTE, 0, MPI_COMM_WORLD, r); }
static void start_allreduce(const Data* d, MPI_Request* r) {
  MPI_Iallreduce(d->in, d->out, d->bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, r);
}
static void start_alltoall(const Data* d, MPI_Request* r) {
  MPI_Ialltoall(d->in, d->bytes, MPI_BYTE, d->out, d->bytes, MPI_BYTE, MPI_COMM_WORLD, r);
}
static const struct {
  const char* name;
  void (*start)(const Data*, MPI_Request*);
} kCollectives[] = {{"bcast", start_bcast}, {"allreduce", start_allreduce}, {"alltoall", start_alltoall}};

static void work(double seconds) {
  const double until = MPI_Wtime() + seconds;
  while (MPI_Wtime() < until) {
  }
}

/* Seconds of one collective with `seconds` of work beside it. */
static double run(size_t what, const Data* data, double seconds, int way) {
  MPI_Request request;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  kCollectives[what].start(data, &request);
  for (int i = 0; i < kSlices && seconds > 0; i++) {
    int flag;
    work(seconds / kSlices);
    if (way == kTests) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    if (way == kCalls) MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return MPI_Wtime() - start;
}

/* The median of many, the mean over the ranks. */
static double typical(size_t what, const Data* data, double seconds, int way, int size) {
  double times[kBatches], sum = 0;
  run(what, data, seconds, way);
  for (int i = 0; i < kBatches; i++) times[i] = run(what, data, seconds, way);
  const double mine = bench_median(times, kBatches);
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum / size;
}

int main(int argc, char** argv) {
  static const long usual[] = {65536, 1048576, -1};
  long sizes[16];
  int rank, size;
  bench_start(&argc, &argv, 0, &rank, &size);
  const int n = bench_sizes(argc, argv, usual, sizes, 16);
  for (size_t what = 0; what < sizeof kCollectives / sizeof *kCollectives; what++) {
    for (int s = 0; s < n; s++) {
      Data data = {.bytes = (int)sizes[s]};
      data.in = bench_alloc((size_t)sizes[s] * (size_t)size);
      data.out = bench_alloc((size_t)sizes[s] * (size_t)size);
      memset(data.in, 0, (size_t)sizes[s] * (size_t)size);
      const double alone = typical(what, &data, 0, kNone, size);
      for (int way = 0; way < kWays; way++) {
        const double both = typical(what, &data, alone, way, size);
        const double hidden = (2 * alone - both) / alone * 100;
        if (rank != 0) continue;
        printf("collective_overlap %s %s bytes %ld percent %.1f\n", kCollectives[what].name, kWayNames[way], sizes[s],
               hidden < 0 ? 0.0 : hidden);
        printf("collective_overlap %s %s exposed bytes %ld us %.1f\n", kCollectives[what].name, kWayNames[way],
               sizes[s], (both - alone) * 1e6);
      }
      free(data.in), free(data.out);
    }
  }
  MPI_Finalize();
  return 0;
}
