/* Probe and Iprobe: what they report is what a receive would get, as often as they are asked. */
#include "check.h"

static int right, left;

static void probe_again_and_again(void) {
  double sent[6] = {1, 2, 3, 4, 5, 6}, got[6] = {0};
  MPI_Request r;
  MUST(MPI_Isend(sent, 6, MPI_DOUBLE, right, 9, MPI_COMM_WORLD, &r));
  for (int i = 0; i < 5; i++) {
    MPI_Status s;
    int count, flag = 0;
    if (i % 2) {
      while (!flag)
        MUST(MPI_Iprobe(i == 1 ? MPI_ANY_SOURCE : left, i == 3 ? MPI_ANY_TAG : 9, MPI_COMM_WORLD, &flag, &s));
    } else {
      MUST(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s));
    }
    CHECK_EQ(s.MPI_SOURCE, left);
    CHECK_EQ(s.MPI_TAG, 9);
    MUST(MPI_Get_count(&s, MPI_DOUBLE, &count));
    CHECK_EQ(count, 6);
    MUST(MPI_Get_count(&s, MPI_BYTE, &count));
    CHECK_EQ(count, 48);
    MPI_Datatype five;
    MUST(MPI_Type_contiguous(5, MPI_DOUBLE, &five));
    MUST(MPI_Type_commit(&five));
    MUST(MPI_Get_count(&s, five, &count));
    CHECK_EQ(count, MPI_UNDEFINED); /* 6 doubles are no whole number of fives */
    MUST(MPI_Type_free(&five));
  }
  MUST(MPI_Recv(got, 6, MPI_DOUBLE, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  for (int i = 0; i < 6; i++) CHECK(got[i] == sent[i], "value %d", i);
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

/* Nothing there: Iprobe says so, and sees neither other tags nor other communicators. */
static void nothing_there(void) {
  MPI_Comm other;
  int flag = 1, token = 5, got = 0;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &other));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  CHECK(!flag);
  MPI_Request r;
  MUST(MPI_Isend(&token, 1, MPI_INT, right, 3, other, &r));
  MUST(MPI_Probe(left, 3, other, MPI_STATUS_IGNORE));
  MUST(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  CHECK(!flag);
  MUST(MPI_Iprobe(left, 4, other, &flag, MPI_STATUS_IGNORE));
  CHECK(!flag);
  MUST(MPI_Recv(&got, 1, MPI_INT, left, 3, other, MPI_STATUS_IGNORE));
  CHECK_EQ(got, 5);
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  MUST(MPI_Barrier(MPI_COMM_WORLD)); /* no rank sends the next part's messages while others still probe in vain */
  MUST(MPI_Comm_free(&other));
}

/* Messages of unknown length from anyone, received as probed. */
static void unknown_lengths(void) {
  enum { kEach = 30 };
  Random random = {(uint64_t)check_rank + 1};
  if (check_rank != 0) {
    for (int i = 0; i < kEach; i++) {
      const int n = random_below(&random, i % 3 == 0 ? 200000 : 400);
      unsigned char* message = check_alloc((size_t)n);
      pattern_fill(message, (size_t)n, (unsigned)(check_rank * 1000 + i));
      MUST(MPI_Send(message, n, MPI_BYTE, 0, i, MPI_COMM_WORLD));
      free(message);
    }
    return;
  }
  int* next = calloc((size_t)check_size, sizeof *next);
  for (int k = 0; k < kEach * (check_size - 1); k++) {
    MPI_Status s, again;
    int n, m;
    MUST(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s));
    MUST(MPI_Get_count(&s, MPI_BYTE, &n));
    unsigned char* message = check_alloc((size_t)n);
    MUST(MPI_Recv(message, n, MPI_BYTE, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, &again));
    MUST(MPI_Get_count(&again, MPI_BYTE, &m));
    CHECK_EQ(m, n);
    CHECK_EQ(s.MPI_TAG, next[s.MPI_SOURCE]);
    next[s.MPI_SOURCE]++;
    CHECK_PATTERN(message, (size_t)n, (unsigned)(s.MPI_SOURCE * 1000 + s.MPI_TAG));
    free(message);
  }
  free(next);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  probe_again_and_again();
  nothing_there();
  unknown_lengths();
  return check_end();
}
