/* Isendrecv and Isendrecv_replace, alone and many at once; with null processes; with messages that are too long. */
#include "check.h"

static int right, left;

static int class_of(int code) {
  int class = 0;
  MPI_Error_class(code, &class);
  return class;
}

static void exchange(int bytes, MPI_Comm comm) {
  enum { kMany = 6 };
  unsigned char *out[kMany], *in[kMany], *both[kMany];
  MPI_Request r[2 * kMany];
  MPI_Status s[2 * kMany];
  for (int i = 0; i < kMany; i++) {
    out[i] = check_alloc((size_t)bytes), in[i] = check_alloc((size_t)bytes), both[i] = check_alloc((size_t)bytes);
    pattern_fill(out[i], (size_t)bytes, (unsigned)(check_rank * 100 + i));
    pattern_fill(both[i], (size_t)bytes, (unsigned)(check_rank * 100 + 50 + i));
    MUST(MPI_Isendrecv(out[i], bytes, MPI_BYTE, right, i, in[i], bytes, MPI_BYTE, i % 2 ? left : MPI_ANY_SOURCE, i,
                       comm, &r[i]));
    MUST(MPI_Isendrecv_replace(both[i], bytes, MPI_BYTE, right, 100 + i, left, 100 + i, comm, &r[kMany + i]));
  }
  MUST(MPI_Waitall(2 * kMany, r, s));
  for (int i = 0; i < kMany; i++) {
    int n, m;
    MUST(MPI_Get_count(&s[i], MPI_BYTE, &n));
    MUST(MPI_Get_count(&s[kMany + i], MPI_BYTE, &m));
    CHECK(n == bytes && m == bytes, "%d, %d", n, m);
    CHECK(s[i].MPI_SOURCE == left && s[i].MPI_TAG == i, "%d, %d", s[i].MPI_SOURCE, s[i].MPI_TAG);
    CHECK(s[kMany + i].MPI_SOURCE == left && s[kMany + i].MPI_TAG == 100 + i);
    CHECK_PATTERN(in[i], (size_t)bytes, (unsigned)(left * 100 + i));
    CHECK_PATTERN(both[i], (size_t)bytes, (unsigned)(left * 100 + 50 + i));
    free(out[i]), free(in[i]), free(both[i]);
  }
}

/* With gaps: every second number, sent and replaced in place. */
static void with_gaps(MPI_Comm comm) {
  double values[2000];
  MPI_Datatype every_second;
  MPI_Request r;
  MUST(MPI_Type_vector(1000, 1, 2, MPI_DOUBLE, &every_second));
  MUST(MPI_Type_commit(&every_second));
  for (int i = 0; i < 2000; i++) values[i] = check_rank * 10000 + i;
  MUST(MPI_Isendrecv_replace(values, 1, every_second, right, 1, left, 1, comm, &r));
  MUST(MPI_Type_free(&every_second));
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  for (int i = 0; i < 2000; i++)
    CHECK(values[i] == (i % 2 ? check_rank : left) * 10000 + i, "value %d is %f", i, values[i]);
}

static void nobody(MPI_Comm comm) {
  int out = 3, in = 4, count = -1;
  MPI_Request r;
  MPI_Status s;
  MUST(MPI_Isendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 1, &in, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &r));
  MUST(MPI_Wait(&r, &s));
  CHECK(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG);
  MUST(MPI_Get_count(&s, MPI_INT, &count));
  CHECK_EQ(count, 0);
  CHECK_EQ(in, 4);
  /* A chain without ends. */
  const int next = check_rank + 1 < check_size ? check_rank + 1 : MPI_PROC_NULL;
  const int previous = check_rank > 0 ? check_rank - 1 : MPI_PROC_NULL;
  in = -1, out = check_rank;
  MUST(MPI_Isendrecv(&out, 1, MPI_INT, next, 2, &in, 1, MPI_INT, previous, 2, comm, &r));
  MUST(MPI_Wait(&r, &s));
  CHECK_EQ(in, check_rank - 1);
  CHECK_EQ(s.MPI_SOURCE, previous);
  out = in = check_rank;
  MUST(MPI_Isendrecv_replace(&in, 1, MPI_INT, next, 3, previous, 3, comm, &r));
  MUST(MPI_Wait(&r, &s));
  CHECK_EQ(in, previous == MPI_PROC_NULL ? check_rank : previous);
}

static void errors(MPI_Comm comm) {
  int out[3] = {1, 2, 3}, in = 0;
  MPI_Request r = MPI_REQUEST_NULL;
  CHECK_EQ(class_of(MPI_Isendrecv(out, 1, MPI_INT, check_size, 1, &in, 1, MPI_INT, left, 1, comm, &r)), MPI_ERR_RANK);
  CHECK_EQ(class_of(MPI_Isendrecv(out, 1, MPI_INT, right, -1, &in, 1, MPI_INT, left, 1, comm, &r)), MPI_ERR_TAG);
  CHECK_EQ(class_of(MPI_Isendrecv_replace(out, -1, MPI_INT, right, 1, left, 1, comm, &r)), MPI_ERR_COUNT);
  CHECK(r == MPI_REQUEST_NULL);
  MUST(MPI_Isendrecv(out, 3, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, comm, &r));
  CHECK_EQ(class_of(MPI_Wait(&r, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
  CHECK_EQ(in, 1);
  /* Given away at once: it completes all the same. */
  MUST(MPI_Isendrecv(out, 3, MPI_INT, right, 2, &in, 0, MPI_INT, MPI_PROC_NULL, 2, comm, &r));
  MUST(MPI_Request_free(&r));
  MUST(MPI_Recv(out, 3, MPI_INT, left, 2, comm, MPI_STATUS_IGNORE));
}

int main(int argc, char** argv) {
  static const int kSizes[] = {0, 4, 60, 5000, 200000};
  check_start(&argc, &argv);
  right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  for (int i = 0; i < 5; i++) exchange(kSizes[i], MPI_COMM_WORLD);
  with_gaps(MPI_COMM_WORLD);
  nobody(MPI_COMM_WORLD);
  errors(MPI_COMM_WORLD);
  return check_end();
}
