/* Partitioned communication: equal and different cuts on both sides, partitions ready in any order and by many threads,
 * bytes that arrive before the last partition is ready, datatypes with gaps, null processes, errors. */
#include <pthread.h>

#include "check.h"

static int right, left;

static int class_of(int code) {
  int class = 0;
  MPI_Error_class(code, &class);
  return class;
}

/* Both sides cut `bytes` their own way; partitions are ready in a random order; several rounds. */
static void cuts(int send_parts, int recv_parts, int bytes, MPI_Comm comm, uint64_t seed) {
  unsigned char *out = check_alloc((size_t)bytes), *in = check_alloc((size_t)bytes);
  int* order = check_alloc(sizeof(int) * (size_t)send_parts);
  Random random = {seed};
  MPI_Request r[2];
  MUST(MPI_Psend_init(out, send_parts, bytes / send_parts, MPI_BYTE, right, 3, comm, MPI_INFO_NULL, &r[0]));
  MUST(MPI_Precv_init(in, recv_parts, bytes / recv_parts, MPI_BYTE, left, 3, comm, MPI_INFO_NULL, &r[1]));
  for (unsigned round = 0; round < 4; round++) {
    int flag = 0;
    MPI_Status s[2];
    memset(in, 0, (size_t)bytes);
    pattern_fill(out, (size_t)bytes, round + (unsigned)check_rank);
    MUST(MPI_Parrived(r[1], 0, &flag));
    CHECK(flag, "an inactive request has everything");
    MUST(MPI_Startall(2, r));
    for (int i = 0; i < send_parts; i++) order[i] = i;
    for (int i = send_parts - 1; i > 0; i--) {
      const int j = random_below(&random, i + 1), other = order[i];
      order[i] = order[j], order[j] = other;
    }
    if (round == 1) {
      MUST(MPI_Pready_range(0, send_parts - 1, r[0]));
    } else if (round == 2) {
      MUST(MPI_Pready_list(send_parts, order, r[0]));
    } else {
      for (int i = 0; i < send_parts; i++) MUST(MPI_Pready(order[i], r[0]));
    }
    const size_t part = (size_t)(bytes / recv_parts);
    for (int i = recv_parts - 1; i >= 0; i--) {
      do {
        MUST(MPI_Parrived(r[1], i, &flag));
      } while (!flag);
      for (size_t k = 0; k < part; k++)
        if (in[(size_t)i * part + k] != pattern_byte(round + (unsigned)left, (size_t)i * part + k)) {
          CHECK(0, "partition %d of %d, byte %zu", i, recv_parts, k);
          break;
        }
    }
    MUST(MPI_Waitall(2, r, s));
    CHECK(r[0] != MPI_REQUEST_NULL && r[1] != MPI_REQUEST_NULL);
    int count;
    MUST(MPI_Get_count(&s[1], MPI_BYTE, &count));
    CHECK(count == bytes && s[1].MPI_SOURCE == left && s[1].MPI_TAG == 3, "%d", count);
    CHECK_PATTERN(in, (size_t)bytes, round + (unsigned)left);
  }
  MUST(MPI_Request_free(&r[0]));
  MUST(MPI_Request_free(&r[1]));
  free(out), free(in), free(order);
}

/* The first half is there before the second is ready: nobody would let it be ready otherwise. */
static void pipelined(MPI_Comm comm) {
  if (check_size < 2 || check_rank > 1) return;
  enum { kPart = 100000 };
  unsigned char* data = check_alloc(2 * kPart);
  MPI_Request r;
  int flag = 0;
  if (check_rank == 0) {
    pattern_fill(data, 2 * kPart, 5);
    MUST(MPI_Psend_init(data, 2, kPart, MPI_BYTE, 1, 1, comm, MPI_INFO_NULL, &r));
    MUST(MPI_Start(&r));
    MUST(MPI_Pready(0, r));
    MUST(MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, comm, MPI_STATUS_IGNORE));
    MUST(MPI_Pready(1, r));
  } else {
    MUST(MPI_Precv_init(data, 2, kPart, MPI_BYTE, 0, 1, comm, MPI_INFO_NULL, &r));
    MUST(MPI_Start(&r));
    while (!flag) MUST(MPI_Parrived(r, 0, &flag));
    CHECK_PATTERN(data, kPart, 5);
    MUST(MPI_Parrived(r, 1, &flag));
    CHECK(!flag);
    MUST(MPI_Send(NULL, 0, MPI_BYTE, 0, 2, comm));
  }
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  CHECK_PATTERN(data, 2 * kPart, 5);
  MUST(MPI_Request_free(&r));
  free(data);
}

