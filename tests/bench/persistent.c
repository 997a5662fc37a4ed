/* Small collectives in their three forms: `persistent allreduce bytes 8 us 0.41`, `nonblocking ...`, `blocking ...`.
 * A persistent call is made once; timed is MPI_Start and MPI_Wait. The mean over the ranks, calls one by one with a
 * barrier between them (see collectives.c).
 *
 *   persistent [BYTES...] */
#include "bench.h"

enum { kBlocking, kNonblocking, kPersistent, kForms, kCalls = 2000 };
static const char* const kFormNames[] = {"blocking", "nonblocking", "persistent"};

typedef struct {
  char *in, *out;
  int bytes;
} Data;

#define FORMS(Name, ...)                                                                    \
  static void run_##Name(int form, const Data* d, MPI_Request* r) {                         \
    (void)d;                                                                                \
    if (form == kBlocking) MPI_##Name(__VA_ARGS__);                                         \
    if (form == kNonblocking) MPI_I_##Name(__VA_ARGS__, r), MPI_Wait(r, MPI_STATUS_IGNORE); \
    if (form == kPersistent) MPI_Start(r), MPI_Wait(r, MPI_STATUS_IGNORE);                  \
  }                                                                                         \
  static void make_##Name(const Data* d, MPI_Request* r) {                                  \
    (void)d;                                                                                \
    MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, r);                                       \
  }
#define MPI_I_Barrier MPI_Ibarrier
#define MPI_I_Bcast MPI_Ibcast
#define MPI_I_Allreduce MPI_Iallreduce
#define MPI_I_Alltoall MPI_Ialltoall
FORMS(Barrier, MPI_COMM_WORLD)
FORMS(Bcast, d->in, d->bytes, MPI_BYTE, 0, MPI_COMM_WORLD)
FORMS(Allreduce, d->in, d->out, d->bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)
FORMS(Alltoall, d->in, d->bytes, MPI_BYTE, d->out, d->bytes, MPI_BYTE, MPI_COMM_WORLD)

static const struct {
  const char* name;
  void (*run)(int form, const Data*, MPI_Request*);
  void (*make)(const Data*, MPI_Request*);
} kCollectives[] = {{"barrier", run_Barrier, make_Barrier},
                    {"bcast", run_Bcast, make_Bcast},
                    {"allreduce", run_Allreduce, make_Allreduce},
                    {"alltoall", run_Alltoall, make_Alltoall}};

static double time_calls(size_t what, int form, const Data* data, MPI_Request* request, int calls) {
  double spent = 0;
  for (int i = 0; i < calls; i++) {
    const double start = MPI_Wtime();
    kCollectives[what].run(form, data, request);
    spent += MPI_Wtime() - start;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return spent / calls * 1e6;
}

int main(int argc, char** argv) {
  static const long usual[] = {8, -1};
  long sizes[16];
  int rank, size;
  bench_start(&argc, &argv, 0, &rank, &size);
  const int n = bench_sizes(argc, argv, usual, sizes, 16);
  for (size_t what = 0; what < sizeof kCollectives / sizeof *kCollectives; what++) {
    for (int s = 0; s < (what == 0 ? 1 : n); s++) {
      Data data = {.bytes = (int)sizes[s]};
      data.in = bench_alloc((size_t)sizes[s] * (size_t)size);
      data.out = bench_alloc((size_t)sizes[s] * (size_t)size);
      memset(data.in, 0, (size_t)sizes[s] * (size_t)size);
      for (int form = 0; form < kForms; form++) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (form == kPersistent) kCollectives[what].make(&data, &request);
        double batch[kBatches];
        time_calls(what, form, &data, &request, 100);
        for (int b = 0; b < kBatches; b++) {
          const double mine = time_calls(what, form, &data, &request, kCalls / kBatches);
          double sum = 0;
          MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
          batch[b] = sum / size;
        }
        if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
        if (rank != 0) continue;
        printf("%s %s", kFormNames[form], kCollectives[what].name);
        if (what != 0) printf(" bytes %ld", sizes[s]);
        printf(" us %.3f\n", bench_median(batch, kBatches));
      }
      free(data.in), free(data.out);
    }
  }
  MPI_Finalize();
  return 0;
}
