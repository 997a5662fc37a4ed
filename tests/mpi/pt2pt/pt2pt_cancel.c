/* Cancelling: an operation is either cancelled or takes place, never both; Wait returns whatever the others do. */
#include "check.h"

static int right, left;

static int was_cancelled(MPI_Request* r) {
  MPI_Status s;
  int flag = -1;
  MUST(MPI_Wait(r, &s));
  MUST(MPI_Test_cancelled(&s, &flag));
  return flag;
}

static void receives(MPI_Comm comm) {
  int in = -1, out = 8, flag;
  MPI_Request r;
  MPI_Status s;
  MUST(MPI_Irecv(&in, 1, MPI_INT, left, 1, comm, &r));
  MUST(MPI_Cancel(&r));
  CHECK(was_cancelled(&r));
  MUST(MPI_Barrier(comm));
  /* The message goes to the next receive; the cancelled one's buffer stays as it was. */
  MUST(MPI_Send(&out, 1, MPI_INT, right, 1, comm));
  int second = 0;
  MUST(MPI_Recv(&second, 1, MPI_INT, left, 1, comm, MPI_STATUS_IGNORE));
  CHECK(in == -1 && second == 8, "%d, %d", in, second);
  /* One that has its message cannot be cancelled. */
  MUST(MPI_Irecv(&in, 1, MPI_INT, left, 2, comm, &r));
  MUST(MPI_Sendrecv(&out, 1, MPI_INT, right, 2, NULL, 0, MPI_INT, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE));
  MUST(MPI_Barrier(comm));
  do {
    MUST(MPI_Request_get_status(r, &flag, &s));
  } while (!flag);
  MUST(MPI_Cancel(&r));
  CHECK(!was_cancelled(&r));
  CHECK_EQ(in, 8);
  /* A persistent one can be started again, a freed one is just gone. */
  MUST(MPI_Recv_init(&in, 1, MPI_INT, left, 3, comm, &r));
  for (int i = 0; i < 3; i++) {
    MUST(MPI_Start(&r));
    MUST(MPI_Cancel(&r));
    CHECK(was_cancelled(&r));
  }
  MUST(MPI_Barrier(comm));
  MUST(MPI_Start(&r));
  MUST(MPI_Send(&out, 1, MPI_INT, right, 3, comm));
  CHECK(!was_cancelled(&r));
  MUST(MPI_Request_free(&r));
  MUST(MPI_Irecv(&in, 1, MPI_INT, left, 4, comm, &r));
  MUST(MPI_Cancel(&r));
  MUST(MPI_Request_free(&r));
}