/* Requests of equal envelope are paired in the order in which they were made, whichever side is first. */
static void pairing(MPI_Comm comm) {
  enum { kMany = 5 };
  int out[kMany], in[kMany];
  MPI_Request r[2 * kMany];
  for (int i = 0; i < kMany; i++) {
    out[i] = check_rank * 10 + i, in[i] = -1;
    if (check_rank % 2) {
      MUST(MPI_Psend_init(&out[i], 1, 1, MPI_INT, right, 0, comm, MPI_INFO_NULL, &r[i]));
      if (i % 2) MUST(MPI_Barrier(comm));
      MUST(MPI_Precv_init(&in[i], 1, 1, MPI_INT, left, 0, comm, MPI_INFO_NULL, &r[kMany + i]));
    } else {
      MUST(MPI_Precv_init(&in[i], 1, 1, MPI_INT, left, 0, comm, MPI_INFO_NULL, &r[kMany + i]));
      if (i % 2) MUST(MPI_Barrier(comm));
      MUST(MPI_Psend_init(&out[i], 1, 1, MPI_INT, right, 0, comm, MPI_INFO_NULL, &r[i]));
    }
  }
  /* An ordinary message of that envelope is another matter. */
  int value = 77, got = 0;
  MUST(MPI_Sendrecv(&value, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0, comm, MPI_STATUS_IGNORE));
  CHECK_EQ(got, 77);
  MUST(MPI_Startall(2 * kMany, r));
  for (int i = kMany - 1; i >= 0; i--) MUST(MPI_Pready(0, r[i]));
  MUST(MPI_Waitall(2 * kMany, r, MPI_STATUSES_IGNORE));
  for (int i = 0; i < kMany; i++) CHECK_EQ(in[i], left * 10 + i);
  for (int i = 0; i < 2 * kMany; i++) MUST(MPI_Request_free(&r[i]));
}

