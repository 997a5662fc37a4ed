/* Patterns of point-to-point calls that a program with more ranks than cores lives on, in microseconds:
 *   ring       a token passed around by Recv and Send, time per hop: one hand-over of the core from rank to rank
 *   spread     ceil(log2 n) rounds of Sendrecv with the ranks 1, 2, 4, ... away: every rank waits for every other
 *   neighbours Irecv and Isend with both neighbours on a ring, Waitall: a halo exchange in one dimension
 * `exchange pattern ring bytes 8 us 2.3` */
#include "bench.h"

typedef struct {
  char *in, *out;
  int bytes, rank, size;
} Setting;

static void ring(const Setting* s) {
  const int next = (s->rank + 1) % s->size, last = (s->rank + s->size - 1) % s->size;
  if (s->rank != 0) MPI_Recv(s->in, s->bytes, MPI_BYTE, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(s->out, s->bytes, MPI_BYTE, next, 1, MPI_COMM_WORLD);
  if (s->rank == 0) MPI_Recv(s->in, s->bytes, MPI_BYTE, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void spread(const Setting* s) {
  for (int far = 1; far < s->size; far *= 2)
    MPI_Sendrecv(s->out, s->bytes, MPI_BYTE, (s->rank + far) % s->size, 2, s->in, s->bytes, MPI_BYTE,
                 (s->rank + s->size - far) % s->size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void neighbours(const Setting* s) {
  const int next = (s->rank + 1) % s->size, last = (s->rank + s->size - 1) % s->size;
  MPI_Request r[4];
  MPI_Irecv(s->in, s->bytes, MPI_BYTE, last, 3, MPI_COMM_WORLD, &r[0]);
  MPI_Irecv(s->in + s->bytes, s->bytes, MPI_BYTE, next, 4, MPI_COMM_WORLD, &r[1]);
  MPI_Isend(s->out, s->bytes, MPI_BYTE, next, 3, MPI_COMM_WORLD, &r[2]);
  MPI_Isend(s->out, s->bytes, MPI_BYTE, last, 4, MPI_COMM_WORLD, &r[3]);
  MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

static void measure(const char* name, void (*run)(const Setting*), const Setting* s, double parts) {
  const int repeats = s->bytes > 8192 ? 50 : 400;
  double batch[kBatches];
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < repeats; i++) run(s);
  for (int b = 0; b < kBatches; b++) {
    const double start = MPI_Wtime();
    for (int i = 0; i < repeats; i++) run(s);
    batch[b] = (MPI_Wtime() - start) / repeats / parts * 1e6;
  }
  if (s->rank == 0) printf("exchange pattern %s bytes %d us %.3f\n", name, s->bytes, bench_median(batch, kBatches));
}

int main(int argc, char** argv) {
  static const long usual[] = {8, 65536, -1};
  long sizes[32];
  int rank, size;
  bench_start(&argc, &argv, 0, &rank, &size);
  const int n = bench_sizes(argc, argv, usual, sizes, 32);
  for (int i = 0; i < n; i++) {
    Setting s = {bench_alloc(2 * (size_t)sizes[i]), bench_alloc((size_t)sizes[i]), (int)sizes[i], rank, size};
    measure("ring", ring, &s, size);
    measure("spread", spread, &s, 1);
    measure("neighbours", neighbours, &s, 1);
    free(s.in);
    free(s.out);
  }
  MPI_Finalize();
  return 0;
}
