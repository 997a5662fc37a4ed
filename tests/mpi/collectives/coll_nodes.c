/* Blocking collectives of small data between nodes: the ranks of a node meet in shared memory, and one of them sends
 * the few messages that leave it. Counted by events: what each rank receives in collectives. Argument: the ranks of a
 * node, which follow each other; "messages" behind it: the ranks of a node meet by
 * messages (coll=^shm); "disagree": calls that do not agree; "freed": what is left of communicators that are freed. */
#include <dirent.h>

#include "tools/hear.h"

enum { kCalls = 50, kRecords = 4 };

/* Messages that this rank has received in collectives. */
static int received_in_collectives(const Hear* matches) {
  int received = 0;
  for (int i = 0; i < matches->count; ++i) received += matches->of[i][0] % 2 == 1;
  return received;
}

static void barrier(int i) {
  (void)i;
  MUST(MPI_Barrier(MPI_COMM_WORLD));
}

static void allreduce(int i) {
  long long sum = 0, mine = check_rank + i;
  MUST(MPI_Allreduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(sum, (long long)check_size * (check_size - 1) / 2 + (long long)check_size * i);
}

static void bcast(int i) {
  long long value = check_rank == 0 ? 1000 + i : -1;
  MUST(MPI_Bcast(&value, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD));
  CHECK_EQ(value, 1000 + i);
}

static void reduce(int i) {
  long long sum = 0, mine = check_rank + i;
  MUST(MPI_Reduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
  if (check_rank == 0) CHECK_EQ(sum, (long long)check_size * (check_size - 1) / 2 + (long long)check_size * i);
}

static void gather(int i) {
  long long all[64], mine = 100 * check_rank + i;
  MUST(MPI_Gather(&mine, 1, MPI_LONG_LONG, all, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD));
  for (int r = 0; check_rank == 0 && r < check_size; ++r) CHECK_EQ(all[r], 100 * r + i);
}

static void allgather(int i) {
  long long all[64], mine = 100 * check_rank + i;
  MUST(MPI_Allgather(&mine, 1, MPI_LONG_LONG, all, 1, MPI_LONG_LONG, MPI_COMM_WORLD));
  for (int r = 0; r < check_size; ++r) CHECK_EQ(all[r], 100 * r + i);
}

static void scan(int i) {
  long long sum = 0, mine = check_rank + i;
  MUST(MPI_Scan(&mine, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(sum, (long long)check_rank * (check_rank + 1) / 2 + (long long)(check_rank + 1) * i);
}

/* What a rank receives in one call, with two nodes. */
typedef struct {
  const char* name;
  void (*call)(int i);
  int first_leader, second_leader, last_of_second;
} Row;

static const Row kRows[] = {
    {"barrier", barrier, 1, 1, 0}, {"allreduce", allreduce, 1, 1, 0}, {"bcast", bcast, 0, 1, 0},
    {"reduce", reduce, 1, 0, 0},   {"gather", gather, 1, 0, 0},       {"allgather", allgather, 1, 1, 0},
    {"scan", scan, 0, 0, 1},
};

/* Calls that agree inside each node and not between them: the leaders find that, every rank gets to know it, and the
 * communicator goes on. */
static void disagree(int each) {
  long long mine[2] = {1, 2}, sum[2];
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  for (int round = 0; round < 3; ++round) {
    const int error = MPI_Allreduce(mine, sum, check_rank < each ? 1 : 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(error != MPI_SUCCESS);
    MUST(MPI_Error_string(error, text, &length));
    /* The call of the program, with a rank of the other node. */
    const char* const theirs = check_rank < each ? "passed 16 bytes" : "passed 8 bytes";
    CHECK(strstr(text, "MPI_Allreduce on") != NULL && strstr(text, "the ranks do not agree") != NULL &&
              strstr(text, theirs) != NULL,
          "%s", text);
    for (int i = 0; i < 3; ++i) {
      barrier(i);
      bcast(i);
      allreduce(i);
    }
  }
}

/* Mappings and open files of this process. */
static int kept(void) {
  int count = 0, c;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && (c = fgetc(maps)) != EOF) count += c == '\n';
  if (maps != NULL) fclose(maps);
  DIR* files = opendir("/proc/self/fd");
  while (files != NULL && readdir(files) != NULL) ++count;
  if (files != NULL) closedir(files);
  return count;
}

/* A communicator takes what the ranks of its nodes share with it when it is freed. */
static void freed(void) {
  int before = 0;
  for (int round = 0; round < 60; ++round) {
    if (round == 10) before = kept();
    MPI_Comm comm;
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    int mine = check_rank + round, sum = 0;
    MUST(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, check_size * (check_size - 1) / 2 + check_size * round);
    MUST(MPI_Comm_free(&comm));
  }
  const int more = kept() - before;
  CHECK(more < 20, "%d mappings and files of 50 communicators are left", more);
}

int main(int argc, char** argv) {
  int provided;
  if (argc > 2 && strcmp(argv[2], "freed") == 0) {
    check_start(&argc, &argv);
    freed();
    return check_end();
  }
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  Pvar questions = pvar_begin("launch.native.questions", MPI_T_PVAR_CLASS_COUNTER, NULL);
  check_start(&argc, &argv);
  /* At start one rank of each host but the first compares its settings with those of rank 0. */
  const int of_start = (int)pvar_value(&questions, 0);
  static Hear matches;
  hear_begin(&matches, "p2p.message_matched");
  const int each = argc > 1 ? atoi(argv[1]) : check_size;
  const int by_messages = argc > 2 && strcmp(argv[2], "messages") == 0;
  if (argc > 2 && strcmp(argv[2], "disagree") == 0) {
    disagree(each);
    hear_end(&matches);
    pvar_end(&questions);
    CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
    return check_end();
  }
  CHECK_EQ(check_size, 2 * each);
  CHECK(check_size <= 64);
  CHECK(of_start == 0 || (of_start == 1 && check_rank == each), "%d questions at start", of_start);
  for (size_t row = 0; row < sizeof kRows / sizeof kRows[0]; ++row) {
    const Row* const r = &kRows[row];
    /* The first calls make what the ranks of a node share. */
    r->call(0);
    r->call(1);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    matches.count = 0;
    for (int i = 0; i < kCalls; ++i) r->call(i);
    const int received = received_in_collectives(&matches);
    const int expected = check_rank == 0 ? r->first_leader : check_rank == each ? r->second_leader : 0;
    const int of_last = check_rank == 2 * each - 1 && each > 1 ? r->last_of_second : 0;
    if (by_messages) {
      /* At least one for each rank that does not lead its node. */
      int all = 0, mine = received;
      MUST(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
      CHECK(all >= kCalls * 2 * (each - 1), "%s: %d messages", r->name, all);
    } else {
      CHECK(received == kCalls * (expected + of_last), "%s: %d messages in %d calls, and not %d", r->name, received,
            kCalls, kCalls * (expected + of_last));
    }
    MUST(MPI_Barrier(MPI_COMM_WORLD));
  }
  /* Who leads a node has asked for its partner: whether it is there, and an address for each transport that is tried.
   */
  const int leads = check_rank % each == 0 || (check_rank + 1) % each == 0;
  const int asked = (int)pvar_value(&questions, 0) - of_start;
  CHECK(asked <= (leads ? kRecords : 0), "%d questions", asked);
  pvar_end(&questions);
  /* Blocking and nonblocking ones, in any mixture, and persistent ones that start in another order on each rank. */
  MPI_Request persistent[2], request;
  long long mine[3], sum[3];
  for (int i = 0; i < 2; ++i)
    MUST(MPI_Allreduce_init(&mine[i], &sum[i], 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                            &persistent[i]));
  for (int i = 0; i < kCalls; ++i) {
    for (int k = 0; k < 3; ++k) mine[k] = check_rank + i + k;
    MUST(MPI_Iallreduce(&mine[2], &sum[2], 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD, &request));
    MUST(MPI_Start(&persistent[check_rank % 2]));
    allreduce(i);
    MUST(MPI_Start(&persistent[1 - check_rank % 2]));
    bcast(i);
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MUST(MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE));
    for (int k = 0; k < 3; ++k)
      CHECK_EQ(sum[k], (long long)check_size * (check_size - 1) / 2 + (long long)check_size * (i + k));
  }
  for (int i = 0; i < 2; ++i) MUST(MPI_Request_free(&persistent[i]));
  hear_end(&matches);
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return check_end();
}
