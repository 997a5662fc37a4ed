/* Large receives whose receiver computes: the message arrives without a call of MPI there, and whatever else happens to
 * such a receive happens as to any other. Rank 0 sends to rank 1; a rank alone has no partner.
 *
 * What arrives is seen by looking at the buffer, and that a send has returned by a word that the sender writes into the
 * receiver's memory. Where the system permits no such writing the data need not come early, and only the rest is
 * checked; so too with the argument "late", for settings that switch the early way off. "few": with rings that take few
 * announcements. "threads": several threads. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* process_vm_writev */
#endif
#include <pthread.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { kTag = 7, kMiB = 1 << 20, kWindow = 64 };
static const double kLimit = 30; /* seconds until something that has to come counts as lost */

static int partner;  /* or -1 */
static int expected; /* whether data comes while the receiver computes */

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compute(double how_long) {
  const double until = seconds() + how_long;
  while (seconds() < until) continue;
}

/* Whether the limit has passed. Time in which this process was stopped does not count. */
typedef struct {
  double last, used;
} Limit;

static int over(Limit* limit) {
  const double now = seconds(), step = now - limit->last;
  if (limit->last > 0) limit->used += step < 0.1 ? step : 0.1;
  limit->last = now;
  return limit->used > kLimit;
}

/* Without MPI: whether the byte gets this value in time. */
static int comes(const volatile unsigned char* at, unsigned char value) {
  Limit limit = {0, 0};
  while (*at != value)
    if (over(&limit)) return 0;
  return 1;
}

/* ---- a word in the partner's memory ------------------------------------------------------------------------------ */

typedef struct {
  long pid;
  void* at;
} Place;

static volatile int flag; /* written by the partner */
static Place theirs;

static int tell(int value) {
  struct iovec mine = {&value, sizeof value}, other = {theirs.at, sizeof value};
  return process_vm_writev((pid_t)theirs.pid, &mine, 1, &other, 1, 0) == (ssize_t)sizeof value;
}

static int told(int value) {
  Limit limit = {0, 0};
  while (flag != value)
    if (over(&limit)) return 0;
  return 1;
}