/* Sends that no call receives: eager and by rendezvous, small and large. */
static void sends(MPI_Comm comm) {
  static const int kBytes[] = {0, 8, 3000, 300000};
  for (int k = 0; k < 4; k++) {
    unsigned char *out = check_alloc((size_t)kBytes[k]), *in = check_alloc((size_t)kBytes[k]);
    MPI_Request r;
    int flag;
    pattern_fill(out, (size_t)kBytes[k], 1);
    MUST(MPI_Issend(out, kBytes[k], MPI_BYTE, right, 10 + k, comm, &r));
    MUST(MPI_Cancel(&r));
    MUST(MPI_Cancel(&r)); /* twice is as good as once */
    CHECK(was_cancelled(&r), "%d bytes", kBytes[k]);
    MUST(MPI_Barrier(comm));
    MUST(MPI_Iprobe(left, 10 + k, comm, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag, "no part of a cancelled message is there");
    MUST(MPI_Barrier(comm));
    /* The next message of the same kind is received whole. */
    pattern_fill(out, (size_t)kBytes[k], 2);
    MUST(MPI_Issend(out, kBytes[k], MPI_BYTE, right, 10 + k, comm, &r));
    MUST(MPI_Recv(in, kBytes[k], MPI_BYTE, left, 10 + k, comm, MPI_STATUS_IGNORE));
    CHECK_PATTERN(in, (size_t)kBytes[k], 2);
    MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
    free(out);
    free(in);
  }
}

/* Standard sends that have left at once and lie unreceived at the other side: they are called back. */
static void sends_that_left(MPI_Comm comm) {
  static const int kBytes[] = {0, 8, 700, 3000};
  for (int k = 0; k < 4; k++) {
    const int n = kBytes[k], tag = 30 + k;
    unsigned char *a = check_alloc((size_t)n), *b = check_alloc((size_t)n), *in = check_alloc((size_t)n);
    MPI_Request r[2];
    MPI_Status s;
    int flag, first, second;
    pattern_fill(a, (size_t)n, 1), pattern_fill(b, (size_t)n, 2);
    MUST(MPI_Isend(a, n, MPI_BYTE, right, tag, comm, &r[0]));
    MUST(MPI_Barrier(comm));
    MUST(MPI_Cancel(&r[0]));
    CHECK(was_cancelled(&r[0]), "%d bytes", n);
    MUST(MPI_Barrier(comm));
    MUST(MPI_Iprobe(left, tag, comm, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag, "no part of a cancelled message is there");
    MUST(MPI_Barrier(comm));
    /* Of two that look the same the one that is meant is called back: the second, with and without the first one's
     * request being over, and then the first. */
    for (int way = 0; way < 3; way++) {
      flag = 1;
      MUST(MPI_Isend(a, n, MPI_BYTE, right, tag, comm, &r[0]));
      if (way == 0) MUST(MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE)); /* with a handshake it is not over */
      MUST(MPI_Isend(b, n, MPI_BYTE, right, tag, comm, &r[1]));
      MUST(MPI_Barrier(comm));
      MUST(MPI_Cancel(&r[way < 2]));
      second = way < 2 ? was_cancelled(&r[1]) : 0;
      first = way == 2 ? was_cancelled(&r[0]) : 0;
      CHECK(first == (way == 2) && second == (way < 2), "way %d: %d %d", way, first, second);
      MUST(MPI_Barrier(comm)); /* all that is to be called back has been */
      MUST(MPI_Recv(in, n, MPI_BYTE, left, tag, comm, &s));
      CHECK_PATTERN(in, (size_t)n, way < 2 ? 1u : 2u);
      CHECK(!was_cancelled(&r[way == 2]));
      MUST(MPI_Iprobe(left, tag, comm, &flag, MPI_STATUS_IGNORE));
      CHECK(!flag);
      MUST(MPI_Barrier(comm));
    }
    /* One that was received, or taken by a matching probe, is delivered. */
    MUST(MPI_Isend(a, n, MPI_BYTE, right, tag, comm, &r[0]));
    MUST(MPI_Isend(b, n, MPI_BYTE, right, tag, comm, &r[1]));
    MUST(MPI_Recv(in, n, MPI_BYTE, left, tag, comm, MPI_STATUS_IGNORE));
    MPI_Message m;
    MUST(MPI_Mprobe(left, tag, comm, &m, MPI_STATUS_IGNORE));
    MUST(MPI_Barrier(comm));
    MUST(MPI_Cancel(&r[0]));
    MUST(MPI_Cancel(&r[1]));
    MUST(MPI_Cancel(&r[1]));
    CHECK(!was_cancelled(&r[0]));
    MUST(MPI_Mrecv(in, n, MPI_BYTE, &m, MPI_STATUS_IGNORE));
    CHECK_PATTERN(in, (size_t)n, 2);
    CHECK(!was_cancelled(&r[1]));
    /* A persistent one, started again afterwards; and one that no call waits for any more. */
    MUST(MPI_Send_init(a, n, MPI_BYTE, right, tag, comm, &r[0]));
    for (int i = 0; i < 2; i++) {
      MUST(MPI_Start(&r[0]));
      MUST(MPI_Barrier(comm));
      MUST(MPI_Cancel(&r[0]));
      CHECK(was_cancelled(&r[0]));
    }
    MUST(MPI_Barrier(comm)); /* no rank receives before all is cancelled */
    MUST(MPI_Start(&r[0]));
    MUST(MPI_Recv(in, n, MPI_BYTE, left, tag, comm, MPI_STATUS_IGNORE));
    MUST(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    MUST(MPI_Request_free(&r[0]));
    MUST(MPI_Isend(b, n, MPI_BYTE, right, tag, comm, &r[0]));
    MUST(MPI_Cancel(&r[0]));
    MUST(MPI_Request_free(&r[0]));
    MUST(MPI_Barrier(comm));
    MUST(MPI_Isend(a, n, MPI_BYTE, right, tag, comm, &r[0]));
    MUST(MPI_Recv(in, n, MPI_BYTE, left, tag, comm, MPI_STATUS_IGNORE));
    if (n > 0 && in[0] == b[0])
      MUST(MPI_Recv(in, n, MPI_BYTE, left, tag, comm, MPI_STATUS_IGNORE)); /* it came through */
    if (n > 0) CHECK_PATTERN(in, (size_t)n, 1);
    CHECK(!was_cancelled(&r[0]));
    MUST(MPI_Barrier(comm));
    free(a), free(b), free(in);
  }
}

/* More of them than a process keeps requests for: each is either cancelled or received, and the rest in order. */
static void many_that_left(MPI_Comm comm) {
  enum { kMany = 200 };
  int out[kMany], in, cancelled[kMany], theirs[kMany];
  MPI_Request r[kMany];
  for (int i = 0; i < kMany; i++) {
    out[i] = i;
    MUST(MPI_Isend(&out[i], 1, MPI_INT, right, 40, comm, &r[i]));
  }
  MUST(MPI_Barrier(comm));
  for (int i = 0; i < kMany; i += 3) MUST(MPI_Cancel(&r[i]));
  int count = 0;
  for (int i = 0; i < kMany; i++) {
    cancelled[i] = was_cancelled(&r[i]);
    CHECK(!cancelled[i] || i % 3 == 0);
    count += cancelled[i];
  }
  CHECK(count > 0);
  MUST(MPI_Sendrecv(cancelled, kMany, MPI_INT, right, 41, theirs, kMany, MPI_INT, left, 41, comm, MPI_STATUS_IGNORE));
  for (int i = 0; i < kMany; i++) {
    if (theirs[i]) continue;
    MUST(MPI_Recv(&in, 1, MPI_INT, left, 40, comm, MPI_STATUS_IGNORE));
    CHECK_EQ(in, i);
  }
}

/* A race between the cancel and the receive: the sender's word and what arrives agree. */
static void race(MPI_Comm comm, int synchronous) {
  if (check_size < 2 || check_rank > 1) return;
  enum { kRounds = 300 };
  Random random = {41};
  int cancelled[kRounds], received[kRounds];
  for (int i = 0; i < kRounds; i++) {
    const int bytes = random_below(&random, 2) ? 16 : 100000, delay = random_below(&random, 400);
    unsigned char* buffer = check_alloc((size_t)bytes);
    MPI_Request r;
    if (check_rank == 0) {
      pattern_fill(buffer, (size_t)bytes, (unsigned)i);
      if (synchronous)
        MUST(MPI_Issend(buffer, bytes, MPI_BYTE, 1, 5, comm, &r));
      else
        MUST(MPI_Isend(buffer, bytes, MPI_BYTE, 1, 5, comm, &r));
      for (volatile int spin = 0; spin < delay * 20; spin++) continue;
      MUST(MPI_Cancel(&r));
      cancelled[i] = was_cancelled(&r);
      MUST(MPI_Send(NULL, 0, MPI_BYTE, 1, 6, comm)); /* after whatever became of the other one */
      MUST(MPI_Recv(NULL, 0, MPI_BYTE, 1, 8, comm, MPI_STATUS_IGNORE));
    } else {
      int flag = 0;
      received[i] = 0;
      for (int done = 0; !done;) {
        MPI_Status s;
        MUST(MPI_Iprobe(0, MPI_ANY_TAG, comm, &flag, &s));
        if (!flag) continue;
        if (s.MPI_TAG == 6) {
          MUST(MPI_Recv(NULL, 0, MPI_BYTE, 0, 6, comm, MPI_STATUS_IGNORE));
          done = 1;
        } else if (random_next(&random) % 2) {
          /* It may be cancelled between the probe and the receive: then the receive is too, after the end mark. */
          MUST(MPI_Irecv(buffer, bytes, MPI_BYTE, 0, 5, comm, &r));
          MUST(MPI_Recv(NULL, 0, MPI_BYTE, 0, 6, comm, MPI_STATUS_IGNORE));
          MUST(MPI_Cancel(&r));
          received[i] = !was_cancelled(&r);
          if (received[i]) CHECK_PATTERN(buffer, (size_t)bytes, (unsigned)i);
          done = 1;
        }
      }
      random.state = 41 + (uint64_t)i;
      MUST(MPI_Send(NULL, 0, MPI_BYTE, 0, 8, comm)); /* no receive of this round is left for the next one's message */
    }
    free(buffer);
    random.state = 1000 + (uint64_t)i * 7;
  }
  if (check_rank == 0) {
    MUST(MPI_Send(cancelled, kRounds, MPI_INT, 1, 7, comm));
  } else {
    MUST(MPI_Recv(cancelled, kRounds, MPI_INT, 0, 7, comm, MPI_STATUS_IGNORE));
    for (int i = 0; i < kRounds; i++) CHECK_EQ(received[i], !cancelled[i]);
  }
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  receives(MPI_COMM_WORLD);
  sends(MPI_COMM_WORLD);
  sends_that_left(MPI_COMM_WORLD);
  many_that_left(MPI_COMM_WORLD);
  race(MPI_COMM_WORLD, 1);
  race(MPI_COMM_WORLD, 0);
  /* To oneself: what became of it is known at once, as programs expect that ask only once. */
  for (int sync = 0; sync < 2; sync++) {
    MPI_Request self;
    MPI_Status status;
    int flag, cancelled = 0, y = 3;
    MUST((sync ? MPI_Issend : MPI_Isend)(&y, 1, MPI_INT, 0, 24, MPI_COMM_SELF, &self));
    MUST(MPI_Cancel(&self));
    MUST(MPI_Request_get_status(self, &flag, &status));
    CHECK_EQ(flag, 1);
    MUST(MPI_Test_cancelled(&status, &cancelled));
    CHECK(cancelled, "sync %d", sync);
    MUST(MPI_Wait(&self, MPI_STATUS_IGNORE));
  }
  /* 11.6: the receiver is in finalisation already when the send is cancelled. */
  if (check_size > 1 && check_rank < 2) {
    int x = 1;
    MPI_Request r[2];
    if (check_rank == 0) {
      MUST(MPI_Issend(&x, 1, MPI_INT, 1, 21, MPI_COMM_WORLD, &r[0]));
      MUST(MPI_Isend(&x, 1, MPI_INT, 1, 21, MPI_COMM_WORLD, &r[1]));
      MUST(MPI_Recv(&x, 1, MPI_INT, 1, 22, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      for (int i = 0; i < 2; i++) {
        MUST(MPI_Cancel(&r[i]));
        CHECK(was_cancelled(&r[i]), "request %d", i);
      }
    } else {
      int flag = 1;
      MUST(MPI_Iprobe(0, 23, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
      CHECK(!flag);
      MUST(MPI_Send(&x, 1, MPI_INT, 0, 22, MPI_COMM_WORLD));
    }
  }
  return check_end();
}
