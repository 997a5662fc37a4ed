/* Threads of tools beside a program that knows nothing of them, below MPI_THREAD_MULTIPLE: they begin and end the
 * interface, make and free handles, list everything, and read a counter that the program's messages raise. What they
 * read and reset together is what was counted: nothing is lost, nothing seen twice. */
#include <pthread.h>

#include "check.h"

enum { kThreads = 3, kMessages = 4000 };
typedef unsigned long long Value;

static int over = 0;
static MPI_T_pvar_session session;
static MPI_T_pvar_handle counter;

static void look_around(void) {
  int provided = 0, number = 0, count = 0, index = 0;
  Value value = 0;
  MPI_T_pvar_session mine;
  MPI_T_pvar_handle handle, mark;
  MPI_T_cvar_handle cvar;
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_get_num(&number), MPI_SUCCESS);
  for (int i = 0; i < number; i += 7) {
    char name[100];
    int length = sizeof name;
    CHECK_EQ(MPI_T_pvar_get_info(i, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
             MPI_SUCCESS);
  }
  CHECK_EQ(MPI_T_category_get_num(&number), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_session_create(&mine), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_get_index("p2p.unexpected_total", MPI_T_PVAR_CLASS_COUNTER, &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_handle_alloc(mine, index, NULL, &handle, &count), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_get_index("p2p.unexpected_peak", MPI_T_PVAR_CLASS_HIGHWATERMARK, &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_handle_alloc(mine, index, NULL, &mark, &count), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_start(mine, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
  Value before = 0;
  for (int i = 0; i < 50; ++i) {
    CHECK_EQ(MPI_T_pvar_read(mine, handle, &value), MPI_SUCCESS);
    CHECK(value >= before && value <= 2 * kMessages, "%llu after %llu", value, before);
    before = value;
  }
  CHECK_EQ(MPI_T_pvar_read(mine, mark, &value), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_get_index("p2p.eager_limit", &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_handle_alloc(index, NULL, &cvar, &count), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_read(cvar, &value), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_handle_free(&cvar), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_session_free(&mine), MPI_SUCCESS);
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
}

/* Adds up what it reads and resets; between that it looks around. */
static void* watch(void* total) {
  Value* const sum = total;
  while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
    Value value = 0;
    for (int i = 0; i < 100; ++i) {
      CHECK_EQ(MPI_T_pvar_readreset(session, counter, &value), MPI_SUCCESS);
      CHECK(value <= kMessages, "%llu", value);
      *sum += value;
    }
    look_around();
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0, index = 0, count = 0;
  char byte = 0;
  pthread_t threads[kThreads];
  Value totals[kThreads] = {0}, sum = 0, rest = 0;
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_get_index("p2p.unexpected_total", MPI_T_PVAR_CLASS_COUNTER, &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, index, NULL, &counter, &count), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_start(session, counter), MPI_SUCCESS);
  /* The interface and MPI begin at the same time. */
  for (int i = 0; i < kThreads; ++i)
    if (pthread_create(&threads[i], NULL, watch, &totals[i]) != 0) return 77;
  check_start(&argc, &argv);
  for (int i = 0; i < kMessages; ++i) {
    int there = 0;
    MPI_Request request;
    MUST(MPI_Isend(&byte, 1, MPI_CHAR, 0, 3, MPI_COMM_SELF, &request));
    while (!there) MUST(MPI_Iprobe(0, 3, MPI_COMM_SELF, &there, MPI_STATUS_IGNORE));
    MUST(MPI_Recv(&byte, 1, MPI_CHAR, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  MUST(MPI_Finalize()); /* the lanes go away under the readers */
  __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    sum += totals[i];
  }
  CHECK_EQ(MPI_T_pvar_readreset(session, counter, &rest), MPI_SUCCESS);
  sum += rest;
  CHECK(sum >= kMessages && sum < kMessages + 100, "%llu of %d messages", sum, kMessages);
  CHECK_EQ(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return check_failures ? 1 : 0;
}