static void find_partner(int early) {
  Place own = {(long)getpid(), (void*)&flag};
  partner = check_rank < 2 && check_size > 1 ? 1 - check_rank : -1;
  if (partner < 0) return;
  MUST(MPI_Sendrecv(&own, sizeof own, MPI_BYTE, partner, 1, &theirs, sizeof theirs, MPI_BYTE, partner, 1,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  int can = tell(1), both = 0;
  int other = 0;
  MUST(MPI_Sendrecv(&can, 1, MPI_INT, partner, 2, &other, 1, MPI_INT, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  both = can && other;
  expected = early && both;
  if (check_rank == 0 && early && !both) printf("this system permits no writing into other processes\n");
}

static void meet(void) {
  MUST(MPI_Sendrecv(NULL, 0, MPI_BYTE, partner, 3, NULL, 0, MPI_BYTE, partner, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Both are here, and no error is reported. */
static void begin(void) {
  meet();
  flag = 0;
  meet();
}

/* The sender waits until the receiver has posted: what is announced while that is still inside MPI is found by
 * MPI_Irecv, which only begins to read it. */
enum { kPosted = 2, kSent = 3, kReceived = 4, kAnnouncing = 5 };

static void wait_for_posts(void) { CHECK(!expected || told(kPosted), "the receiver does not come"); }

/* ---- the data comes early ---------------------------------------------------------------------------------------- */

enum Mode { kSend, kSsend, kIsend, kIsendTest, kIssend, kPersistentSend, kModes };

static void send_in(enum Mode mode, const void* data, int bytes, int tag) {
  MPI_Request r = MPI_REQUEST_NULL;
  int done = 0;
  switch (mode) {
    case kSend:
      MUST(MPI_Send(data, bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD));
      return;
    case kSsend:
      MUST(MPI_Ssend(data, bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD));
      return;
    case kIsendTest:
      MUST(MPI_Isend(data, bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &r));
      while (!done) MUST(MPI_Test(&r, &done, MPI_STATUS_IGNORE));
      return;
    case kIssend:
      MUST(MPI_Issend(data, bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &r));
      break;
    case kPersistentSend:
      MUST(MPI_Send_init(data, bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &r));
      MUST(MPI_Start(&r));
      MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
      MUST(MPI_Request_free(&r));
      return;
    default:
      MUST(MPI_Isend(data, bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &r));
  }
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

/* The receiver posts before the sender announces (`after` 0), or a while after it. */
static void arrives(enum Mode mode, int bytes, int after) {
  static unsigned seed = 100;
  unsigned char* const buffer = check_alloc((size_t)bytes);
  ++seed;
  begin();
  if (check_rank == 0) {
    pattern_fill(buffer, (size_t)bytes, seed);
    wait_for_posts();
    tell(kAnnouncing);
    send_in(mode, buffer, bytes, kTag);
    tell(kSent);
  } else {
    MPI_Request r;
    MPI_Status status;
    int count = 0;
    const unsigned char last = pattern_byte(seed, (size_t)bytes - 1);
    memset(buffer, last ^ 0xff, (size_t)bytes);
    if (after) {
      tell(kPosted);
      CHECK(!expected || told(kAnnouncing), "the sender does not come");
      compute(0.01 * after);
    }
    MUST(MPI_Irecv(buffer, bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &r));
    if (!after) tell(kPosted);
    if (expected) {
      CHECK(comes(buffer + bytes - 1, last), "mode %d, after %d: nothing came while the receiver computed", mode,
            after);
      CHECK(told(kSent), "mode %d, after %d: the send did not return while the receiver computed", mode, after);
      CHECK_PATTERN(buffer, bytes, seed);
    }
    MUST(MPI_Wait(&r, &status));
    MUST(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQ(count, bytes);
    CHECK_EQ(status.MPI_SOURCE, partner);
    CHECK_EQ(status.MPI_TAG, kTag);
    CHECK_PATTERN(buffer, bytes, seed);
  }
  free(buffer);
}

static void every_mode(void) {
  for (int mode = 0; mode < kModes; mode++) {
    arrives((enum Mode)mode, 4 * kMiB, 0);
    arrives((enum Mode)mode, 4 * kMiB, 1);
  }
  arrives(kSend, 256 << 10, 0);
  arrives(kSend, 256 << 10, 5);
  arrives(kSend, 300001, 0);
  arrives(kIsend, 33 * kMiB + 1, 0);
}

/* Many receives of one tag. Those beyond what is posted in shared memory at a time come later. */
static void window(int count, int bytes, int visible) {
  MPI_Request* const r = check_alloc((size_t)count * sizeof *r);
  unsigned char* const buffer = check_alloc((size_t)count * (size_t)bytes);
  begin();
  if (check_rank == 0) {
    wait_for_posts();
    for (int i = 0; i < count; i++) {
      pattern_fill(buffer + (size_t)i * (size_t)bytes, (size_t)bytes, 500u + (unsigned)i);
      MUST(MPI_Isend(buffer + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &r[i]));
    }
    MUST(MPI_Waitall(count, r, MPI_STATUSES_IGNORE));
  } else {
    memset(buffer, 0, (size_t)count * (size_t)bytes);
    for (int i = 0; i < count; i++) {
      unsigned char* const at = buffer + (size_t)i * (size_t)bytes;
      at[bytes - 1] = pattern_byte(500u + (unsigned)i, (size_t)bytes - 1) ^ 0xff;
      MUST(MPI_Irecv(at, bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &r[i]));
    }
    tell(kPosted);
    for (int i = 0; expected && i < visible; i++)
      CHECK(comes(buffer + (size_t)(i + 1) * (size_t)bytes - 1, pattern_byte(500u + (unsigned)i, (size_t)bytes - 1)),
            "receive %d of %d got nothing while the receiver computed", i, count);
    MUST(MPI_Waitall(count, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < count; i++) CHECK_PATTERN(buffer + (size_t)i * (size_t)bytes, bytes, 500u + (unsigned)i);
  }
  free(buffer);
  free(r);
}

/* Receives of one tag, of which some cannot be posted in shared memory: a small one, one with gaps, and one that gets a
 * small message.
 */
static void among_others(void) {
  enum { kReceives = 5, kBytes = 2 * kMiB };
  const int bytes[kReceives] = {8, kBytes, kBytes, 40, kBytes};
  unsigned char* buffer[kReceives];
  MPI_Request r[kReceives];
  MPI_Datatype gaps;
  MUST(MPI_Type_vector(kBytes / 4, 4, 8, MPI_BYTE, &gaps));
  MUST(MPI_Type_commit(&gaps));
  for (int i = 0; i < kReceives; i++) buffer[i] = check_alloc(2 * kBytes);
  begin();
  if (check_rank == 0) {
    wait_for_posts();
    for (int i = 0; i < kReceives; i++) {
      pattern_fill(buffer[i], (size_t)bytes[i], 700u + (unsigned)i);
      MUST(MPI_Isend(buffer[i], bytes[i], MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &r[i]));
    }
    MUST(MPI_Waitall(kReceives, r, MPI_STATUSES_IGNORE));
  } else {
    for (int i = 0; i < kReceives; i++) {
      memset(buffer[i], 0, 2 * kBytes);
      if (i == 1) {
        MUST(MPI_Irecv(buffer[i], 1, gaps, partner, kTag, MPI_COMM_WORLD, &r[i]));
      } else {
        const unsigned char last = pattern_byte(700u + (unsigned)i, (size_t)bytes[i] - 1);
        buffer[i][bytes[i] - 1] = last ^ 0xff;
        MUST(MPI_Irecv(buffer[i], i == 0 ? 8 : kBytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &r[i]));
      }
    }
    tell(kPosted);
    for (int i = 2; expected && i < kReceives; i += 2)
      CHECK(comes(buffer[i] + bytes[i] - 1, pattern_byte(700u + (unsigned)i, (size_t)bytes[i] - 1)),
            "receive %d got nothing while the receiver computed", i);
    MUST(MPI_Waitall(kReceives, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < kReceives; i++) {
      if (i == 1) {
        for (int b = 0; b < kBytes; b += 997) CHECK_EQ(buffer[1][b / 4 * 8 + b % 4], pattern_byte(701u, (size_t)b));
      } else {
        CHECK_PATTERN(buffer[i], bytes[i], 700u + (unsigned)i);
      }
    }
  }
  for (int i = 0; i < kReceives; i++) free(buffer[i]);
  MUST(MPI_Type_free(&gaps));
}

/* A wildcard before (position 0) or after (1) a receive: the first message is for the one that was posted first. */
static void with_wildcard(int position, int source, int tag) {
  enum { kBytes = kMiB };
  unsigned char* const buffer = check_alloc(2 * kBytes);
  MPI_Request r[2];
  meet();
  if (check_rank == 0) {
    for (int i = 0; i < 2; i++) {
      pattern_fill(buffer + i * kBytes, kBytes, 800u + (unsigned)i);
      MUST(MPI_Isend(buffer + i * kBytes, kBytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &r[i]));
    }
    MUST(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
  } else {
    memset(buffer, 0, 2 * kBytes);
    for (int i = 0; i < 2; i++)
      MUST(MPI_Irecv(buffer + i * kBytes, kBytes, MPI_BYTE, i == position ? source : partner,
                     i == position ? tag : kTag, MPI_COMM_WORLD, &r[i]));
    compute(0.005);
    MUST(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 2; i++) CHECK_PATTERN(buffer + i * kBytes, kBytes, 800u + (unsigned)i);
  }
  free(buffer);
}

/* Too long a message is cut, and nothing is written behind the receive. */
static void too_long(void) {
  enum { kRoom = kMiB, kBytes = kMiB + 70000 };
  unsigned char* const buffer = check_alloc(2 * kMiB);
  meet();
  if (check_rank == 0) {
    pattern_fill(buffer, kBytes, 900);
    MUST(MPI_Send(buffer, kBytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD));
  } else {
    MPI_Request r;
    int class = MPI_SUCCESS;
    memset(buffer, 0x5a, 2 * kMiB);
    MUST(MPI_Irecv(buffer, kRoom, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &r));
    compute(0.002);
    const int code = MPI_Wait(&r, MPI_STATUS_IGNORE);
    MUST(MPI_Error_class(code, &class));
    CHECK_EQ(class, MPI_ERR_TRUNCATE);
    CHECK_PATTERN(buffer, kRoom, 900);
    for (int i = kRoom; i < 2 * kMiB; i++)
      if (buffer[i] != 0x5a) {
        CHECK(0, "byte %d behind the receive was written", i - kRoom);
        break;
      }
  }
  free(buffer);
}

/* A probe does not see the message of a posted receive, and sees others. */
static void probed(void) {
  unsigned char* const buffer = check_alloc(kMiB);
  meet();
  if (check_rank == 0) {
    pattern_fill(buffer, kMiB, 950);
    MPI_Request r;
    MUST(MPI_Isend(buffer, kMiB, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &r));
    MUST(MPI_Send(buffer, 12, MPI_BYTE, partner, kTag + 1, MPI_COMM_WORLD));
    MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  } else {
    MPI_Request r;
    MPI_Status status;
    int found = 0, count = 0;
    MUST(MPI_Irecv(buffer, kMiB, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &r));
    compute(0.001);
    MUST(MPI_Probe(partner, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    CHECK_EQ(status.MPI_TAG, kTag + 1);
    MUST(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQ(count, 12);
    MUST(MPI_Iprobe(partner, kTag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
    CHECK(!found);
    char small[12];
    MUST(MPI_Recv(small, 12, MPI_BYTE, partner, kTag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_PATTERN(buffer, kMiB, 950);
  }
  free(buffer);
}

static void persistent(void) {
  unsigned char* const buffer = check_alloc(2 * kMiB);
  MPI_Request r;
  if (check_rank == 1) MUST(MPI_Recv_init(buffer, 2 * kMiB, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &r));
  for (unsigned round = 0; round < 8; round++) {
    const int bytes = round % 3 == 2 ? 5 : 2 * kMiB - (int)round;
    begin();
    if (check_rank == 0) {
      wait_for_posts();
      pattern_fill(buffer, (size_t)bytes, 1000 + round);
      MUST(MPI_Send(buffer, bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD));
    } else {
      const unsigned char last = pattern_byte(1000 + round, (size_t)bytes - 1);
      buffer[bytes - 1] = last ^ 0xff;
      MUST(MPI_Start(&r));
      tell(kPosted);
      if (expected && bytes > 5) CHECK(comes(buffer + bytes - 1, last), "round %u of a persistent receive", round);
      MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
      CHECK_PATTERN(buffer, bytes, 1000 + round);
    }
  }
  if (check_rank == 1) MUST(MPI_Request_free(&r));
  free(buffer);
}

/* A sender that tests for a while and then computes does not keep the receiver waiting. */
static void sender_goes_away(void) {
  const int bytes = 32 * kMiB;
  unsigned char* const buffer = check_alloc((size_t)bytes);
  MPI_Request r;
  begin();
  if (check_rank == 0) {
    int done = 0;
    pattern_fill(buffer, (size_t)bytes, 1100);
    MUST(MPI_Isend(buffer, bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &r));
    const double until = seconds() + 0.002;
    while (!done && seconds() < until) MUST(MPI_Test(&r, &done, MPI_STATUS_IGNORE));
    if (expected) CHECK(told(kReceived), "the receiver waits for a sender that computes");
    MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  } else {
    memset(buffer, 0, (size_t)bytes);
    MUST(MPI_Irecv(buffer, bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &r));
    compute(0.004);
    MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_PATTERN(buffer, bytes, 1100);
    tell(kReceived);
  }
  free(buffer);
}

/* ---- cancelling -------------------------------------------------------------------------------------------------- */

/* Two receives of one tag, of which one is cancelled at some moment. One message or two; each is received, in order,
 * and what was cancelled is not touched. */
static void cancelled(Random* random) {
  enum { kBytes = 3 * kMiB };
  static unsigned seed = 2000;
  unsigned char* buffer[3];
  MPI_Request r[2];
  for (int i = 0; i < 3; i++) buffer[i] = check_alloc(kBytes);
  seed += 4;
  const int victim = random_below(random, 2), delay = random_below(random, 1500), early = random_below(random, 600);
  meet();
  if (check_rank == 0) {
    compute(early * 1e-6);
    for (int i = 0; i < 2; i++) {
      pattern_fill(buffer[i], kBytes, seed + (unsigned)i);
      MUST(MPI_Isend(buffer[i], kBytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &r[i]));
    }
    MUST(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
  } else {
    int was = 0;
    MPI_Status status;
    for (int i = 0; i < 3; i++) memset(buffer[i], 0x77, kBytes);
    for (int i = 0; i < 2; i++) MUST(MPI_Irecv(buffer[i], kBytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &r[i]));
    compute(delay * 1e-6);
    MUST(MPI_Cancel(&r[victim]));
    MUST(MPI_Wait(&r[victim], &status));
    MUST(MPI_Test_cancelled(&status, &was));
    const int other = 1 - victim;
    if (was) {
      /* The last message is for a receive that comes later. */
      MUST(MPI_Wait(&r[other], MPI_STATUS_IGNORE));
      MUST(MPI_Recv(buffer[2], kBytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK_PATTERN(buffer[other], kBytes, seed);
      CHECK_PATTERN(buffer[2], kBytes, seed + 1);
      for (int i = 0; i < kBytes; i++)
        if (buffer[victim][i] != 0x77) {
          CHECK(0, "byte %d of a cancelled receive was written", i);
          break;
        }
    } else {
      MUST(MPI_Wait(&r[other], MPI_STATUS_IGNORE));
      for (int i = 0; i < 2; i++) CHECK_PATTERN(buffer[i], kBytes, seed + (unsigned)i);
    }
  }
  for (int i = 0; i < 3; i++) free(buffer[i]);
}

/* A send may be cancelled as well, at any time. */
static void cancelled_send(Random* random) {
  enum { kBytes = 2 * kMiB };
  unsigned char* const buffer = check_alloc(kBytes);
  MPI_Request r;
  MPI_Status status;
  int was = 0;
  const int delay = random_below(random, 300);
  meet();
  if (check_rank == 0) {
    pattern_fill(buffer, kBytes, 3000);
    MUST(MPI_Isend(buffer, kBytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &r));
    for (int i = 0, done = 0; i < delay && !done; i++) MUST(MPI_Request_get_status(r, &done, MPI_STATUS_IGNORE));
    MUST(MPI_Cancel(&r));
    MUST(MPI_Wait(&r, &status));
    MUST(MPI_Test_cancelled(&status, &was));
    MUST(MPI_Send(&was, 1, MPI_INT, partner, kTag + 1, MPI_COMM_WORLD));
  } else {
    int cancelled_too = 0;
    memset(buffer, 0, kBytes);
    MUST(MPI_Irecv(buffer, kBytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &r));
    compute(random_below(random, 300) * 1e-6);
    MUST(MPI_Recv(&was, 1, MPI_INT, partner, kTag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (was) MUST(MPI_Cancel(&r));
    MUST(MPI_Wait(&r, &status));
    MUST(MPI_Test_cancelled(&status, &cancelled_too));
    CHECK_EQ(cancelled_too, was);
    if (!was) CHECK_PATTERN(buffer, kBytes, 3000);
  }
  free(buffer);
}

/* ---- random work on both sides ----------------------------------------------------------------------------------- */

/* Both send and receive a few messages of few tags, and compute a random while anywhere between: the receiver comes
 * back before, in the middle of and after the writing. */
static void exchange(MPI_Comm comm, Random* random, int rounds) {
  enum { kMost = 6, kRoom = 2 * kMiB };
  unsigned char* const memory = check_alloc(2 * (size_t)kMost * kRoom);
  MPI_Request r[2 * kMost];
  for (int round = 0; round < rounds; round++) {
    const int count = 1 + random_below(random, kMost), tags = 1 + random_below(random, 2);
    int bytes[2][kMost], tag[2][kMost], pauses[2][3];
    for (int side = 0; side < 2; side++) {
      for (int i = 0; i < count; i++) {
        bytes[side][i] =
            random_below(random, 4) ? 60000 + random_below(random, kRoom - 60000) : random_below(random, 200);
        tag[side][i] = random_below(random, tags);
      }
      for (int i = 0; i < 3; i++) pauses[side][i] = random_below(random, 3) ? random_below(random, 600) : 0;
    }
    const int me = check_rank, you = 1 - check_rank;
    const unsigned seed = 4000u + (unsigned)round * 64u;
    for (int i = 0; i < count; i++) {
      memset(memory + (size_t)i * kRoom, 0, kRoom);
      MUST(MPI_Irecv(memory + (size_t)i * kRoom, kRoom, MPI_BYTE, partner, tag[you][i], comm, &r[i]));
    }
    compute(pauses[me][0] * 1e-6);
    for (int i = 0; i < count; i++) {
      unsigned char* const at = memory + (size_t)(kMost + i) * kRoom;
      pattern_fill(at, (size_t)bytes[me][i], seed + (unsigned)(32 * me + i));
      MUST(MPI_Isend(at, bytes[me][i], MPI_BYTE, partner, tag[me][i], comm, &r[count + i]));
    }
    compute(pauses[me][1] * 1e-6);
    if (pauses[me][2]) MUST(MPI_Waitall(count, r + count, MPI_STATUSES_IGNORE));
    compute(pauses[me][2] * 1e-6);
    MUST(MPI_Waitall(2 * count, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < count; i++)
      CHECK_PATTERN(memory + (size_t)i * kRoom, bytes[you][i], seed + (unsigned)(32 * you + i));
  }
  free(memory);
}

enum { kThreads = 3 };
static MPI_Comm comm_of[kThreads];

static void* in_thread(void* argument) {
  const int which = (int)(intptr_t)argument;
  Random random = {77u + (unsigned)which};
  exchange(comm_of[which], &random, 25);
  return NULL;
}

static void many_threads(void) {
  pthread_t thread[kThreads];
  for (int i = 0; i < kThreads; i++) MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm_of[i]));
  if (partner >= 0) {
    for (int i = 0; i < kThreads; i++) pthread_create(&thread[i], NULL, in_thread, (void*)(intptr_t)i);
    for (int i = 0; i < kThreads; i++) pthread_join(thread[i], NULL);
  }
  for (int i = 0; i < kThreads; i++) MUST(MPI_Comm_free(&comm_of[i]));
}

int main(int argc, char** argv) {
  int early = 1, threads = 0, provided = 0;
  int announced = kWindow; /* receives of a window that can be announced at a time */
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "few") == 0) announced = 16;
    if (strcmp(argv[i], "late") == 0) early = 0;
    if (strcmp(argv[i], "threads") == 0) threads = 1;
  }
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MUST(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
  MUST(MPI_Comm_size(MPI_COMM_WORLD, &check_size));
  find_partner(early);
  if (partner >= 0) {
    Random random = {5};
    every_mode();
    window(kWindow, 256 << 10, announced);
    window(100, 256 << 10, announced);
    window(15, 300001, 15);
    among_others();
    for (int position = 0; position < 2; position++) {
      with_wildcard(position, MPI_ANY_SOURCE, kTag);
      with_wildcard(position, partner, MPI_ANY_TAG);
      with_wildcard(position, MPI_ANY_SOURCE, MPI_ANY_TAG);
    }
    too_long();
    probed();
    persistent();
    sender_goes_away();
    for (int i = 0; i < 60; i++) cancelled(&random);
    for (int i = 0; i < 40; i++) cancelled_send(&random);
    Random same = {6};
    exchange(MPI_COMM_WORLD, &same, 40);
  }
  if (threads) many_threads();
  return check_end();
}
