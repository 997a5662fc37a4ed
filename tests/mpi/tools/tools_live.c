/* Control variables that can be written while MPI runs: each one takes effect. A variable that is neither read once nor
 * in the table below is a failure of this test: somewhere it has to be shown what writing it does. The argument
 * "crowded": there are more ranks than cores. */
#include "live_files.h"
#include "live_messages.h"
#include "live_waiting.h"

/* Inactive persistent requests count. */
static void coll_limit(const char* name) {
  enum { kLimit = 16 };
  MPI_Request requests[2 * kLimit];
  int made = 0, code = MPI_SUCCESS;
  const Value old = put(name, kLimit);
  for (; made < 2 * kLimit && code == MPI_SUCCESS; made += code == MPI_SUCCESS)
    code = MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, &requests[made]);
  put(name, old);
  CHECK(made > 0 && made <= kLimit, "%d", made);
  CHECK_EQ(class_of_code(code), MPI_ERR_NO_MEM);
  while (made > 0) MUST(MPI_Request_free(&requests[--made]));
}

static void object_limit(const char* name) {
  enum { kLimit = 1024 };
  static MPI_Info infos[2 * kLimit];
  int made = 0, code = MPI_SUCCESS;
  const Value old = put(name, kLimit);
  for (; made < 2 * kLimit && code == MPI_SUCCESS; made += code == MPI_SUCCESS) code = MPI_Info_create(&infos[made]);
  put(name, old);
  CHECK(made > 0 && made <= kLimit, "%d", made);
  CHECK_EQ(class_of_code(code), MPI_ERR_NO_MEM);
  while (made > 0) MUST(MPI_Info_free(&infos[--made]));
}

