/* Every size around the places where a library may switch protocols, in every pairing of calls, all ranks at once. */
#include "check.h"

static char *out, *in;

/* Isend and Irecv around the ring. */
static void ring_nonblocking(size_t n, int right, int left, unsigned seed) {
  MPI_Request r[2];
  MPI_Status s[2];
  int count;
  MUST(MPI_Irecv(in, (int)n, MPI_BYTE, left, 1, MPI_COMM_WORLD, &r[0]));
  MUST(MPI_Isend(out, (int)n, MPI_BYTE, right, 1, MPI_COMM_WORLD, &r[1]));
  MUST(MPI_Waitall(2, r, s));
  CHECK_EQ(s[0].MPI_SOURCE, left);
  CHECK_EQ(s[0].MPI_TAG, 1);
  MUST(MPI_Get_count(&s[0], MPI_BYTE, &count));
  CHECK_EQ(count, n);
  CHECK_PATTERN(in, n, seed);
}

/* Blocking Send meets a receive posted before (even ranks) or after it arrived (odd ranks). */
static void ring_blocking(size_t n, int right, int left, unsigned seed) {
  MPI_Request r;
  if (check_rank % 2 == 0) {
    MUST(MPI_Irecv(in, (int)n, MPI_BYTE, left, 2, MPI_COMM_WORLD, &r));
    MUST(MPI_Send(out, (int)n, MPI_BYTE, right, 2, MPI_COMM_WORLD));
    MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  } else {
    MUST(MPI_Isend(out, (int)n, MPI_BYTE, right, 2, MPI_COMM_WORLD, &r));
    MUST(MPI_Recv(in, (int)n, MPI_BYTE, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  }
  CHECK_PATTERN(in, n, seed);
}

/* Synchronous sends; the receive has room to spare and must not touch it. */
static void ring_synchronous(size_t n, int right, int left, unsigned seed) {
  MPI_Request r[2];
  MPI_Status s[2];
  memset(in + n, 0x5a, 64);
  MUST(MPI_Issend(out, (int)n, MPI_BYTE, right, 3, MPI_COMM_WORLD, &r[1]));
  MUST(MPI_Irecv(in, (int)n + 64, MPI_BYTE, left, 3, MPI_COMM_WORLD, &r[0]));
  MUST(MPI_Waitall(2, r, s));
  int count;
  MUST(MPI_Get_count(&s[0], MPI_BYTE, &count));
  CHECK_EQ(count, n);
  CHECK_PATTERN(in, n, seed);
  for (int i = 0; i < 64; i++) CHECK(in[n + (size_t)i] == 0x5a, "byte %d behind the message of %zu", i, n);
}

/* The receiver asks first what comes. */
static void ring_probed(size_t n, int right, int left, unsigned seed) {
  MPI_Request r;
  MPI_Status s;
  int count;
  MUST(MPI_Isend(out, (int)n, MPI_BYTE, right, 4, MPI_COMM_WORLD, &r));
  MUST(MPI_Probe(left, 4, MPI_COMM_WORLD, &s));
  MUST(MPI_Get_count(&s, MPI_BYTE, &count));
  CHECK_EQ(count, n);
  MUST(MPI_Recv(in, count, MPI_BYTE, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, &s));
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  CHECK_PATTERN(in, n, seed);
}

static void try_size(size_t n) {
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  const unsigned sent = (unsigned)(n * 31) + (unsigned)check_rank, expected = (unsigned)(n * 31) + (unsigned)left;
  void (*const ways[])(size_t, int, int, unsigned) = {ring_nonblocking, ring_blocking, ring_synchronous, ring_probed};
  pattern_fill(out, n, sent);
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
    memset(in, 0, n);
    ways[w](n, right, left, expected);
  }
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const size_t largest = check_size > 4 ? 1 << 18 : 1 << 22;
  out = check_alloc(largest + 1);
  in = check_alloc(largest + 1 + 64);
  for (size_t n = 0; n <= 80; n++) try_size(n);
  for (size_t n = 128; n <= largest / 2; n *= 2) {
    try_size(n - 1);
    try_size(n);
    try_size(n + 1);
    try_size(n + n / 2);
  }
  try_size(largest);
  try_size(largest + 1);
  free(out);
  free(in);
  return check_end();
}
