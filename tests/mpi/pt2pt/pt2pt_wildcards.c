/* MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_PROC_NULL, and what statuses say. */
#include "check.h"

enum { kPerRank = 20 };

/* Everyone sends to rank 0, which takes them as they come and must see each once, in order per sender. */
static void any_source_any_tag(void) {
  if (check_rank != 0) {
    for (int i = 0; i < kPerRank; i++) {
      const int value[2] = {check_rank, i};
      MUST(MPI_Send(value, 2, MPI_INT, 0, i % 5, MPI_COMM_WORLD));
    }
    return;
  }
  int* next = calloc((size_t)check_size, sizeof *next);
  for (int i = 0; i < (check_size - 1) * kPerRank; i++) {
    int value[2] = {-1, -1}, count;
    MPI_Status s;
    memset(&s, 0x77, sizeof s);
    s.MPI_ERROR = 4711;
    MUST(MPI_Recv(value, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s));
    CHECK_EQ(s.MPI_SOURCE, value[0]);
    CHECK_EQ(s.MPI_TAG, value[1] % 5);
    CHECK_EQ(s.MPI_ERROR, 4711); /* a single completion leaves this field alone */
    MUST(MPI_Get_count(&s, MPI_INT, &count));
    CHECK_EQ(count, 2);
    CHECK_EQ(value[1], next[s.MPI_SOURCE]);
    next[s.MPI_SOURCE]++;
  }
  free(next);
}

/* A wildcard posted before a named receive takes the first message; the named one the next. */
static void posted_wildcard_is_older(void) {
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  int got[3] = {-1, -1, -1}, sent[3] = {10, 11, 12};
  MPI_Request r[3], out[3];
  MPI_Status s[3];
  MUST(MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &r[0]));
  MUST(MPI_Irecv(&got[1], 1, MPI_INT, left, 7, MPI_COMM_WORLD, &r[1]));
  MUST(MPI_Irecv(&got[2], 1, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &r[2]));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < 3; i++) MUST(MPI_Isend(&sent[i], 1, MPI_INT, right, 7, MPI_COMM_WORLD, &out[i]));
  MUST(MPI_Waitall(3, r, s));
  MUST(MPI_Waitall(3, out, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(got[i], 10 + i);
    CHECK_EQ(s[i].MPI_SOURCE, left);
    CHECK_EQ(s[i].MPI_TAG, 7);
  }
}

/* A receive that names a tag passes by older messages of other tags. */
static void named_tag_passes_by(void) {
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  MPI_Request out[4];
  int sent[4] = {0, 1, 2, 3};
  for (int i = 0; i < 4; i++) MUST(MPI_Isend(&sent[i], 1, MPI_INT, right, 100 + i, MPI_COMM_WORLD, &out[i]));
  for (int i = 3; i >= 0; i--) {
    int got = -1;
    MUST(MPI_Recv(&got, 1, MPI_INT, left, 100 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(got, i);
  }
  MUST(MPI_Waitall(4, out, MPI_STATUSES_IGNORE));
}

static void largest_tag(void) {
  int* limit;
  int there, got = 0, sent = check_rank;
  MUST(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &there));
  CHECK(there && *limit >= 32767, "MPI_TAG_UB");
  if (!there) return;
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  MPI_Status s;
  MUST(MPI_Sendrecv(&sent, 1, MPI_INT, right, *limit, &got, 1, MPI_INT, left, *limit, MPI_COMM_WORLD, &s));
  CHECK_EQ(got, left);
  CHECK_EQ(s.MPI_TAG, *limit);
}

static void check_null_status(const MPI_Status* s) {
  int count = -1;
  CHECK_EQ(s->MPI_SOURCE, MPI_PROC_NULL);
  CHECK_EQ(s->MPI_TAG, MPI_ANY_TAG);
  MUST(MPI_Get_count(s, MPI_INT, &count));
  CHECK_EQ(count, 0);
}

static void nobody(void) {
  int value = 42, flag = 0;
  MPI_Status s;
  MPI_Request r;
  MUST(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  MUST(MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  MUST(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &s));
  check_null_status(&s);
  CHECK_EQ(value, 42);
  MUST(MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r));
  MUST(MPI_Wait(&r, &s));
  MUST(MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r));
  MUST(MPI_Wait(&r, &s));
  check_null_status(&s);
  MUST(MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &s));
  check_null_status(&s);
  MUST(MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &s));
  CHECK(flag);
  check_null_status(&s);
  MUST(MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, &value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &s));
  check_null_status(&s);
  CHECK_EQ(value, 42);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  any_source_any_tag();
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  posted_wildcard_is_older();
  named_tag_passes_by();
  largest_tag();
  nobody();
  return check_end();
}