static void add(void* in, void* inout, int* length, MPI_Datatype* datatype) {
  (void)datatype;
  for (int i = 0; i < *length; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

/* With coll.allreduce.algorithm=ring, which does not keep the order of operands: that it is passed over is logged. */
static void log_level(const char* name) {
  char text[kText], old[kText];
  int length = kText, count = 0, item = -1;
  MPI_T_enum words;
  const int index = index_of(name);
  CHECK_EQ(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, &words, NULL, NULL, NULL, NULL), MPI_SUCCESS);
  CHECK_EQ(MPI_T_enum_get_info(words, &count, NULL, NULL), MPI_SUCCESS);
  FILE* const said = tmpfile();
  const int keep = dup(2);
  CHECK(said != NULL && keep >= 0 && dup2(fileno(said), 2) == 2, "standard error goes to a file");
  for (int i = 0; i < count; ++i) {
    length = kText;
    CHECK_EQ(MPI_T_enum_get_item(words, i, &item, text, &length), MPI_SUCCESS);
    if (strcmp(text, "debug") == 0) write_bytes(name, &item, old);
  }
  MPI_Op op;
  static int ones[1000], sums[1000];
  MUST(MPI_Op_create(add, 0, &op));
  MUST(MPI_Allreduce(ones, sums, 1000, MPI_INT, op, MPI_COMM_WORLD));
  MUST(MPI_Op_free(&op));
  dup2(keep, 2);
  close(keep);
  CHECK_EQ(write_bytes(name, old, NULL), MPI_SUCCESS);
  CHECK(said != NULL && fseek(said, 0, SEEK_END) == 0 && ftell(said) > 0, "nothing is logged");
  if (said) fclose(said);
}

static void handle_limit(const char* name) {
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handles[8];
  int index = -1, count = 0, made = 0;
  CHECK_EQ(MPI_T_pvar_get_index("object.infos", MPI_T_PVAR_CLASS_LEVEL, &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
  const Value old = put(name, 3);
  while (made < 8 && MPI_T_pvar_handle_alloc(session, index, NULL, &handles[made], &count) == MPI_SUCCESS) ++made;
  CHECK_EQ(made, 3);
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, index, NULL, &handles[7], &count), MPI_T_ERR_OUT_OF_HANDLES);
  put(name, old);
  CHECK_EQ(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
}
static void session_limit(const char* name) {
  MPI_T_pvar_session sessions[8];
  int made = 0;
  const Value old = put(name, 3);
  while (made < 8 && MPI_T_pvar_session_create(&sessions[made]) == MPI_SUCCESS) ++made;
  CHECK_EQ(made, 3);
  put(name, old);
  while (made > 0) CHECK_EQ(MPI_T_pvar_session_free(&sessions[--made]), MPI_SUCCESS);
}

/* While a callback runs, the events that its own calls raise wait in the queue. */
static MPI_Comm named = MPI_COMM_NULL;
static int calls_heard = 0;
static void name_often(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                       void* data) {
  enum { kNames = 100 };
  (void)instance, (void)registration, (void)safety, (void)data;
  if (++calls_heard == 1)
    for (int i = 0; i < kNames; ++i) MUST(MPI_Comm_set_name(named, "again"));
}
static void name_once(void) {
  MPI_T_event_registration registration;
  int index = -1;
  calls_heard = 0;
  CHECK_EQ(MPI_T_event_get_index("comm.named", &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_event_handle_alloc(index, &named, MPI_INFO_NULL, &registration), MPI_SUCCESS);
  CHECK_EQ(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, name_often),
           MPI_SUCCESS);
  MUST(MPI_Comm_set_name(named, "first"));
  CHECK_EQ(MPI_T_event_handle_free(registration, NULL, NULL), MPI_SUCCESS);
}
static void event_queue(const char* name) {
  MUST(MPI_Comm_dup(MPI_COMM_SELF, &named));
  const Value old = put(name, 1000);
  CHECK_EQ(grows_by("tools.events_dropped", name_once), 0);
  CHECK_EQ(calls_heard, 101);
  put(name, 16);
  CHECK_EQ(grows_by("tools.events_dropped", name_once), 100 - 16);
  CHECK_EQ(calls_heard, 17);
  put(name, old);
  MUST(MPI_Comm_free(&named));
}

static const struct {
  const char* name;
  void (*test)(const char* name);
} kTests[] = {
    {"log", log_level},
    {"object.limit", object_limit},
    {"p2p.eager_limit", eager_limit},
    {"p2p.get_min", get_min},
    {"p2p.unexpected_limit", unexpected_limit},
    {"p2p.unexpected_total_limit", unexpected_limit},
    {"p2p.request_limit", request_limit},
    {"p2p.shared_post_patience", shared_post_patience},
    {"coll.request_limit", coll_limit},
    {"coll.compare_after", compare_after},
    {"rma.range_elements", range_elements},
    {"io.buffer_bytes", buffer_bytes},
    {"io.sieve_bytes", file_hint},
    {"io.sieve_piece", sieve_piece},
    {"io.cb_buffer_size", file_hint},
    {"io.cb_nodes", file_hint},
    {"io.async_above", async_above},
    {"io.way", way_of_files},
    {"io.map_bytes", map_bytes},
    {"io.collective_buffering", together},
    {"progress.spin", spin},
    {"progress.spin_oversubscribed", spin},
    {"progress.sleep_after", sleep_after},
    {"progress.sleep_after_oversubscribed", sleep_after},
    {"progress.long_yield", long_yield},
    {"progress.long_yield_oversubscribed", long_yield},
    {"progress.yield_retry", yield_retry},
    {"progress.yield_retry_oversubscribed", yield_retry},
    {"progress.yield_retry_most", yield_retry_most},
    {"tools.handle_limit", handle_limit},
    {"tools.session_limit", session_limit},
    {"tools.event_queue", event_queue},
};
enum { kTestCount = sizeof kTests / sizeof *kTests };

static int is_tested(const char* name) {
  for (int i = 0; i < kTestCount; ++i)
    if (strcmp(kTests[i].name, name) == 0) return 1;
  return 0;
}

/* Of each variable of the process: it is in the table, or its text says that it is read once, and it is refused. */
static void all_are_known(void) {
  int number = 0;
  CHECK_EQ(MPI_T_cvar_get_num(&number), MPI_SUCCESS);
  for (int i = 0; i < number; ++i) {
    char name[200], text[4096];
    union {
      char text[kText];
      Value number;
    } value;
    int name_length = sizeof name, text_length = sizeof text, bind = 0, scope = 0;
    CHECK_EQ(MPI_T_cvar_get_info(i, name, &name_length, NULL, NULL, NULL, text, &text_length, &bind, &scope),
             MPI_SUCCESS);
    if (bind != MPI_T_BIND_NO_OBJECT) continue;
    const int once = strstr(text, "Read once") != NULL || scope <= MPI_T_SCOPE_READONLY;
    CHECK(once != is_tested(name), "%s is %s, and there is %s test for it", name, once ? "read once" : "live",
          is_tested(name) ? "a" : "no");
    MPI_T_cvar_handle handle;
    int count = 0;
    CHECK_EQ(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count), MPI_SUCCESS);
    CHECK_EQ(MPI_T_cvar_read(handle, &value), MPI_SUCCESS);
    const int code = MPI_T_cvar_write(handle, &value);
    CHECK(code == (once ? MPI_T_ERR_CVAR_SET_NEVER : MPI_SUCCESS), "%s: %d", name, code);
    CHECK_EQ(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
  }
}

int main(int argc, char** argv) {
  int provided = 0;
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  check_start(&argc, &argv);
  if (argc > 1 && strcmp(argv[1], "crowded") == 0) crowded = 1;
  all_are_known();
  for (int i = 0; i < kTestCount; ++i) {
    kTests[i].test(kTests[i].name);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
  }
  const int failed = check_end();
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return failed || check_failures;
}
