/* Many requests at once, completed in another order than started; random traffic among all ranks. */
#include "check.h"

/* Thousands outstanding between neighbours. */
static void outstanding(int n, size_t bytes) {
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  unsigned char* out = check_alloc(bytes * (size_t)n);
  unsigned char* in = check_alloc(bytes * (size_t)n);
  MPI_Request* r = check_alloc(2 * (size_t)n * sizeof *r);
  for (int i = 0; i < n; i++) {
    pattern_fill(out + bytes * (size_t)i, bytes, (unsigned)(check_rank * 7 + i));
    MUST(MPI_Isend(out + bytes * (size_t)i, (int)bytes, MPI_BYTE, right, i, MPI_COMM_WORLD, &r[i]));
  }
  /* Received from the last to the first: all but one are unexpected, and every search goes far. */
  for (int i = n - 1; i >= 0; i--)
    MUST(MPI_Irecv(in + bytes * (size_t)i, (int)bytes, MPI_BYTE, left, i, MPI_COMM_WORLD, &r[n + i]));
  Random random = {7};
  for (int i = 2 * n - 1; i > 0; i--) { /* wait in random order */
    const int k = random_below(&random, i + 1);
    const MPI_Request swap = r[i];
    r[i] = r[k];
    r[k] = swap;
  }
  for (int i = 0; i < n; i++) MUST(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
  MUST(MPI_Waitall(n, r + n, MPI_STATUSES_IGNORE));
  for (int i = 0; i < n; i++) CHECK_PATTERN(in + bytes * (size_t)i, bytes, (unsigned)(left * 7 + i));
  free(out);
  free(in);
  free(r);
}

/* Every rank knows the whole random schedule, so each knows what to send and what must come. */
static void random_traffic(uint64_t seed, int messages, int largest) {
  typedef struct {
    int from, to, bytes;
  } Message;
  Message* all = check_alloc((size_t)messages * sizeof *all);
  void** buffers = calloc((size_t)messages, sizeof *buffers);
  void** arrived = calloc((size_t)messages, sizeof *arrived);
  MPI_Request* r = check_alloc(2 * (size_t)messages * sizeof *r);
  Random random = {seed};
  int n = 0;
  for (int m = 0; m < messages; m++) {
    all[m].from = random_below(&random, check_size);
    all[m].to = random_below(&random, check_size);
    all[m].bytes = random_below(&random, random_below(&random, 10) == 0 ? largest : 300);
  }
  for (int m = 0; m < messages; m++) {
    const size_t bytes = (size_t)all[m].bytes;
    if (all[m].to == check_rank && random_below(&random, 2) == 0) { /* half of the receives are posted early */
      arrived[m] = check_alloc(bytes);
      MUST(MPI_Irecv(arrived[m], all[m].bytes, MPI_BYTE, all[m].from, m, MPI_COMM_WORLD, &r[n++]));
    }
    if (all[m].from == check_rank) {
      buffers[m] = check_alloc(bytes);
      pattern_fill(buffers[m], bytes, (unsigned)m);
      MUST(MPI_Isend(buffers[m], all[m].bytes, MPI_BYTE, all[m].to, m, MPI_COMM_WORLD, &r[n++]));
    }
  }
  for (int m = messages - 1; m >= 0; m--)
    if (all[m].to == check_rank && !arrived[m]) {
      arrived[m] = check_alloc((size_t)all[m].bytes);
      MUST(MPI_Irecv(arrived[m], all[m].bytes, MPI_BYTE, MPI_ANY_SOURCE, m, MPI_COMM_WORLD, &r[n++]));
    }
  MUST(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
  for (int m = 0; m < messages; m++) {
    if (arrived[m]) CHECK_PATTERN(arrived[m], (size_t)all[m].bytes, (unsigned)m);
    free(arrived[m]);
    free(buffers[m]);
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD)); /* or a receive from any source takes a message of the next round */
  free(all);
  free(buffers);
  free(arrived);
  free(r);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  outstanding(5000, 8);
  outstanding(500, 3000);
  outstanding(40, 100000);
  for (uint64_t seed = 1; seed <= 6; seed++) random_traffic(seed, 400, seed % 2 ? 60000 : 400000);
  return check_end();
}
