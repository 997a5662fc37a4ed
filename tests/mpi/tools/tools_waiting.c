/* What waiting tells tools: time, yields and sleeps of calls that wait long; how peers were connected; that a report of
 * what the process is doing was asked for; stalls. The argument: the path of ashlar_info, or "stalled". */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "hear.h"

static Value now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (Value)t.tv_sec * 1000000000u + (Value)t.tv_nsec;
}

static void pause_ms(long ms) {
  const struct timespec length = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&length, NULL);
}

/* Rank 0 waits for a message that comes late. */
static void waiting(void) {
  Pvar waits = pvar_begin("progress.waits", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar wait_time = pvar_begin("progress.wait_time", MPI_T_PVAR_CLASS_TIMER, NULL);
  Pvar yields = pvar_begin("progress.yields", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar sleeps = pvar_begin("progress.sleeps", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar sleep_time = pvar_begin("progress.sleep_time", MPI_T_PVAR_CLASS_TIMER, NULL);
  Pvar now = pvar_begin("progress.waiting", MPI_T_PVAR_CLASS_LEVEL, NULL);
  Pvar peak = pvar_begin("progress.waiting_peak", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
  int data = 0;
  const Value begun = now_ns();
  if (check_rank == 0) {
    MUST(MPI_Send(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    MUST(MPI_Recv(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    const Value elapsed = now_ns() - begun, waited = pvar_value(&wait_time, 0), slept = pvar_value(&sleep_time, 0);
    CHECK(pvar_value(&waits, 0) >= 1, "%llu", pvar_value(&waits, 0));
    CHECK(waited > 0 && waited <= elapsed, "%llu ns of %llu", waited, elapsed);
    CHECK(slept <= waited, "%llu ns asleep of %llu", slept, waited);
    CHECK((slept > 0) == (pvar_value(&sleeps, 0) > 0), "%llu ns, %llu times", slept, pvar_value(&sleeps, 0));
    CHECK(pvar_value(&yields, 0) + pvar_value(&sleeps, 0) > 0, "it spun for 200 ms");
    CHECK_EQ(pvar_value(&now, 0), 0);
    CHECK(pvar_value(&peak, 0) >= 1, "%llu", pvar_value(&peak, 0));
  } else if (check_rank == 1) {
    MUST(MPI_Recv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    pause_ms(200);
    MUST(MPI_Send(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
  }
  pvar_end(&waits), pvar_end(&wait_time), pvar_end(&yields), pvar_end(&sleeps), pvar_end(&sleep_time);
  pvar_end(&now), pvar_end(&peak);
}

/* Each peer was connected once. */
static void connected(const Hear* hear) {
  int others = 0;
  for (int i = 0; i < hear->count; ++i) {
    const char* const transport = hear_word(hear, hear->of[i][0]);
    const int peer = (int)hear->of[i][1];
    CHECK(peer >= 0 && peer < check_size, "peer %d", peer);
    CHECK(strcmp(transport, peer == check_rank ? "self" : "shm") == 0, "%s to %d", transport, peer);
    CHECK_EQ(hear->of[i][2], 0);
    CHECK(hear->of[i][3] == 0 || hear->of[i][3] == 1, "%lld", hear->of[i][3]);
    CHECK(hear->of[i][4] == 0 || peer != check_rank, "self comes first");
    for (int j = 0; j < i; ++j) CHECK(hear->of[j][1] != peer, "%d twice", peer);
    others += peer != check_rank;
  }
  CHECK_EQ(others, check_size - 1);
}

/* Somebody asks mpiexec what the job waits for: rank 1 does, and says so to its tools. */
static void queried(const char* ashlar_info) {
  Hear hear;
  char command[1200];
  int data = 0;
  hear_begin(&hear, "runtime.query_answered");
  Pvar queries = pvar_begin("runtime.queries", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar bytes = pvar_begin("runtime.query_bytes", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
  if (check_rank == 0) {
    MUST(MPI_Recv(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    snprintf(command, sizeof command, "'%s' waits --pid %d > /dev/null", ashlar_info, (int)getppid());
    CHECK_EQ(system(command), 0);
    MUST(MPI_Send(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
  } else if (check_rank == 1) {
    MUST(MPI_Send(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    MUST(MPI_Recv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(hear.count > 0 && pvar_value(&queries, 0) == (Value)hear.count, "%d heard, %llu counted", hear.count,
          pvar_value(&queries, 0));
    Value sum = 0;
    int waits = 0;
    for (int i = 0; i < hear.count; ++i) sum += (Value)hear.of[i][1], waits |= (int)hear.of[i][0];
    CHECK(waits == 1, "it waited in MPI_Recv");
    CHECK_EQ(pvar_value(&bytes, 0), sum);
  }
  pvar_end(&queries), pvar_end(&bytes);
  hear_end(&hear);
}

/* Rank 0 waits for longer than watch.stall, once for a message and once in a barrier: its tools hear so while it waits,
 * and once of each wait. */
static void stalled(void) {
  Hear hear;
  int data = 0;
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  hear_begin(&hear, "runtime.stall_seen");
  Pvar stalls = pvar_begin("runtime.stalls", MPI_T_PVAR_CLASS_COUNTER, NULL);
  if (check_rank == 0) {
    MUST(MPI_Recv(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(hear.count, 1);
    CHECK(strcmp(hear_word(&hear, hear.of[0][0]), "message") == 0, "%s", hear_word(&hear, hear.of[0][0]));
    CHECK(hear.of[0][1] >= 1000000000 && hear.of[0][1] < 60000000000, "%lld ns", hear.of[0][1]);
    CHECK_EQ(hear.of[0][2], 1);
    CHECK_EQ(pvar_value(&stalls, 0), 1);
  } else if (check_rank == 1) {
    pause_ms(2500);
    MUST(MPI_Send(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    pause_ms(2500);
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank == 0) {
    CHECK_EQ(hear.count, 2);
    CHECK(strcmp(hear_word(&hear, hear.of[1][0]), "collective") == 0, "%s", hear_word(&hear, hear.of[1][0]));
    CHECK_EQ(hear.of[1][2], 4294967294);
    CHECK_EQ(hear.of[1][3], 0);
    CHECK(hear.of[1][4] >= 1, "collective %lld", hear.of[1][4]);
  } else if (check_rank == 1) {
    CHECK_EQ(hear.count, 0);
  }
  pvar_end(&stalls);
  hear_end(&hear);
}

int main(int argc, char** argv) {
  int provided = 0;
  static Hear chosen;
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  hear_begin(&chosen, "transport.chosen");
  check_start(&argc, &argv);
  for (int peer = 0; peer < check_size; ++peer) {
    int mine = 1, theirs = 0;
    MUST(MPI_Sendrecv(&mine, 1, MPI_INT, peer, 0, &theirs, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  }
  connected(&chosen);
  hear_end(&chosen);
  if (strcmp(argv[1], "stalled") == 0) {
    stalled();
  } else {
    waiting();
    queried(argv[1]);
  }
  const int failed = check_end();
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return failed || check_failures;
}
