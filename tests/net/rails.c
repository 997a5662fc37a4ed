/* Large messages between two ranks over the transport that argv[1] names, as told: rank 0 reads lines `to BYTES` (it
 * sends to rank 1), `from BYTES`, `both BYTES`, with a third word so many of them at one time, and answers each with a
 * line of its and the other rank's variables when all have arrived and been checked. `sleep SECONDS to BYTES` lets the
 * sender compute first. */
#include <unistd.h>

#include "check.h"

enum { kVariables = 6, kMost = 8 };

static const char* const names[kVariables] = {"rail0_bytes", "rail1_bytes",   "rails",
                                              "rails_lost",  "rails_stalled", "striped"};

/* One message or several from each rank that sends. */
static void messages(int bytes, int count, const int sends[2], double seconds, unsigned seed) {
  const int other = 1 - check_rank;
  void *out[kMost], *in[kMost];
  MPI_Request requests[2 * kMost];
  int pending = 0;
  for (int i = 0; i < count; i++) {
    if (sends[other]) {
      in[i] = check_alloc((size_t)bytes + 1);
      memset(in[i], 0xee, (size_t)bytes);
      MUST(MPI_Irecv(in[i], bytes, MPI_BYTE, other, i, MPI_COMM_WORLD, &requests[pending++]));
    }
    if (sends[check_rank]) {
      out[i] = check_alloc((size_t)bytes + 1);
      pattern_fill(out[i], (size_t)bytes, seed + (unsigned)i);
      MUST(MPI_Isend(out[i], bytes, MPI_BYTE, other, i, MPI_COMM_WORLD, &requests[pending++]));
    }
  }
  if (sends[check_rank] && seconds > 0) usleep((useconds_t)(seconds * 1e6));
  MUST(MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < count; i++) {
    if (sends[other]) CHECK_PATTERN(in[i], (size_t)bytes, seed + (unsigned)i);
    if (sends[other]) free(in[i]);
    if (sends[check_rank]) free(out[i]);
  }
}

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handles[kVariables];

static void find_variables(const char* transport) {
  static const int classes[] = {MPI_T_PVAR_CLASS_COUNTER, MPI_T_PVAR_CLASS_AGGREGATE, MPI_T_PVAR_CLASS_LEVEL};
  int provided = 0;
  MUST(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  MUST(MPI_T_pvar_session_create(&session));
  for (int i = 0; i < kVariables; i++) {
    char name[64];
    snprintf(name, sizeof name, "transport.%s.%s", transport, names[i]);
    int index = -1, count = 0;
    for (int c = 0; c < 3 && index < 0; c++)
      if (MPI_T_pvar_get_index(name, classes[c], &index) != MPI_SUCCESS) index = -1;
    CHECK(index >= 0, "%s", name);
    MUST(MPI_T_pvar_handle_alloc(session, index, NULL, &handles[i], &count));
  }
  MUST(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
}

static void tell_variables(void) {
  unsigned long long mine[kVariables], all[2 * kVariables];
  for (int i = 0; i < kVariables; i++) {
    mine[i] = 0;
    MUST(MPI_T_pvar_read(session, handles[i], &mine[i]));
  }
  MUST(
      MPI_Gather(mine, kVariables, MPI_UNSIGNED_LONG_LONG, all, kVariables, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD));
  if (check_rank != 0) return;
  for (int i = 0; i < 2 * kVariables; i++)
    printf("%d.%s=%llu%c", i / kVariables, names[i % kVariables], all[i], i + 1 < 2 * kVariables ? ' ' : '\n');
  fflush(stdout);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  find_variables(argc > 1 ? argv[1] : "tcp");
  for (unsigned number = 1;; number++) {
    struct {
      double seconds;
      int bytes, count, sends[2];
    } task = {0, -1, 1, {0, 0}};
    char line[128], way[16] = "";
    if (check_rank == 0 && fgets(line, sizeof line, stdin) != NULL) {
      const char* rest = line;
      int used = 0;
      if (sscanf(line, "sleep %lf %n", &task.seconds, &used) == 1) rest += used;
      if (sscanf(rest, "%15s %d %d", way, &task.bytes, &task.count) < 2) task.bytes = -1;
      task.sends[0] = strcmp(way, "from") != 0;
      task.sends[1] = strcmp(way, "to") != 0;
    }
    MUST(MPI_Bcast(&task, sizeof task, MPI_BYTE, 0, MPI_COMM_WORLD));
    if (task.bytes < 0) break;
    messages(task.bytes, task.count, task.sends, task.seconds, number * 1000);
    tell_variables();
  }
  MUST(MPI_T_pvar_session_free(&session));
  MUST(MPI_T_finalize());
  return check_end();
}
