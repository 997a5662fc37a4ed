/* The Wait and Test families: null and finished requests, empty statuses, choice, cancelling, freeing. */
#include "check.h"

enum { kMany = 12 };
static int right, left;

static void check_empty(const MPI_Status* s) {
  int count = -1, cancelled = 1;
  CHECK_EQ(s->MPI_SOURCE, MPI_ANY_SOURCE);
  CHECK_EQ(s->MPI_TAG, MPI_ANY_TAG);
  CHECK_EQ(s->MPI_ERROR, MPI_SUCCESS);
  MUST(MPI_Get_count(s, MPI_BYTE, &count));
  CHECK_EQ(count, 0);
  MUST(MPI_Test_cancelled(s, &cancelled));
  CHECK_EQ(cancelled, 0);
}

static void null_requests(void) {
  MPI_Request r = MPI_REQUEST_NULL, none[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status s, all[3];
  int flag = 0, index = 0, count = 0, indices[3];
  MUST(MPI_Wait(&r, &s));
  check_empty(&s);
  MUST(MPI_Test(&r, &flag, &s));
  CHECK(flag);
  check_empty(&s);
  MUST(MPI_Waitall(3, none, all));
  for (int i = 0; i < 3; i++) check_empty(&all[i]);
  flag = 0;
  MUST(MPI_Testall(3, none, &flag, all));
  CHECK(flag);
  MUST(MPI_Waitany(3, none, &index, &s));
  CHECK_EQ(index, MPI_UNDEFINED);
  check_empty(&s);
  flag = 0, index = 0;
  MUST(MPI_Testany(3, none, &index, &flag, &s));
  CHECK(flag);
  CHECK_EQ(index, MPI_UNDEFINED);
  check_empty(&s);
  MUST(MPI_Waitsome(3, none, &count, indices, all));
  CHECK_EQ(count, MPI_UNDEFINED);
  count = 0;
  MUST(MPI_Testsome(3, none, &count, indices, all));
  CHECK_EQ(count, MPI_UNDEFINED);
  MUST(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
  MUST(MPI_Waitany(0, NULL, &index, MPI_STATUS_IGNORE));
  CHECK_EQ(index, MPI_UNDEFINED);
}

/* What has not started cannot be complete; what is complete is set to null. */
static void test_before_and_after(void) {
  int got = -1, sent = check_rank, flag = 1, index = 0, count = 9, indices[1];
  MPI_Request r, out;
  MPI_Status s;
  MUST(MPI_Irecv(&got, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &r));
  MUST(MPI_Test(&r, &flag, &s));
  CHECK(!flag);
  MUST(MPI_Testall(1, &r, &flag, &s));
  CHECK(!flag);
  MUST(MPI_Testany(1, &r, &index, &flag, &s));
  CHECK(!flag);
  CHECK_EQ(index, MPI_UNDEFINED);
  MUST(MPI_Testsome(1, &r, &count, indices, &s));
  CHECK_EQ(count, 0);
  MUST(MPI_Request_get_status(r, &flag, &s));
  CHECK(!flag);
  CHECK(r != MPI_REQUEST_NULL);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_Isend(&sent, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &out));
  for (flag = 0; !flag;) MUST(MPI_Request_get_status(r, &flag, &s));
  CHECK_EQ(s.MPI_SOURCE, left);
  CHECK(r != MPI_REQUEST_NULL); /* looking does not complete it */
  for (flag = 0; !flag;) MUST(MPI_Test(&r, &flag, &s));
  CHECK(r == MPI_REQUEST_NULL);
  CHECK_EQ(got, left);
  MUST(MPI_Wait(&out, MPI_STATUS_IGNORE));
  CHECK(out == MPI_REQUEST_NULL);
}

/* kMany receives, sent to in another order; `take` completes some of them and says which. */
typedef int (*Take)(MPI_Request* r, int* indices, MPI_Status* s);

static int take_any(MPI_Request* r, int* indices, MPI_Status* s) {
  MUST(MPI_Waitany(kMany, r, &indices[0], &s[0]));
  return indices[0] == MPI_UNDEFINED ? 0 : 1;
}
static int take_some(MPI_Request* r, int* indices, MPI_Status* s) {
  int n;
  MUST(MPI_Waitsome(kMany, r, &n, indices, s));
  return n == MPI_UNDEFINED ? 0 : n;
}
static int take_by_testing_any(MPI_Request* r, int* indices, MPI_Status* s) {
  int flag = 0;
  while (!flag) MUST(MPI_Testany(kMany, r, &indices[0], &flag, &s[0]));
  return indices[0] == MPI_UNDEFINED ? 0 : 1;
}
static int take_by_testing_some(MPI_Request* r, int* indices, MPI_Status* s) {
  int n = 0;
  while (n == 0) MUST(MPI_Testsome(kMany, r, &n, indices, s));
  return n == MPI_UNDEFINED ? 0 : n;
}

static void choice(Take take) {
  MPI_Request r[kMany], out[kMany];
  MPI_Status s[kMany];
  int got[kMany], sent[kMany], indices[kMany], seen[kMany] = {0}, total = 0;
  for (int i = 0; i < kMany; i++) MUST(MPI_Irecv(&got[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &r[i]));
  for (int i = 0; i < kMany; i++) {
    const int tag = (i * 5 + 3) % kMany;
    sent[i] = tag * 10;
    MUST(MPI_Isend(&sent[i], 1, MPI_INT, right, tag, MPI_COMM_WORLD, &out[i]));
  }
  for (int n; (n = take(r, indices, s)) > 0;) {
    for (int k = 0; k < n; k++) {
      const int i = indices[k];
      CHECK(i >= 0 && i < kMany && !seen[i], "index %d", i);
      if (i < 0 || i >= kMany) continue;
      seen[i] = 1;
      total++;
      CHECK(r[i] == MPI_REQUEST_NULL, "request %d", i);
      CHECK_EQ(s[k].MPI_TAG, i);
      CHECK_EQ(got[i], i * 10);
    }
  }
  CHECK_EQ(total, kMany);
  MUST(MPI_Waitall(kMany, out, MPI_STATUSES_IGNORE));
}

/* Testall completes all or none. */
static void test_all(void) {
  MPI_Request r[3], out;
  int got[3] = {0}, sent = 1, flag = 0;
  for (int i = 0; i < 3; i++) MUST(MPI_Irecv(&got[i], 1, MPI_INT, left, 20 + i, MPI_COMM_WORLD, &r[i]));
  for (int i = 0; i < 2; i++) MUST(MPI_Send(&sent, 1, MPI_INT, right, 20 + i, MPI_COMM_WORLD));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  for (int k = 0; k < 100; k++) MUST(MPI_Testall(3, r, &flag, MPI_STATUSES_IGNORE));
  CHECK(!flag);
  for (int i = 0; i < 3; i++) CHECK(r[i] != MPI_REQUEST_NULL, "request %d was completed alone", i);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_Isend(&sent, 1, MPI_INT, right, 22, MPI_COMM_WORLD, &out));
  while (!flag) MUST(MPI_Testall(3, r, &flag, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 3; i++) CHECK(r[i] == MPI_REQUEST_NULL, "request %d", i);
  MUST(MPI_Wait(&out, MPI_STATUS_IGNORE));
}

/* A receive that is cancelled leaves its buffer and the next message alone. */
static void cancelled_receive(void) {
  int first = 77, second = 0, sent = check_rank, cancelled = 0;
  MPI_Request r;
  MPI_Status s;
  MUST(MPI_Irecv(&first, 1, MPI_INT, left, 30, MPI_COMM_WORLD, &r)); /* no rank sends before the barrier below */
  MUST(MPI_Cancel(&r));
  MUST(MPI_Wait(&r, &s));
  MUST(MPI_Test_cancelled(&s, &cancelled));
  CHECK(cancelled);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_Sendrecv(&sent, 1, MPI_INT, right, 30, &second, 1, MPI_INT, left, 30, MPI_COMM_WORLD, &s));
  CHECK_EQ(second, left);
  CHECK_EQ(first, 77);
  MUST(MPI_Test_cancelled(&s, &cancelled));
  CHECK(!cancelled);
}

/* A freed send still arrives; a freed receive still receives (the reply proves it). */
static void freed_requests(void) {
  enum { kWords = 30000 };
  static int out[kWords], in[kWords];
  MPI_Request r;
  int token = 4711, got = 0;
  for (int i = 0; i < kWords; i++) out[i] = check_rank + i;
  MUST(MPI_Irecv(in, kWords, MPI_INT, left, 40, MPI_COMM_WORLD, &r));
  MUST(MPI_Request_free(&r));
  CHECK(r == MPI_REQUEST_NULL);
  MUST(MPI_Isend(out, kWords, MPI_INT, right, 40, MPI_COMM_WORLD, &r));
  MUST(MPI_Request_free(&r));
  /* Ordered behind the data: the token comes last. */
  MUST(MPI_Isend(&token, 1, MPI_INT, right, 40, MPI_COMM_WORLD, &r));
  MUST(MPI_Recv(&got, 1, MPI_INT, left, 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(got, 4711);
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  /* Nothing tells when a freed receive is done; the library has to get there while we make it work. */
  for (int done = 0, mine, flag; !done;) {
    MUST(MPI_Iprobe(MPI_ANY_SOURCE, 41, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    mine = in[0] == left && in[kWords - 1] == left + kWords - 1;
    MUST(MPI_Allreduce(&mine, &done, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
  }
  for (int i = 0; i < kWords; i++)
    if (in[i] != left + i) {
      CHECK(0, "word %d is %d", i, in[i]);
      break;
    }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  null_requests();
  test_before_and_after();
  choice(take_any);
  choice(take_some);
  choice(take_by_testing_any);
  choice(take_by_testing_some);
  test_all();
  cancelled_receive();
  freed_requests();
  return check_end();
}
