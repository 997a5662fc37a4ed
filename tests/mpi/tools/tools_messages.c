/* What point-to-point tells tools: messages and bytes by rank of a communicator, counted from the first handle on, and
 * the events of matching and of rendezvous. */
#include "hear.h"

enum { kSmall = 48, kLarge = 8 << 20, kTimes = 5 };
static char* large;

static int next(void) { return (check_rank + 1) % check_size; }
static int before(void) { return (check_rank + check_size - 1) % check_size; }

static void ring(MPI_Comm comm, int bytes, int tag, int nonblocking) {
  char* const in = large + kLarge;
  MPI_Request requests[2];
  if (nonblocking) {
    MUST(MPI_Irecv(in, bytes, MPI_CHAR, before(), tag, comm, &requests[0]));
    MUST(MPI_Isend(large, bytes, MPI_CHAR, next(), tag, comm, &requests[1]));
    MUST(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  } else {
    MUST(
        MPI_Sendrecv(large, bytes, MPI_CHAR, next(), tag, in, bytes, MPI_CHAR, before(), tag, comm, MPI_STATUS_IGNORE));
  }
}

/* Every way to send counts once, on the right communicator, for the right rank. */
static void by_rank(void) {
  MPI_Comm comm = MPI_COMM_NULL, other = MPI_COMM_NULL;
  MPI_Request send, receive;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &other));
  ring(comm, kSmall, 1, 0); /* before the handles: theirs not */
  Pvar sent = pvar_begin("comm.sent", MPI_T_PVAR_CLASS_COUNTER, &comm);
  Pvar sent_bytes = pvar_begin("comm.sent_bytes", MPI_T_PVAR_CLASS_AGGREGATE, &comm);
  Pvar received = pvar_begin("comm.received", MPI_T_PVAR_CLASS_COUNTER, &comm);
  Pvar received_bytes = pvar_begin("comm.received_bytes", MPI_T_PVAR_CLASS_AGGREGATE, &comm);
  Pvar elsewhere = pvar_begin("comm.sent", MPI_T_PVAR_CLASS_COUNTER, &other);
  CHECK_EQ(sent.count, check_size);
  CHECK_EQ(received_bytes.count, check_size);
  Value bytes = 0, messages = 0;
  for (int i = 0; i < kTimes; ++i) {
    ring(comm, kSmall, i, 0);
    ring(comm, kSmall, i, 1);
    ring(comm, kLarge, i, 1);
  }
  messages += 3 * kTimes;
  bytes += kTimes * (2 * kSmall + (Value)kLarge);
  MUST(MPI_Irecv(large + kLarge, kSmall, MPI_CHAR, before(), 7, comm, &receive));
  MUST(MPI_Send(large, kSmall, MPI_CHAR, next(), 7, comm));
  MUST(MPI_Wait(&receive, MPI_STATUS_IGNORE));
  MUST(MPI_Irecv(large + kLarge, kSmall, MPI_CHAR, before(), 8, comm, &receive));
  MUST(MPI_Ssend(large, kSmall, MPI_CHAR, next(), 8, comm));
  MUST(MPI_Wait(&receive, MPI_STATUS_IGNORE));
  MUST(MPI_Send_init(large, kSmall, MPI_CHAR, next(), 9, comm, &send));
  MUST(MPI_Recv_init(large + kLarge, kSmall, MPI_CHAR, before(), 9, comm, &receive));
  for (int i = 0; i < kTimes; ++i) {
    MUST(MPI_Start(&receive));
    MUST(MPI_Start(&send));
    MUST(MPI_Wait(&send, MPI_STATUS_IGNORE));
    MUST(MPI_Wait(&receive, MPI_STATUS_IGNORE));
  }
  MUST(MPI_Request_free(&send));
  MUST(MPI_Request_free(&receive));
  messages += 2 + kTimes;
  bytes += (2 + kTimes) * kSmall;
  MUST(MPI_Send(large, kSmall, MPI_CHAR, MPI_PROC_NULL, 0, comm));
  CHECK_EQ(pvar_value(&sent, next()), messages);
  CHECK_EQ(pvar_value(&sent_bytes, next()), bytes);
  CHECK_EQ(pvar_value(&received, before()), messages);
  CHECK_EQ(pvar_value(&received_bytes, before()), bytes);
  for (int r = 0; r < check_size; ++r) {
    if (r != next()) CHECK_EQ(pvar_value(&sent, r), 0);
    if (r != before()) CHECK_EQ(pvar_value(&received, r), 0);
    CHECK_EQ(pvar_value(&elsewhere, r), 0);
  }
  MUST(MPI_Comm_free(&comm));
  Value gone = 0;
  CHECK_EQ(MPI_T_pvar_read(sent.session, sent.handle, &gone), MPI_T_ERR_INVALID_HANDLE);
  MUST(MPI_Comm_free(&other));
  pvar_end(&sent), pvar_end(&sent_bytes), pvar_end(&received), pvar_end(&received_bytes), pvar_end(&elsewhere);
}

