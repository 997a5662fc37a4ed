/* Eight threads that call MPI and its tools interface at one time: each begins and ends the interface, has a session
 * with handles of its own, registers for events and frees its registration in the middle, writes a variable, and
 * exchanges messages in between. What each session has counted are the messages of its thread; what all of
 * them have read and reset of one handle adds up to what was counted. */
#include <pthread.h>

#include "hear.h"

enum { kThreads = 8, kRounds = 12, kEach = 40 };

typedef struct {
  int number;
  Value shared; /* what this thread has read and reset of the handle of all */
  int heard, freed;
  MPI_Comm comm;
} Thread;

static MPI_T_pvar_session of_all;
static MPI_T_pvar_handle counted_of_all;

static void count_heard(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                        void* data) {
  Thread* thread = data;
  MPI_Count when = 0;
  (void)registration;
  CHECK_EQ(MPI_T_event_get_timestamp(instance, &when), MPI_SUCCESS);
  CHECK(when > 0 && safety == MPI_T_CB_REQUIRE_THREAD_SAFE, "%lld at level %d", (long long)when, (int)safety);
  __atomic_fetch_add(&thread->heard, 1, __ATOMIC_RELAXED); /* events of any thread */
}

static void count_freed(MPI_T_event_registration registration, MPI_T_cb_safety safety, void* data) {
  Thread* thread = data;
  (void)registration, (void)safety;
  __atomic_fetch_add(&thread->freed, 1, __ATOMIC_RELAXED);
}

/* Messages of this process to itself: the numbers do not depend on other processes. */
static void exchange(const Thread* thread) {
  int in = -1;
  for (int i = 0; i < kEach; ++i) {
    MUST(MPI_Send(&i, 1, MPI_INT, check_rank, i, thread->comm));
    MUST(MPI_Recv(&in, 1, MPI_INT, check_rank, i, thread->comm, MPI_STATUS_IGNORE));
    CHECK_EQ(in, i);
  }
}

static void list_everything(void) {
  int number = 0, category = 0;
  CHECK_EQ(MPI_T_pvar_get_num(&number), MPI_SUCCESS);
  for (int i = 0; i < number; i += 31) {
    char name[100], again[100];
    int length = sizeof name, class = 0, index = -1;
    CHECK_EQ(MPI_T_pvar_get_info(i, name, &length, NULL, &class, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
             MPI_SUCCESS);
    CHECK_EQ(MPI_T_pvar_get_index(name, class, &index), MPI_SUCCESS);
    length = sizeof again;
    CHECK_EQ(MPI_T_pvar_get_info(index, again, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
             MPI_SUCCESS);
    CHECK(index == i && strcmp(name, again) == 0, "%s at %d, %s at %d", name, i, again, index);
  }
  CHECK_EQ(MPI_T_category_get_index("p2p", &category), MPI_SUCCESS);
  CHECK_EQ(MPI_T_category_changed(&number), MPI_SUCCESS);
}

static void write_and_read(const Thread* thread) {
  MPI_T_cvar_handle handle;
  int index = -1, count = 0;
  Value value = 200000 + (Value)thread->number, got = 0;
  CHECK_EQ(MPI_T_cvar_get_index("p2p.unexpected_limit", &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_write(handle, &value), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_read(handle, &got), MPI_SUCCESS);
  CHECK(got >= 200000 && got < 200000 + kThreads, "%llu", got);
  CHECK_EQ(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
}

static void* work(void* argument) {
  Thread* thread = argument;
  int event = -1, provided = 0;
  CHECK_EQ(MPI_T_event_get_index("p2p.message_matched", &event), MPI_SUCCESS);
  for (int round = 0; round < kRounds; ++round) {
    MPI_T_event_registration registration;
    Value value = 0, before = 0;
    CHECK_EQ(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
    Pvar mine = pvar_begin("comm.received", MPI_T_PVAR_CLASS_COUNTER, &thread->comm);
    CHECK_EQ(MPI_T_event_handle_alloc(event, NULL, MPI_INFO_NULL, &registration), MPI_SUCCESS);
    CHECK_EQ(
        MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, thread, count_heard),
        MPI_SUCCESS);
    exchange(thread);
    CHECK_EQ(MPI_T_pvar_readreset(of_all, counted_of_all, &value), MPI_SUCCESS);
    thread->shared += value;
    before = pvar_value(&mine, check_rank);
    CHECK_EQ(before, kEach);
    list_everything();
    if (round % 3 == thread->number % 3) write_and_read(thread);
    CHECK_EQ(MPI_T_event_handle_free(registration, thread, count_freed), MPI_SUCCESS);
    exchange(thread);
    CHECK_EQ(pvar_value(&mine, check_rank), before + kEach);
    pvar_end(&mine);
    CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  }
  return NULL;
}

int main(int argc, char** argv) {
  static Thread threads[kThreads];
  pthread_t ids[kThreads];
  int provided = 0, index = -1, count = 0;
  Value rest = 0, sum = 0;
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
  MUST(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
  MUST(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
  MUST(MPI_Comm_size(MPI_COMM_WORLD, &check_size));
  CHECK_EQ(MPI_T_pvar_get_index("transport.self.sent", MPI_T_PVAR_CLASS_COUNTER, &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_session_create(&of_all), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_handle_alloc(of_all, index, NULL, &counted_of_all, &count), MPI_SUCCESS);
  for (int i = 0; i < kThreads; ++i) {
    threads[i].number = i;
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &threads[i].comm));
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  Pvar whole = pvar_begin("transport.self.sent", MPI_T_PVAR_CLASS_COUNTER, NULL);
  const Value first = pvar_value(&whole, 0);
  CHECK_EQ(MPI_T_pvar_start(of_all, counted_of_all), MPI_SUCCESS);
  for (int i = 0; i < kThreads; ++i)
    if (pthread_create(&ids[i], NULL, work, &threads[i]) != 0) return 77;
  for (int i = 0; i < kThreads; ++i) pthread_join(ids[i], NULL);
  CHECK_EQ(MPI_T_pvar_readreset(of_all, counted_of_all, &rest), MPI_SUCCESS);
  const Value all = pvar_value(&whole, 0) - first;
  for (int i = 0; i < kThreads; ++i) {
    sum += threads[i].shared;
    /* Of all threads' messages; one that another thread matched may be told after the registration is gone. */
    CHECK(threads[i].heard > 0, "events");
    CHECK_EQ(threads[i].freed, kRounds);
    MUST(MPI_Comm_free(&threads[i].comm));
  }
  CHECK_EQ(sum + rest, all);
  CHECK(all >= 2ull * kThreads * kRounds * kEach, "%llu messages", all);
  pvar_end(&whole);
  CHECK_EQ(MPI_T_pvar_session_free(&of_all), MPI_SUCCESS);
  const int failed = check_end();
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return failed || check_failures;
}
