/* Matching probe: the message belongs to the call that probed it, and no other can match it; the null process. */
#include "check.h"

static int right, left;

static int class_of(int code) {
  int class = 0;
  MPI_Error_class(code, &class);
  return class;
}

static void null_process(void) {
  MPI_Message m = MPI_MESSAGE_NULL;
  MPI_Status s;
  int flag = 0, x = 7, count = -1;
  MUST(MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &m, &s));
  CHECK(m == MPI_MESSAGE_NO_PROC);
  CHECK(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG);
  MUST(MPI_Mrecv(&x, 1, MPI_INT, &m, &s));
  CHECK(m == MPI_MESSAGE_NULL);
  CHECK(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG);
  MUST(MPI_Get_count(&s, MPI_INT, &count));
  CHECK_EQ(count, 0);
  MUST(MPI_Improbe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &m, &s));
  CHECK(flag && m == MPI_MESSAGE_NO_PROC);
  MPI_Request r;
  MUST(MPI_Imrecv(&x, 1, MPI_INT, &m, &r));
  CHECK(m == MPI_MESSAGE_NULL);
  MUST(MPI_Wait(&r, &s));
  CHECK(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG);
  CHECK_EQ(x, 7);
}

/* Sizes on both sides of the handshake; blocking, and not; messages probed first may be received last. */
static void sizes(MPI_Comm comm) {
  static const int kBytes[] = {0, 1, 40, 5000, 70000, 3000000};
  enum { kMessages = 6 };
  unsigned char* out[kMessages];
  MPI_Request r[kMessages];
  MPI_Message m[kMessages];
  for (int i = 0; i < kMessages; i++) {
    out[i] = check_alloc((size_t)kBytes[i]);
    pattern_fill(out[i], (size_t)kBytes[i], (unsigned)i);
    MUST(MPI_Isend(out[i], kBytes[i], MPI_BYTE, right, i, comm, &r[i]));
  }
  for (int i = 0; i < kMessages; i++) {
    MPI_Status s;
    int count, flag = 0;
    if (i % 2) {
      MUST(MPI_Mprobe(i == 3 ? MPI_ANY_SOURCE : left, i == 1 ? MPI_ANY_TAG : i, comm, &m[i], &s));
    } else {
      while (!flag) MUST(MPI_Improbe(left, i, comm, &flag, &m[i], &s));
    }
    CHECK_EQ(s.MPI_SOURCE, left);
    CHECK_EQ(s.MPI_TAG, i);
    MUST(MPI_Get_count(&s, MPI_BYTE, &count));
    CHECK_EQ(count, kBytes[i]);
    MUST(MPI_Iprobe(left, i, comm, &flag, MPI_STATUS_IGNORE)); /* gone for all other calls */
    CHECK(!flag);
  }
  for (int i = kMessages - 1; i >= 0; i--) {
    unsigned char* in = check_alloc((size_t)kBytes[i]);
    MPI_Status s;
    int count;
    if (i % 2) {
      MUST(MPI_Mrecv(in, kBytes[i], MPI_BYTE, &m[i], &s));
    } else {
      MPI_Request receive;
      MUST(MPI_Imrecv(in, kBytes[i], MPI_BYTE, &m[i], &receive));
      MUST(MPI_Wait(&receive, &s));
    }
    CHECK(m[i] == MPI_MESSAGE_NULL);
    CHECK_EQ(s.MPI_SOURCE, left);
    CHECK_EQ(s.MPI_TAG, i);
    MUST(MPI_Get_count(&s, MPI_BYTE, &count));
    CHECK_EQ(count, kBytes[i]);
    CHECK_PATTERN(in, (size_t)kBytes[i], (unsigned)i);
    free(in);
  }
  MUST(MPI_Waitall(kMessages, r, MPI_STATUSES_IGNORE));
  for (int i = 0; i < kMessages; i++) free(out[i]);
}

/* A synchronous send is not over when its message is probed, only when it is received. */
static void synchronous(MPI_Comm comm) {
  int out = 5, in = 0, flag = 0;
  MPI_Request r;
  MPI_Message m;
  MUST(MPI_Issend(&out, 1, MPI_INT, right, 2, comm, &r));
  MUST(MPI_Mprobe(left, 2, comm, &m, MPI_STATUS_IGNORE));
  MUST(MPI_Barrier(comm));
  for (int i = 0; i < 20; i++) {
    MUST(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag, "nobody has received it");
  }
  MUST(MPI_Barrier(comm));
  MUST(MPI_Mrecv(&in, 1, MPI_INT, &m, MPI_STATUS_IGNORE));
  CHECK_EQ(in, 5);
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

/* The communicator may be freed between the probe and the receive. */
static void freed_communicator(void) {
  int out = 6, in = 0;
  MPI_Comm comm;
  MPI_Request r;
  MPI_Message m;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Isend(&out, 1, MPI_INT, right, 2, comm, &r));
  MUST(MPI_Mprobe(left, 2, comm, &m, MPI_STATUS_IGNORE));
  MUST(MPI_Comm_free(&comm));
  MUST(MPI_Mrecv(&in, 1, MPI_INT, &m, MPI_STATUS_IGNORE));
  CHECK_EQ(in, 6);
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

static void errors(MPI_Comm comm) {
  int out[4] = {1, 2, 3, 4}, in[2] = {0, 0};
  MPI_Message m = MPI_MESSAGE_NULL;
  MPI_Request r, receive;
  CHECK_EQ(class_of(MPI_Mrecv(in, 1, MPI_INT, &m, MPI_STATUS_IGNORE)), MPI_ERR_REQUEST);
  CHECK_EQ(class_of(MPI_Imrecv(in, 1, MPI_INT, &m, &receive)), MPI_ERR_REQUEST);
  CHECK_EQ(class_of(MPI_Mprobe(check_size, 0, comm, &m, MPI_STATUS_IGNORE)), MPI_ERR_RANK);
  CHECK_EQ(class_of(MPI_Mprobe(0, -7, comm, &m, MPI_STATUS_IGNORE)), MPI_ERR_TAG);
  MUST(MPI_Isend(out, 4, MPI_INT, right, 1, comm, &r));
  MUST(MPI_Mprobe(left, 1, comm, &m, MPI_STATUS_IGNORE));
  CHECK_EQ(class_of(MPI_Mrecv(in, 2, MPI_INT, &m, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
  CHECK(m == MPI_MESSAGE_NULL);
  CHECK(in[0] == 1 && in[1] == 2);
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  null_process();
  sizes(MPI_COMM_WORLD);
  synchronous(MPI_COMM_WORLD);
  freed_communicator();
  errors(MPI_COMM_WORLD);
  return check_end();
}
