/* Sendrecv and Sendrecv_replace: rings, self, halves with MPI_PROC_NULL, and meeting plain sends and receives. */
#include "check.h"

static void ring(size_t n) {
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  unsigned char* out = check_alloc(n);
  unsigned char* in = check_alloc(n);
  MPI_Status s;
  int count;
  pattern_fill(out, n, (unsigned)check_rank);
  MUST(MPI_Sendrecv(out, (int)n, MPI_BYTE, right, 3, in, (int)n, MPI_BYTE, left, 3, MPI_COMM_WORLD, &s));
  CHECK_EQ(s.MPI_SOURCE, left);
  MUST(MPI_Get_count(&s, MPI_BYTE, &count));
  CHECK_EQ(count, n);
  CHECK_PATTERN(in, n, (unsigned)left);
  MUST(MPI_Sendrecv_replace(in, (int)n, MPI_BYTE, right, 4, left, 4, MPI_COMM_WORLD, &s));
  CHECK_PATTERN(in, n, (unsigned)((left + check_size - 1) % check_size));
  free(out);
  free(in);
}

static void self(size_t n) {
  unsigned char* out = check_alloc(n);
  unsigned char* in = check_alloc(n);
  MPI_Request r;
  pattern_fill(out, n, 99);
  MUST(MPI_Sendrecv(out, (int)n, MPI_BYTE, 0, 1, in, (int)n, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK_PATTERN(in, n, 99u);
  memset(in, 0, n);
  MUST(MPI_Isend(out, (int)n, MPI_BYTE, check_rank, 2, MPI_COMM_WORLD, &r));
  MUST(MPI_Recv(in, (int)n, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  CHECK_PATTERN(in, n, 99u);
  memset(in, 0, n);
  MUST(MPI_Irecv(in, (int)n, MPI_BYTE, check_rank, 5, MPI_COMM_WORLD, &r));
  MUST(MPI_Ssend(out, (int)n, MPI_BYTE, check_rank, 5, MPI_COMM_WORLD));
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  CHECK_PATTERN(in, n, 99u);
  free(out);
  free(in);
}

/* A line instead of a ring: the ends exchange with MPI_PROC_NULL. */
static void line(void) {
  const int up = check_rank + 1 < check_size ? check_rank + 1 : MPI_PROC_NULL;
  const int down = check_rank > 0 ? check_rank - 1 : MPI_PROC_NULL;
  int out = check_rank, in = -5;
  MPI_Status s;
  MUST(MPI_Sendrecv(&out, 1, MPI_INT, up, 6, &in, 1, MPI_INT, down, 6, MPI_COMM_WORLD, &s));
  CHECK_EQ(in, down == MPI_PROC_NULL ? -5 : down);
  CHECK_EQ(s.MPI_SOURCE, down);
}

/* Rank 0 uses Sendrecv; everyone else answers with plain calls. Sizes and types differ in the two directions. */
static void against_plain_calls(void) {
  for (int peer = 1; peer < check_size; peer++) {
    int word = peer, words[100];
    double back = 0, answer = peer * 0.5;
    if (check_rank == 0) {
      for (int i = 0; i < 100; i++) words[i] = i;
      MUST(
          MPI_Sendrecv(words, 100, MPI_INT, peer, 7, &back, 1, MPI_DOUBLE, peer, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK(back == answer, "from %d came %g", peer, back);
    } else if (check_rank == peer) {
      MUST(MPI_Send(&answer, 1, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD));
      MUST(MPI_Recv(words, 100, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK_EQ(words[99], 99);
    }
    CHECK_EQ(word, peer);
  }
}

/* Every second number goes round and is replaced in place; the others stay. Few, and more than fit on a stack. */
static void replace_with_gaps(int numbers) {
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  double* values = check_alloc(sizeof(double) * 2 * (size_t)numbers);
  MPI_Datatype every_second;
  MPI_Status s;
  int count = 0;
  MUST(MPI_Type_vector(numbers, 1, 2, MPI_DOUBLE, &every_second));
  MUST(MPI_Type_commit(&every_second));
  for (int i = 0; i < 2 * numbers; i++) values[i] = check_rank * 1000000 + i;
  MUST(MPI_Sendrecv_replace(values, 1, every_second, right, 1, left, 1, MPI_COMM_WORLD, &s));
  MUST(MPI_Get_count(&s, every_second, &count));
  CHECK_EQ(count, 1);
  for (int i = 0; i < 2 * numbers; i++)
    if (values[i] != (i % 2 ? check_rank : left) * 1000000 + i) {
      CHECK(0, "number %d of %d is %f", i, numbers, values[i]);
      break;
    }
  MUST(MPI_Sendrecv_replace(values, 1, every_second, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &s));
  CHECK(s.MPI_SOURCE == MPI_PROC_NULL && values[0] == left * 1000000.0);
  MUST(MPI_Type_free(&every_second));
  free(values);
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {0, 1, 8, 100, 4096, 20000, 65536, 1 << 20};
  check_start(&argc, &argv);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    ring(sizes[i]);
    self(sizes[i]);
  }
  replace_with_gaps(5);
  replace_with_gaps(40000);
  line();
  against_plain_calls();
  return check_end();
}
