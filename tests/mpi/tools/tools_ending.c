/* Threads of tools write control variables and read performance variables while the program begins and ends sessions,
 * and then MPI itself: what they write is in force, or refused because MPI is just starting, and the value that was
 * written last is in force in whatever the program begins afterwards. The argument "threads": with MPI_THREAD_MULTIPLE.
 */
#include <pthread.h>

#include "hear.h"

enum { kLeastRounds = 30, kLeastOfTools = 40, kThreads = 2, kMostPvars = 2048 };

/* Of every room that takes such values while it works. Each is written by one thread. */
static const char* const kNames[] = {
    "p2p.unexpected_limit", "p2p.eager_limit", "p2p.request_limit", "progress.spin",      "progress.yield_retry",
    "coll.request_limit",   "object.limit",    "io.sieve_bytes",    "rma.range_elements", "tools.event_queue"};
enum { kNameCount = sizeof kNames / sizeof *kNames };

static int over = 0, rounds_of[kThreads]; /* in which all was written */
static Value written[kNameCount];

static int cvar_index(const char* name) {
  int index = -1;
  CHECK_EQ(MPI_T_cvar_get_index(name, &index), MPI_SUCCESS);
  return index;
}
static MPI_T_cvar_handle cvar_handle(const char* name) {
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  CHECK_EQ(MPI_T_cvar_handle_alloc(cvar_index(name), NULL, &handle, &count), MPI_SUCCESS);
  return handle;
}

/* Each variable that this thread is in charge of. Returns whether all of them took the value. */
static int write_all(int thread, int round) {
  int all = 1;
  for (int i = thread; i < kNameCount; i += kThreads) {
    MPI_T_cvar_handle handle = cvar_handle(kNames[i]);
    Value value = 4096 + (Value)round, seen = 0;
    const int code = MPI_T_cvar_write(handle, &value);
    CHECK(code == MPI_SUCCESS || code == MPI_T_ERR_CVAR_SET_NOT_NOW, "%s: %d", kNames[i], code);
    if (code == MPI_SUCCESS) written[i] = value;
    all &= code == MPI_SUCCESS;
    CHECK_EQ(MPI_T_cvar_read(handle, &seen), MPI_SUCCESS);
    if (written[i] != 0) CHECK(seen == written[i], "%s: %llu, and %llu was written", kNames[i], seen, written[i]);
    CHECK_EQ(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
  }
  return all;
}

/* Every variable that is bound to nothing. */
static void read_all(MPI_T_pvar_session session) {
  int number = 0;
  CHECK_EQ(MPI_T_pvar_get_num(&number), MPI_SUCCESS);
  CHECK(number <= kMostPvars, "%d", number);
  for (int i = 0; i < number; i += 3) {
    MPI_T_pvar_handle handle;
    int bind = 0, continuous = 0, count = 0;
    Value values[64];
    CHECK_EQ(MPI_T_pvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL, &continuous, NULL),
             MPI_SUCCESS);
    if (bind != MPI_T_BIND_NO_OBJECT) continue;
    CHECK_EQ(MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count), MPI_SUCCESS);
    if (!continuous) CHECK_EQ(MPI_T_pvar_start(session, handle), MPI_SUCCESS);
    const int code = MPI_T_pvar_read(session, handle, values);
    CHECK(code == MPI_SUCCESS || code == MPI_T_ERR_NOT_ACCESSIBLE, "variable %d: %d", i, code);
    CHECK_EQ(MPI_T_pvar_handle_free(session, &handle), MPI_SUCCESS);
  }
}

static void* tool(void* number) {
  const int thread = (int)(intptr_t)number;
  MPI_T_pvar_session session;
  CHECK_EQ(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
  for (int round = 1; !__atomic_load_n(&over, __ATOMIC_ACQUIRE); ++round) {
    if (write_all(thread, round)) __atomic_fetch_add(&rounds_of[thread], 1, __ATOMIC_RELAXED);
    if (round % 4 == thread) read_all(session);
  }
  CHECK_EQ(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
  return NULL;
}

/* Whether the tools of all processes have had their share. */
static int enough = 0;

static void exchange(MPI_Comm comm) {
  static char out[8192], in[8192];
  int rank = 0, size = 0, mine = 1;
  MUST(MPI_Comm_rank(comm, &rank));
  MUST(MPI_Comm_size(comm, &size));
  for (int bytes = 1; bytes <= (int)sizeof out; bytes *= 8)
    MUST(MPI_Sendrecv(out, bytes, MPI_CHAR, (rank + 1) % size, 0, in, bytes, MPI_CHAR, (rank + size - 1) % size, 0,
                      comm, MPI_STATUS_IGNORE));
  for (int i = 0; i < kThreads; ++i) mine &= __atomic_load_n(&rounds_of[i], __ATOMIC_RELAXED) >= kLeastOfTools;
  MUST(MPI_Allreduce(&mine, &enough, 1, MPI_INT, MPI_MIN, comm));
}

static void session(int threads, void (*work)(MPI_Comm)) {
  MPI_Session mine;
  MPI_Info info;
  MPI_Group group;
  MPI_Comm comm;
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, "thread_level", threads ? "MPI_THREAD_MULTIPLE" : "MPI_THREAD_SINGLE"));
  MUST(MPI_Session_init(info, MPI_ERRORS_RETURN, &mine));
  MUST(MPI_Info_free(&info));
  MUST(MPI_Group_from_session_pset(mine, "mpi://WORLD", &group));
  MUST(MPI_Comm_create_from_group(group, "tools_ending", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  MUST(MPI_Group_free(&group));
  work(comm);
  MUST(MPI_Comm_disconnect(&comm));
  MUST(MPI_Session_finalize(&mine));
}

/* What this process goes by is what was written last. */
static void look(MPI_Comm comm) {
  exchange(comm);
  Pvar in_force = pvar_begin("p2p.unexpected_limit", MPI_T_PVAR_CLASS_SIZE, NULL);
  CHECK_EQ(pvar_value(&in_force, 0), written[0]);
  pvar_end(&in_force);
}

int main(int argc, char** argv) {
  const int threads = argc > 1 && strcmp(argv[1], "threads") == 0;
  int provided = 0;
  pthread_t running[kThreads];
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
  for (int i = 0; i < kThreads; ++i)
    if (pthread_create(&running[i], NULL, tool, (void*)(intptr_t)i) != 0) return 77;
  for (int i = 0; i < kLeastRounds || !enough; ++i) session(threads, exchange);
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MUST(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
  MUST(MPI_Comm_size(MPI_COMM_WORLD, &check_size));
  exchange(MPI_COMM_WORLD);
  MUST(MPI_Finalize()); /* the lanes go away under the tools */
  __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < kThreads; ++i) pthread_join(running[i], NULL);
  for (int i = 0; i < kNameCount; ++i) CHECK(written[i] != 0, "%s was never written", kNames[i]);
  session(threads, look);
  /* Between two sessions, and in one: each value is in force in the next. */
  for (Value value = 70000; value < 70002; ++value) {
    MPI_T_cvar_handle handle = cvar_handle(kNames[0]);
    written[0] = value;
    CHECK_EQ(MPI_T_cvar_write(handle, &value), MPI_SUCCESS);
    CHECK_EQ(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
    session(threads, look);
  }
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return check_failures ? 1 : 0;
}