/* A message that waits for its receive, and one that is expected. */
static void matched(void) {
  Hear hear;
  char data[kSmall];
  MPI_Request request;
  hear_begin(&hear, "p2p.message_matched");
  MUST(MPI_Isend(data, kSmall, MPI_CHAR, next(), 77, MPI_COMM_WORLD, &request));
  MUST(MPI_Probe(before(), 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); /* it is here: unexpected */
  MUST(MPI_Recv(large, kSmall, MPI_CHAR, before(), 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MUST(MPI_Irecv(large, kSmall, MPI_CHAR, before(), 78, MPI_COMM_WORLD, &request));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_Send(data, kSmall, MPI_CHAR, next(), 78, MPI_COMM_WORLD));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  const int first = hear_find(&hear, 0, 2, 77), second = hear_find(&hear, 0, 2, 78);
  CHECK(first >= 0 && second > first, "%d %d of %d", first, second, hear.count);
  for (int at = first; at <= second; at += second - first) {
    CHECK_EQ(hear.of[at][1], before());
    CHECK_EQ(hear.of[at][3], kSmall);
    CHECK_EQ(hear.of[at][4], at == first);
    CHECK_EQ(hear.of[at][5], 0);
  }
  hear_end(&hear);
}

static void rendezvous(void) {
  Hear begin, end, match;
  hear_begin(&begin, "p2p.rendezvous_begin");
  hear_begin(&end, "p2p.rendezvous_end");
  hear_begin(&match, "p2p.message_matched");
  Pvar asked = pvar_begin("p2p.handshakes", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar bytes = pvar_begin("p2p.handshake_bytes", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
  ring(MPI_COMM_WORLD, kLarge, 99, 0);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_EQ(pvar_value(&asked, 0), 1);
  CHECK_EQ(pvar_value(&bytes, 0), kLarge);
  int sides = 0;
  for (int i = 0; i < 2; ++i) { /* this process's send, and its receive */
    CHECK_EQ(begin.count, 2);
    CHECK_EQ(end.count, 2);
    const long long* const b = begin.of[i];
    const int receives = b[0] == 1;
    sides |= 1 << receives;
    CHECK_EQ(b[2], receives ? before() : next());
    CHECK_EQ(b[3], 99);
    CHECK_EQ(b[4], kLarge);
    const int at = hear_find(&end, 0, 5, b[5]);
    CHECK(at >= 0, "request %lld", b[5]);
    if (at < 0) continue;
    const long long* const e = end.of[at];
    CHECK(strncmp(hear_word(&end, e[0]), receives ? "received" : "sent", receives ? 8 : 4) == 0, "%s",
          hear_word(&end, e[0]));
    for (int f = 1; f <= 4; ++f) CHECK_EQ(e[f], b[f]);
    CHECK_EQ(e[6], MPI_SUCCESS);
  }
  CHECK_EQ(sides, 3);
  CHECK(strcmp(hear_word(&begin, 1), "receive") == 0, "%s", hear_word(&begin, 1));
  const int at = hear_find(&match, 0, 2, 99);
  CHECK(at >= 0 && match.of[at][5] == 1 && match.of[at][3] == kLarge, "by rendezvous");
  pvar_end(&asked), pvar_end(&bytes);
  hear_end(&begin), hear_end(&end), hear_end(&match);
}

/* More unexpected messages than p2p.unexpected_limit of this run: their sender is throttled. It sends the second half
 * when the receiver has the first. */
static void throttled(void) {
  Hear hear;
  enum { kMany = 400, kHalf = kMany / 2, kBytes = 1000 };
  static char data[kBytes];
  hear_begin(&hear, "p2p.link_throttled");
  Pvar throttled_here = pvar_begin("p2p.throttled", MPI_T_PVAR_CLASS_COUNTER, NULL);
  static MPI_Request requests[kMany];
  if (check_rank == 1)
    for (int i = 0; i < kMany; ++i) {
      if (i == kHalf) MUST(MPI_Recv(NULL, 0, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      MUST(MPI_Isend(data, kBytes, MPI_CHAR, 0, i, MPI_COMM_WORLD, &requests[i]));
    }
  if (check_rank == 0) {
    MUST(MPI_Recv(data, kBytes, MPI_CHAR, 1, kHalf - 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MUST(MPI_Send(NULL, 0, MPI_CHAR, 1, 0, MPI_COMM_WORLD));
    for (int i = kMany; i-- > 0;)
      if (i != kHalf - 1) MUST(MPI_Recv(data, kBytes, MPI_CHAR, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(hear.count > 0, "%d", hear.count);
    CHECK_EQ(hear.of[0][0], 1);
    CHECK_EQ(hear.of[0][2], 64 << 10);
    CHECK(hear.of[0][1] > hear.of[0][2], "%lld kept", hear.of[0][1]);
    CHECK_EQ(hear.of[0][3], 0);
  } else if (check_rank == 1) {
    MUST(MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE));
    CHECK(pvar_value(&throttled_here, 0) > 0, "%llu", pvar_value(&throttled_here, 0));
  }
  pvar_end(&throttled_here);
  hear_end(&hear);
}

int main(int argc, char** argv) {
  const int threads = argc > 1 && strcmp(argv[1], "threads") == 0;
  const int limited = argc > 1 && strcmp(argv[1], "throttled") == 0;
  int provided = 0;
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  if (threads) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
  } else {
    check_start(&argc, &argv);
  }
  large = check_alloc(2 * (size_t)kLarge);
  memset(large, 1, 2 * (size_t)kLarge);
  if (limited) {
    throttled();
  } else {
    matched();
    rendezvous();
    by_rank();
  }
  free(large);
  const int failed = check_end();
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return failed || check_failures;
}
