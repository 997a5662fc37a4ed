/* Events (MPI-5.0, 15.3.8): callbacks hear what happened, with fields and times; the one is called that demands least
 * and copes; what is freed hears no more; a queue that is too small drops, and says so. */
#include "check.h"

enum { kMost = 2000, kBytes = 40 };

typedef struct {
  int calls, last_tag, calls_mpi;
  MPI_Count last_time, dropped;
  MPI_T_cb_safety safety;
  MPI_T_event_registration registration;
  int frees_itself, freed;
} Heard;

static MPI_Comm quiet = MPI_COMM_NULL; /* MPI_COMM_SELF's copy, for calls from callbacks */

static void freed(MPI_T_event_registration registration, MPI_T_cb_safety safety, void* data) {
  Heard* heard = data;
  CHECK(registration == heard->registration, "the registration that was freed");
  (void)safety;
  ++heard->freed;
}

static void on_unexpected(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                          void* data) {
  Heard* heard = data;
  unsigned long long context = 0, bytes = 0;
  int source = -1, tag = -1, index = -1;
  char copy[64];
  MPI_Count time = 0, now = 0;
  ++heard->calls;
  heard->safety = safety;
  CHECK(registration == heard->registration, "the registration of the callback");
  CHECK_EQ(MPI_T_event_read(instance, 0, &context), MPI_SUCCESS);
  CHECK_EQ(MPI_T_event_read(instance, 1, &source), MPI_SUCCESS);
  CHECK_EQ(MPI_T_event_read(instance, 2, &tag), MPI_SUCCESS);
  CHECK_EQ(MPI_T_event_read(instance, 3, &bytes), MPI_SUCCESS);
  CHECK_EQ(MPI_T_event_read(instance, 4, &bytes), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_event_read(instance, -1, &bytes), MPI_T_ERR_INVALID_INDEX);
  /* A copy has every field where the type says. */
  MPI_Aint at[4] = {-1, -1, -1, -1};
  MPI_Datatype types[4];
  int fields = 4;
  CHECK_EQ(MPI_T_event_get_index("p2p.message_unexpected", &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_event_get_info(index, NULL, NULL, NULL, types, at, &fields, NULL, NULL, NULL, NULL, NULL),
           MPI_SUCCESS);
  CHECK_EQ(fields, 4);
  CHECK_EQ(MPI_T_event_copy(instance, copy), MPI_SUCCESS);
  CHECK_EQ(memcmp(copy + at[0], &context, 8), 0);
  CHECK_EQ(memcmp(copy + at[1], &source, 4), 0);
  CHECK_EQ(memcmp(copy + at[2], &tag, 4), 0);
  CHECK_EQ(memcmp(copy + at[3], &bytes, 8), 0);
  CHECK_EQ(MPI_T_event_get_source(instance, &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_event_get_timestamp(instance, &time), MPI_SUCCESS);
  CHECK_EQ(MPI_T_source_get_timestamp(index, &now), MPI_SUCCESS);
  CHECK(time <= now && time >= heard->last_time, "%lld after %lld, before %lld", (long long)time,
        (long long)heard->last_time, (long long)now);
  heard->last_time = time;
  heard->last_tag = tag;
  if (heard->calls_mpi) { /* no lock of the library is held */
    int mine = 7, theirs = 0;
    MUST(MPI_Sendrecv(&mine, 1, MPI_INT, 0, 0, &theirs, 1, MPI_INT, 0, 0, quiet, MPI_STATUS_IGNORE));
    CHECK_EQ(theirs, 7);
    heard->calls_mpi = 0;
  }
  if (heard->frees_itself) CHECK_EQ(MPI_T_event_handle_free(registration, heard, freed), MPI_SUCCESS);
}

static void on_dropped(MPI_Count count, MPI_T_event_registration registration, int source, MPI_T_cb_safety safety,
                       void* data) {
  Heard* heard = data;
  (void)registration, (void)safety;
  CHECK_EQ(source, 0);
  heard->dropped += count;
}

static MPI_T_event_registration listen(Heard* heard, MPI_T_cb_safety safety) {
  int index = -1;
  CHECK_EQ(MPI_T_event_get_index("p2p.message_unexpected", &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &heard->registration), MPI_SUCCESS);
  CHECK_EQ(MPI_T_event_register_callback(heard->registration, safety, MPI_INFO_NULL, heard, on_unexpected),
           MPI_SUCCESS);
  return heard->registration;
}

/* `count` messages of this process to itself that no receive has asked for, with the tags `from`, `from` + 1, ... */
static void send_unexpected(int from, int count) {
  static char data[kBytes];
  static MPI_Request requests[kMost];
  for (int i = 0; i < count; ++i) MUST(MPI_Isend(data, kBytes, MPI_CHAR, 0, from + i, MPI_COMM_SELF, &requests[i]));
  int there = 0;
  while (!there) MUST(MPI_Iprobe(0, from + count - 1, MPI_COMM_SELF, &there, MPI_STATUS_IGNORE));
  for (int i = 0; i < count; ++i) MUST(MPI_Recv(data, kBytes, MPI_CHAR, 0, from + i, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  MUST(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
}

static void levels(int threads) {
  const MPI_T_cb_safety here = threads ? MPI_T_CB_REQUIRE_THREAD_SAFE : MPI_T_CB_REQUIRE_NONE;
  Heard plain = {0}, strict = {0}, both = {0};
  listen(&plain, MPI_T_CB_REQUIRE_NONE);
  listen(&strict, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE);
  listen(&both, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE);
  CHECK_EQ(MPI_T_event_register_callback(both.registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, &both,
                                         on_unexpected),
           MPI_SUCCESS);
  plain.calls_mpi = !threads;
  send_unexpected(100, 3);
  /* What copes with less than the level is not called; what copes with everything always is. */
  if (threads) {
    CHECK_EQ(plain.calls, 0);
  } else {
    CHECK(plain.calls >= 3, "%d", plain.calls);
    CHECK_EQ(plain.last_tag, 102);
  }
  CHECK(strict.calls >= 3, "%d", strict.calls);
  CHECK_EQ(strict.safety, here);
  CHECK_EQ(both.calls, strict.calls);
  /* A callback that is taken away is not called, another of the registration is. */
  const int before = both.calls;
  CHECK_EQ(MPI_T_event_register_callback(both.registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL, NULL),
           MPI_SUCCESS);
  send_unexpected(200, 1);
  CHECK(both.calls > before, "the stricter one");
  CHECK_EQ(MPI_T_event_handle_free(plain.registration, &plain, freed), MPI_SUCCESS);
  CHECK_EQ(MPI_T_event_handle_free(strict.registration, &strict, freed), MPI_SUCCESS);
  CHECK_EQ(plain.freed, 1);
  const int after = strict.calls;
  both.frees_itself = 1;
  const int last = both.calls;
  send_unexpected(300, 2);
  CHECK_EQ(strict.calls, after);
  CHECK_EQ(both.calls, last + 1);
  CHECK_EQ(both.freed, 1);
}

/* Messages come in while one MPI call holds the lane: more than the queue has room for. */
static void dropping(void) {
  Heard heard = {0};
  int index = -1, count = 0;
  unsigned long long few = 16;
  MPI_T_cvar_handle handle;
  CHECK_EQ(MPI_T_cvar_get_index("tools.event_queue", &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_write(handle, &few), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
  listen(&heard, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE);
  CHECK_EQ(MPI_T_event_set_dropped_handler(heard.registration, on_dropped), MPI_SUCCESS);
  send_unexpected(1000, kMost);
  send_unexpected(5000, 1); /* tells of those dropped before */
  CHECK(heard.calls + heard.dropped >= kMost + 1, "%d heard, %lld dropped", heard.calls, (long long)heard.dropped);
  CHECK_EQ(heard.last_tag, 5000);
  CHECK_EQ(MPI_T_event_handle_free(heard.registration, NULL, NULL), MPI_SUCCESS);
}

static void what_is_said(void) {
  int number = 0;
  CHECK_EQ(MPI_T_event_get_num(&number), MPI_SUCCESS);
  CHECK(number > 0, "%d", number);
  for (int i = 0; i < number; ++i) {
    char name[100], text[1024];
    int name_length = sizeof name, text_length = sizeof text, verbosity = 0, fields = 8, bind = 0, index = -1;
    MPI_Datatype types[8];
    MPI_Aint at[8];
    MPI_T_enum words = MPI_T_ENUM_NULL;
    MPI_Info info = MPI_INFO_NULL;
    CHECK_EQ(MPI_T_event_get_info(i, name, &name_length, &verbosity, types, at, &fields, &words, &info, text,
                                  &text_length, &bind),
             MPI_SUCCESS);
    CHECK_EQ(name_length, strlen(name) + 1);
    CHECK(text_length > 10, "%s says '%s'", name, text);
    CHECK(fields > 0 && fields <= 8, "%s has %d fields", name, fields);
    for (int f = 0; f < fields; ++f) {
      CHECK(types[f] == MPI_INT || types[f] == MPI_UNSIGNED_LONG_LONG, "%s", name);
      CHECK(f == 0 ? at[0] == 0 : at[f] > at[f - 1], "%s: displacements ascend", name);
    }
    CHECK_EQ(MPI_T_event_get_index(name, &index), MPI_SUCCESS);
    CHECK_EQ(index, i);
    CHECK(info != MPI_INFO_NULL, "%s", name);
    MPI_Info_free(&info);
    /* Less room: as many as fit, and how many there are. */
    int none = 0;
    CHECK_EQ(MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, NULL, &none, NULL, NULL, NULL, NULL, NULL), MPI_SUCCESS);
    CHECK_EQ(none, fields);
  }
  char name[100];
  int length = sizeof name;
  MPI_T_source_order order;
  MPI_Count rate = 0, most = 0, time = 0;
  CHECK_EQ(MPI_T_source_get_info(0, name, &length, NULL, NULL, &order, &rate, &most, NULL), MPI_SUCCESS);
  CHECK_EQ(length, strlen(name) + 1);
  CHECK_EQ(order, MPI_T_SOURCE_UNORDERED);
  CHECK_EQ(rate, 1000000000);
  CHECK_EQ(MPI_T_source_get_timestamp(0, &time), MPI_SUCCESS);
  CHECK(time > 0 && time < most, "%lld", (long long)time);
}

int main(int argc, char** argv) {
  const int threads = argc > 1 && strcmp(argv[1], "threads") == 0;
  int provided = 0;
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  what_is_said();
  if (threads) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
  } else {
    check_start(&argc, &argv);
  }
  MUST(MPI_Comm_dup(MPI_COMM_SELF, &quiet));
  levels(threads);
  dropping();
  MUST(MPI_Comm_free(&quiet));
  const int failed = check_end();
  what_is_said();
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return failed || check_failures;
}