/* Every second number on one side, packed on the other; more partitions than items would allow on the other. */
static void with_gaps(MPI_Comm comm) {
  enum { kItems = 600 };
  double out[2 * kItems], in[kItems];
  MPI_Datatype second;
  MPI_Request r[2];
  MUST(MPI_Type_create_resized(MPI_DOUBLE, 0, 2 * sizeof(double), &second));
  MUST(MPI_Type_commit(&second));
  for (int i = 0; i < 2 * kItems; i++) out[i] = check_rank * 1000 + i;
  MUST(MPI_Psend_init(out, 6, kItems / 6, second, right, 1, comm, MPI_INFO_NULL, &r[0]));
  MUST(MPI_Precv_init(in, 100, kItems / 100, MPI_DOUBLE, left, 1, comm, MPI_INFO_NULL, &r[1]));
  MUST(MPI_Type_free(&second));
  MUST(MPI_Startall(2, r));
  for (int i = 5; i >= 0; i--) MUST(MPI_Pready(i, r[0]));
  MUST(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
  for (int i = 0; i < kItems; i++) CHECK(in[i] == left * 1000 + 2 * i, "number %d is %f", i, in[i]);
  MUST(MPI_Request_free(&r[0]));
  MUST(MPI_Request_free(&r[1]));
}

typedef struct {
  MPI_Request request;
  int first, step, count;
} Marker;

static void* mark(void* argument) {
  const Marker* m = argument;
  for (int i = m->first; i < m->count; i += m->step) MPI_Pready(i, m->request);
  return NULL;
}

static void by_threads(MPI_Comm comm) {
  enum { kThreads = 4, kParts = 128, kPart = 3000 };
  unsigned char *out = check_alloc(kParts * kPart), *in = check_alloc(kParts * kPart);
  MPI_Request r[2];
  MUST(MPI_Psend_init(out, kParts, kPart, MPI_BYTE, right, 1, comm, MPI_INFO_NULL, &r[0]));
  MUST(MPI_Precv_init(in, kParts / 2, 2 * kPart, MPI_BYTE, left, 1, comm, MPI_INFO_NULL, &r[1]));
  for (unsigned round = 0; round < 10; round++) {
    pthread_t threads[kThreads];
    Marker markers[kThreads];
    pattern_fill(out, kParts * kPart, round);
    MUST(MPI_Startall(2, r));
    for (int t = 0; t < kThreads; t++) {
      markers[t] = (Marker){r[0], t, kThreads, kParts};
      pthread_create(&threads[t], NULL, mark, &markers[t]);
    }
    MUST(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    for (int t = 0; t < kThreads; t++) pthread_join(threads[t], NULL);
    CHECK_PATTERN(in, kParts * kPart, round);
  }
  MUST(MPI_Request_free(&r[0]));
  MUST(MPI_Request_free(&r[1]));
  free(out), free(in);
}

static void nobody_and_errors(MPI_Comm comm) {
  int x[4] = {1, 2, 3, 4}, y[2] = {0, 0}, flag = 0;
  MPI_Request r, s[2];
  MUST(MPI_Psend_init(x, 4, 1, MPI_INT, MPI_PROC_NULL, 1, comm, MPI_INFO_NULL, &r));
  MUST(MPI_Start(&r));
  for (int i = 0; i < 4; i++) MUST(MPI_Pready(i, r));
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  MUST(MPI_Request_free(&r));
  MUST(MPI_Precv_init(x, 4, 1, MPI_INT, MPI_PROC_NULL, 1, comm, MPI_INFO_NULL, &r));
  MUST(MPI_Start(&r));
  MUST(MPI_Parrived(r, 3, &flag));
  CHECK(flag);
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  MUST(MPI_Request_free(&r));
  MUST(MPI_Parrived(MPI_REQUEST_NULL, 0, &flag));
  CHECK(flag);

  CHECK_EQ(class_of(MPI_Precv_init(x, 4, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_INFO_NULL, &r)), MPI_ERR_RANK);
  CHECK_EQ(class_of(MPI_Precv_init(x, 4, 1, MPI_INT, 0, MPI_ANY_TAG, comm, MPI_INFO_NULL, &r)), MPI_ERR_TAG);
  CHECK_EQ(class_of(MPI_Psend_init(x, -4, 1, MPI_INT, 0, 1, comm, MPI_INFO_NULL, &r)), MPI_ERR_ARG);
  CHECK_EQ(class_of(MPI_Psend_init(x, 4, -1, MPI_INT, 0, 1, comm, MPI_INFO_NULL, &r)), MPI_ERR_COUNT);
  CHECK_EQ(class_of(MPI_Pready(0, MPI_REQUEST_NULL)), MPI_ERR_REQUEST);
  MUST(MPI_Recv_init(x, 1, MPI_INT, left, 1, comm, &r));
  CHECK_EQ(class_of(MPI_Pready(0, r)), MPI_ERR_REQUEST);
  CHECK_EQ(class_of(MPI_Parrived(r, 0, &flag)), MPI_ERR_REQUEST);
  MUST(MPI_Request_free(&r));

  /* Sent 4, room for 2: an error at the receiver, the beginning is there. */
  MUST(MPI_Psend_init(x, 4, 1, MPI_INT, right, 1, comm, MPI_INFO_NULL, &s[0]));
  MUST(MPI_Precv_init(y, 2, 1, MPI_INT, left, 1, comm, MPI_INFO_NULL, &s[1]));
  CHECK_EQ(class_of(MPI_Pready(0, s[0])), MPI_ERR_REQUEST); /* not started */
  MUST(MPI_Startall(2, s));
  CHECK_EQ(class_of(MPI_Start(&s[0])), MPI_ERR_REQUEST);
  CHECK_EQ(class_of(MPI_Pready(4, s[0])), MPI_ERR_ARG);
  CHECK_EQ(class_of(MPI_Pready(-1, s[0])), MPI_ERR_ARG);
  CHECK_EQ(class_of(MPI_Pready_range(2, 1, s[0])), MPI_ERR_ARG);
  CHECK_EQ(class_of(MPI_Parrived(s[1], 2, &flag)), MPI_ERR_ARG);
  MUST(MPI_Pready(1, s[0]));
  CHECK_EQ(class_of(MPI_Pready(1, s[0])), MPI_ERR_ARG); /* twice */
  CHECK_EQ(class_of(MPI_Pready_range(0, 2, s[0])), MPI_ERR_ARG);
  MUST(MPI_Pready(0, s[0]));
  MUST(MPI_Pready_range(2, 3, s[0]));
  MUST(MPI_Wait(&s[0], MPI_STATUS_IGNORE));
  CHECK_EQ(class_of(MPI_Wait(&s[1], MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
  CHECK(y[0] == 1 && y[1] == 2);
  MUST(MPI_Request_free(&s[0]));
  MUST(MPI_Request_free(&s[1]));
}

/* What cannot be undone: the partitions that are not marked would never come. Nothing hangs, and all goes on as before.
 */
static void neither_cancelled_nor_freed(MPI_Comm comm) {
  int x[2] = {5, 6}, y[2] = {0, 0};
  MPI_Request r[2];
  MUST(MPI_Psend_init(x, 2, 1, MPI_INT, right, 1, comm, MPI_INFO_NULL, &r[0]));
  MUST(MPI_Precv_init(y, 2, 1, MPI_INT, left, 1, comm, MPI_INFO_NULL, &r[1]));
  MUST(MPI_Startall(2, r));
  MUST(MPI_Pready(0, r[0]));
  for (int i = 0; i < 2; i++) {
    const MPI_Request before = r[i];
    CHECK_EQ(class_of(MPI_Cancel(&r[i])), MPI_ERR_REQUEST);
    CHECK_EQ(class_of(MPI_Request_free(&r[i])), MPI_ERR_REQUEST);
    CHECK(r[i] == before);
  }
  MUST(MPI_Barrier(comm)); /* until then no receive is complete */
  MUST(MPI_Pready(1, r[0]));
  MUST(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
  CHECK(y[0] == 5 && y[1] == 6, "%d %d", y[0], y[1]);
  for (int i = 0; i < 2; i++) MUST(MPI_Request_free(&r[i]));
  MUST(MPI_Ibarrier(comm, &r[0])); /* nor can a collective be cancelled */
  CHECK_EQ(class_of(MPI_Cancel(&r[0])), MPI_ERR_REQUEST);
  MUST(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
}

/* Partitions without bytes arrive when the sender has marked them ready, and not before. */
static void empty(int send_parts, int recv_parts) {
  MPI_Request r[2];
  int flag;
  MUST(MPI_Psend_init(NULL, send_parts, 0, MPI_INT, right, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
  MUST(MPI_Precv_init(NULL, recv_parts, 0, MPI_INT, left, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
  for (int round = 0; round < 3; round++) {
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_Start(&r[1]));
    for (int i = 0; i < recv_parts; i++) {
      MUST(MPI_Parrived(r[1], i, &flag));
      CHECK(!flag, "partition %d is there before it was sent", i);
    }
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_Start(&r[0]));
    for (int i = 0; i < send_parts; i++) MUST(MPI_Pready(i, r[0]));
    for (int i = 0; i < recv_parts; i++) {
      do {
        MUST(MPI_Parrived(r[1], i, &flag));
      } while (!flag);
    }
    MUST(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
  }
  MUST(MPI_Request_free(&r[0]));
  MUST(MPI_Request_free(&r[1]));
}

int main(int argc, char** argv) {
  static const int kCuts[][3] = {{1, 1, 64},      {8, 8, 8 * 500}, {1, 16, 160000},           {16, 1, 160000},
                                 {6, 10, 300000}, {7, 5, 35 * 11}, {32, 4, 2000000 / 32 * 32}};
  int provided;
  MUST(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MUST(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
  MUST(MPI_Comm_size(MPI_COMM_WORLD, &check_size));
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
  right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  for (int i = 0; i < 7; i++) cuts(kCuts[i][0], kCuts[i][1], kCuts[i][2], MPI_COMM_WORLD, 17 + (uint64_t)i);
  empty(1, 1);
  empty(3, 2);
  empty(0, 1);
  pipelined(MPI_COMM_WORLD);
  pairing(MPI_COMM_WORLD);
  with_gaps(MPI_COMM_WORLD);
  by_threads(MPI_COMM_WORLD);
  nobody_and_errors(MPI_COMM_WORLD);
  neither_cancelled_nor_freed(MPI_COMM_WORLD);
  return check_end();
}
