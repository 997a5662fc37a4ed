/* Of tools_live.c: p2p.*, and how far an accumulate keeps others out. */
#ifndef ASHLAR_TESTS_LIVE_MESSAGES_H
#define ASHLAR_TESTS_LIVE_MESSAGES_H
#include "live.h"

enum { kBytes = 100 * 1000, kPosted = 1 << 20 };

/* A message of kBytes from rank 0 to rank 1. */
static void send_one(void) {
  static char data[kBytes];
  if (check_rank == 0) MUST(MPI_Send(data, kBytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD));
  if (check_rank == 1) MUST(MPI_Recv(data, kBytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}
static void eager_limit(const char* name) {
  const Value old = put(name, 100);
  const Value handshakes = grows_by("p2p.handshakes", send_one);
  put(name, old);
  if (check_rank == 0) CHECK_EQ(handshakes, 1);
}
static void get_min(const char* name) {
  const Value old = put(name, 1ULL << 40);
  const Value fragmented = grows_by("p2p.fragmented", send_one), copies = grows_by("p2p.single_copies", send_one);
  put(name, old);
  CHECK_EQ(copies, 0);
  if (check_rank == 0) CHECK_EQ(fragmented, 1);
}

/* Messages of rank 1 that rank 0 has not asked for when they come. */
static void send_unexpected(void) {
  enum { kMany = 400, kEach = 1000 };
  static char data[kEach];
  static MPI_Request requests[kMany];
  if (check_rank == 1) {
    for (int i = 0; i < kMany; ++i) MUST(MPI_Isend(data, kEach, MPI_CHAR, 0, i, MPI_COMM_WORLD, &requests[i]));
    MUST(MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE));
  }
  if (check_rank == 0)
    for (int i = kMany; i-- > 0;) MUST(MPI_Recv(data, kEach, MPI_CHAR, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}
static void unexpected_limit(const char* name) {
  const Value before = grows_by("p2p.throttles", send_unexpected);
  const Value old = put(name, 64 << 10);
  const Value limited = grows_by("p2p.throttles", send_unexpected);
  put(name, old);
  const Value after = grows_by("p2p.throttles", send_unexpected);
  if (check_rank != 0) return;
  CHECK(before == 0 && after == 0, "%llu and %llu times", before, after);
  CHECK(limited > 0, "%s: the sender of unexpected messages was not throttled", name);
}

static int class_of_code(int code) {
  int class = MPI_SUCCESS;
  MUST(MPI_Error_class(code, &class));
  return class;
}

/* Receives are posted until there are no more requests. */
static void request_limit(const char* name) {
  enum { kLimit = 64 };
  static MPI_Request requests[2 * kLimit];
  static int data[2 * kLimit];
  int posted = 0, code = MPI_SUCCESS;
  const Value old = put(name, kLimit);
  for (; posted < 2 * kLimit && code == MPI_SUCCESS; posted += code == MPI_SUCCESS)
    code = MPI_Irecv(&data[posted], 1, MPI_INT, 0, posted, MPI_COMM_SELF, &requests[posted]);
  put(name, old);
  CHECK(posted > 0 && posted <= kLimit, "%d", posted);
  CHECK_EQ(class_of_code(code), MPI_ERR_NO_MEM);
  for (int i = 0; i < posted; ++i) {
    MUST(MPI_Cancel(&requests[i]));
    MUST(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
  }
}

/* Rank 1 computes while a large message comes for a receive that it has posted. Whether the message finds it at rest is
 * a matter of luck. */
static void send_to_busy_one(void) {
  static char data[kPosted];
  MPI_Request request = MPI_REQUEST_NULL;
  if (check_rank == 1) MUST(MPI_Irecv(data, kPosted, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank == 1) sleep_ms(50);
  if (check_rank == 0) MUST(MPI_Send(data, kPosted, MPI_CHAR, 1, 0, MPI_COMM_WORLD));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
}
static void shared_post_patience(const char* name) {
  enum { kTries = 50 };
  const Value old = put(name, 3600ULL * 1000000000);
  const Value none = grows_by("p2p.shared_writes", send_to_busy_one);
  CHECK(none == 0, "%s: an hour is not over", name);
  put(name, 1000);
  Value some = 0;
  /* Where the system does not let processes write each other's memory, nothing is posted. */
  Value posted = grows_by("p2p.shared_posts", send_to_busy_one);
  MUST(MPI_Bcast(&posted, 1, MPI_UNSIGNED_LONG_LONG, 1, MPI_COMM_WORLD));
  for (int i = 0; i < kTries && some == 0 && posted > 0; ++i) {
    some = grows_by("p2p.shared_writes", send_to_busy_one);
    MUST(MPI_Bcast(&some, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD));
  }
  put(name, old);
  CHECK(posted == 0 || some > 0, "%s: the sender did not look for the receive", name);
}

/* An accumulate of kElements to the memory of rank 1, in a window that is made now. */
static void accumulate(void) {
  enum { kElements = 64 };
  int data[kElements] = {0}, *memory = NULL;
  MPI_Win window;
  MUST(MPI_Win_allocate(sizeof data, sizeof *data, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
  if (check_rank == 0) {
    MUST(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window));
    MUST(MPI_Accumulate(data, kElements, MPI_INT, 1, 0, kElements, MPI_INT, MPI_SUM, window));
    MUST(MPI_Win_unlock(1, window));
  }
  MUST(MPI_Win_free(&window));
}
static void range_elements(const char* name) {
  const Value old = put(name, 16);
  const Value as_range = grows_by("rma.gates_closed", accumulate);
  put(name, 4294967295);
  const Value one_by_one = grows_by("rma.gates_closed", accumulate);
  put(name, old);
  CHECK_EQ(one_by_one, 0);
  if (check_rank == 0) CHECK_EQ(as_range, 1);
}

#endif
