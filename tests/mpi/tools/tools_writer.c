/* A tool's thread writes control variables while the program's one thread, which knows nothing of it, exchanges
 * messages: the values take effect with the next progress that the program makes. What belongs to the program's thread
 * alone is refused to the other one. */
#include <pthread.h>

#include "hear.h"

enum { kWrites = 200 };

static MPI_T_cvar_handle limit, eager, of_comm;
static MPI_T_pvar_session session;
static MPI_T_pvar_handle sends;
static int over = 0;

static MPI_T_cvar_handle handle_of(const char* name, MPI_Comm* comm) {
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int index = -1, count = 0;
  CHECK_EQ(MPI_T_cvar_get_index(name, &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_handle_alloc(index, comm, &handle, &count), MPI_SUCCESS);
  return handle;
}

static void* write_and_read(void* unused) {
  Value value = 0;
  (void)unused;
  for (int i = 0; i < kWrites; ++i) {
    value = 60000 + (Value)i;
    CHECK_EQ(MPI_T_cvar_write(limit, &value), MPI_SUCCESS);
    value = i % 2 == 0 ? 4000 : 100;
    CHECK_EQ(MPI_T_cvar_write(eager, &value), MPI_SUCCESS);
  }
  CHECK_EQ(MPI_T_cvar_read(limit, &value), MPI_SUCCESS);
  CHECK_EQ(value, 60000 + kWrites - 1);
  CHECK_EQ(MPI_T_cvar_write(of_comm, &value), MPI_T_ERR_CVAR_SET_NOT_NOW);
  CHECK_EQ(MPI_T_pvar_read(session, sends, &value), MPI_T_ERR_NOT_ACCESSIBLE);
  __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
  return NULL;
}

/* Messages on both sides of both limits. */
static void exchange(void) {
  static char out[8192], in[8192];
  for (int size = 1; size <= (int)sizeof out; size *= 8) {
    out[size - 1] = (char)size;
    MUST(MPI_Sendrecv(out, size, MPI_CHAR, (check_rank + 1) % check_size, size, in, size, MPI_CHAR,
                      (check_rank + check_size - 1) % check_size, size, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(in[size - 1], (char)size);
  }
}

int main(int argc, char** argv) {
  int provided = 0, index = -1, count = 0, all = 0, mine = 0;
  MPI_Comm world = MPI_COMM_WORLD;
  pthread_t thread;
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
  check_start(&argc, &argv);
  limit = handle_of("p2p.unexpected_limit", NULL);
  eager = handle_of("p2p.eager_limit", NULL);
  of_comm = handle_of("comm.eager_limit", &world);
  CHECK_EQ(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_get_index("p2p.sends", MPI_T_PVAR_CLASS_LEVEL, &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, index, NULL, &sends, &count), MPI_SUCCESS);
  Pvar in_force = pvar_begin("p2p.unexpected_limit", MPI_T_PVAR_CLASS_SIZE, NULL);
  if (pthread_create(&thread, NULL, write_and_read, NULL) != 0) return 77;
  while (all == 0) {
    exchange();
    mine = __atomic_load_n(&over, __ATOMIC_ACQUIRE);
    MUST(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
  }
  pthread_join(thread, NULL);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  exchange();
  CHECK_EQ(pvar_value(&in_force, 0), 60000 + kWrites - 1);
  /* The program's own thread writes as ever, and the value is in force at once. */
  Value value = 54321;
  CHECK_EQ(MPI_T_cvar_write(limit, &value), MPI_SUCCESS);
  CHECK_EQ(pvar_value(&in_force, 0), 54321);
  value = 128;
  CHECK_EQ(MPI_T_cvar_write(of_comm, &value), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_read(session, sends, &value), MPI_SUCCESS);
  exchange();
  pvar_end(&in_force);
  const int failed = check_end();
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return failed || check_failures;
}
