/* Control variables that can be written while MPI runs: each one takes effect. A variable that is neither read once nor
 * in the table below is a failure of this test: somewhere it has to be shown what writing it does. */
#include <time.h>

#include "hear.h"
#include "tests/mpi/io/io.h"

enum { kBytes = 100 * 1000, kText = 1024 };

static int index_of(const char* name) {
  int index = -1;
  CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS, "%s", name);
  return index;
}

/* Writes; returns what the library answers. `old`, if any, gets the value before. */
static int write_bytes(const char* name, const void* value, void* old) {
  MPI_T_cvar_handle handle;
  int count = 0;
  CHECK_EQ(MPI_T_cvar_handle_alloc(index_of(name), NULL, &handle, &count), MPI_SUCCESS);
  if (old) CHECK_EQ(MPI_T_cvar_read(handle, old), MPI_SUCCESS);
  const int code = MPI_T_cvar_write(handle, value);
  CHECK_EQ(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
  return code;
}
static Value put(const char* name, Value value) {
  Value old = 0;
  CHECK(write_bytes(name, &value, &old) == MPI_SUCCESS, "%s = %llu", name, value);
  return old;
}
static void put_choice(const char* name, int choice) {
  CHECK(write_bytes(name, &choice, NULL) == MPI_SUCCESS, "%s = %d", name, choice);
}

static void sleep_ms(int ms) {
  const struct timespec time = {.tv_sec = 0, .tv_nsec = ms * 1000000L};
  nanosleep(&time, NULL);
}
/* Rank 0 waits for the last rank, which comes late. */
static void wait_for_late_one(void) {
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank == check_size - 1) sleep_ms(50);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
}

/* The growth of a counter on rank 0 by a wait. */
static Value grows_by_waiting(const char* counter) {
  Pvar pvar = pvar_begin(counter, MPI_T_PVAR_CLASS_COUNTER, NULL);
  wait_for_late_one();
  const Value grown = pvar_value(&pvar, 0);
  pvar_end(&pvar);
  return check_rank == 0 ? grown : 0;
}
/* A wait counts nothing with `much`, and something with `little`. */
static void changes_waiting(const char* name, Value much, Value little, const char* counter) {
  const Value old = put(name, much);
  /* Which of the two it goes by depends on the cores that the job has. */
  char full[100];
  snprintf(full, sizeof full, "%s_oversubscribed", name);
  const int both = MPI_T_cvar_get_index(full, &(int){0}) == MPI_SUCCESS;
  const Value old_full = both ? put(full, much) : 0;
  const Value none = grows_by_waiting(counter);
  put(name, little);
  if (both) put(full, little);
  const Value some = grows_by_waiting(counter);
  put(name, old);
  if (both) put(full, old_full);
  if (check_rank == 0) CHECK(none == 0 && some > 0, "%s: %s grew by %llu and %llu", name, counter, none, some);
}

static void limit_is(const char* name, const char* variable) {
  const Value old = put(name, 77777);
  Pvar pvar = pvar_begin(variable, MPI_T_PVAR_CLASS_SIZE, NULL);
  CHECK(pvar_value(&pvar, 0) == 77777, "%s", name);
  put(name, old);
  CHECK(pvar_value(&pvar, 0) == old, "%s", name);
  pvar_end(&pvar);
}

static void p2p_limits(const char* name) {
  limit_is(name, strcmp(name, "p2p.request_limit") == 0 ? "p2p.sends_limit" : name);
}
static void object_limit(const char* name) { limit_is(name, name); }
static void coll_limit(const char* name) { limit_is(name, "coll.requests_limit"); }

/* What a message of kBytes adds to a counter of rank 0, which sends it. */
static Value sent_as(const char* counter) {
  static char data[kBytes];
  Pvar pvar = pvar_begin(counter, MPI_T_PVAR_CLASS_COUNTER, NULL);
  if (check_rank == 0) MUST(MPI_Send(data, kBytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD));
  if (check_rank == 1) MUST(MPI_Recv(data, kBytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  const Value grown = pvar_value(&pvar, 0);
  pvar_end(&pvar);
  return grown;
}
static void eager_limit(const char* name) {
  const Value old = put(name, 100);
  const Value handshakes = sent_as("p2p.handshakes");
  put(name, old);
  if (check_rank == 0) CHECK_EQ(handshakes, 1);
}
static void get_min(const char* name) {
  const Value old = put(name, 1ULL << 40);
  const Value fragmented = sent_as("p2p.fragmented"), copies = sent_as("p2p.single_copies");
  put(name, old);
  CHECK_EQ(copies, 0);
  if (check_rank == 0) CHECK_EQ(fragmented, 1);
}

static void spin(const char* name) {
  /* So many empty rounds take longer than the wait. */
  changes_waiting(name, 1000000000, 1, "progress.waits");
}
static void sleep_after(const char* name) {
  const Value hour = 3600ULL * 1000000000;
  /* No yield is so long that a process outside is found to compete: then a wait would sleep at once. */
  const Value old = put("progress.long_yield", hour), old_full = put("progress.long_yield_oversubscribed", hour);
  sleep_ms(50);
  wait_for_late_one();
  changes_waiting(name, hour, 100000, "progress.sleeps");
  put("progress.long_yield", old);
  put("progress.long_yield_oversubscribed", old_full);
}
static void compare_after(const char* name) { changes_waiting(name, 0, 5 * 1000000, "progress.reviews"); }

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

/* The value that a file which is opened now has for a hint. */
static long long hint_of_new_file(const char* key, char* text) {
  MPI_File file = file_make(file_name("hint"), MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Info info;
  int found = 0, room = 100;
  MUST(MPI_File_get_info(file, &info));
  MUST(MPI_Info_get_string(info, key, &room, text, &found));
  CHECK(found, "%s", key);
  MUST(MPI_Info_free(&info));
  MUST(MPI_File_close(&file));
  return atoll(text);
}
static void file_hint(const char* name) {
  char text[100];
  const char* const key = strcmp(name, "io.sieve_bytes") == 0 ? "ind_rd_buffer_size" : name + 3;
  const Value wanted = strcmp(name, "io.cb_nodes") == 0 ? 1 : 65536;
  const Value old = put(name, wanted);
  CHECK(hint_of_new_file(key, text) == (long long)wanted, "%s: %s is %s", name, key, text);
  put(name, old);
}
static void together(const char* name) {
  char text[100];
  put_choice(name, 1);
  hint_of_new_file("collective_buffering", text);
  CHECK(strcmp(text, "false") == 0, "%s", text);
  put_choice(name, 0);
  hint_of_new_file("collective_buffering", text);
  CHECK(strcmp(text, "true") == 0, "%s", text);
}

/* What an access to a file of its own process adds to a counter. */
enum { kWritesPieces, kReadsPieces, kWritesScattered, kNonblocking };
static Value access_adds(int what, const char* counter) {
  enum { kInts = 8192, kPieces = 100 };
  static int data[2 * kInts];
  MPI_File file;
  MPI_Datatype every_fourth, every_second;
  MPI_Request request;
  char name[600];
  snprintf(name, sizeof name, "%s.%d", file_name("access"), check_rank);
  MUST(MPI_Type_vector(kPieces, 1, 4, MPI_INT, &every_fourth));
  MUST(MPI_Type_vector(kInts, 1, 2, MPI_INT, &every_second));
  MUST(MPI_Type_commit(&every_fourth));
  MUST(MPI_Type_commit(&every_second));
  MUST(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &file));
  MUST(MPI_File_write_at(file, 0, data, kInts, MPI_INT, MPI_STATUS_IGNORE));
  Pvar pvar = pvar_begin(counter, MPI_T_PVAR_CLASS_COUNTER, NULL);
  if (what <= kReadsPieces) MUST(MPI_File_set_view(file, 0, MPI_INT, every_fourth, "native", MPI_INFO_NULL));
  if (what == kWritesPieces) MUST(MPI_File_write_at(file, 0, data, kPieces, MPI_INT, MPI_STATUS_IGNORE));
  if (what == kReadsPieces) MUST(MPI_File_read_at(file, 0, data, kPieces, MPI_INT, MPI_STATUS_IGNORE));
  if (what == kWritesScattered) MUST(MPI_File_write_at(file, 0, data, 1, every_second, MPI_STATUS_IGNORE));
  if (what == kNonblocking) {
    MUST(MPI_File_iwrite_at(file, 0, data, 100, MPI_INT, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  const Value added = pvar_value(&pvar, 0);
  pvar_end(&pvar);
  MUST(MPI_File_close(&file));
  MUST(MPI_Type_free(&every_fourth));
  MUST(MPI_Type_free(&every_second));
  return added;
}
static void way_of_files(const char* name) {
  put_choice(name, 1); /* list */
  CHECK_EQ(access_adds(kWritesPieces, "io.sieved"), 0);
  put_choice(name, 2); /* sieve */
  CHECK_EQ(access_adds(kWritesPieces, "io.sieved"), 1);
  put_choice(name, 0);
}
static void differs(const char* name, Value one, Value other, int what, const char* counter) {
  const Value old = put(name, one);
  const Value first = access_adds(what, counter);
  put(name, other);
  const Value second = access_adds(what, counter);
  put(name, old);
  CHECK(first < second, "%s: %llu and %llu", name, first, second);
}
static void sieve_piece(const char* name) { differs(name, 8192, 0, kReadsPieces, "io.pieces"); }
static void buffer_bytes(const char* name) { differs(name, 1 << 20, 4096, kWritesScattered, "io.pieces"); }
static void async_above(const char* name) { differs(name, 65536, 0, kNonblocking, "io.asynchronous"); }

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

/* Nothing outside shows these: when a core is yielded again, which rank looks for a receive, how an accumulate keeps
 * others out, how many events wait. They are shown to be accepted alone. */
static void accepted(const char* name) { put(name, put(name, 1000)); }

static const struct {
  const char* name;
  void (*test)(const char* name);
} kTests[] = {
    {"log", log_level},
    {"object.limit", object_limit},
    {"p2p.eager_limit", eager_limit},
    {"p2p.get_min", get_min},
    {"p2p.unexpected_limit", p2p_limits},
    {"p2p.unexpected_total_limit", p2p_limits},
    {"p2p.request_limit", p2p_limits},
    {"p2p.shared_post_patience", accepted},
    {"coll.request_limit", coll_limit},
    {"coll.compare_after", compare_after},
    {"rma.range_elements", accepted},
    {"io.buffer_bytes", buffer_bytes},
    {"io.sieve_bytes", file_hint},
    {"io.sieve_piece", sieve_piece},
    {"io.cb_buffer_size", file_hint},
    {"io.cb_nodes", file_hint},
    {"io.async_above", async_above},
    {"io.way", way_of_files},
    {"io.collective_buffering", together},
    {"progress.spin", spin},
    {"progress.spin_oversubscribed", accepted},
    {"progress.sleep_after", sleep_after},
    {"progress.sleep_after_oversubscribed", accepted},
    {"progress.long_yield", accepted},
    {"progress.long_yield_oversubscribed", accepted},
    {"progress.yield_retry", accepted},
    {"progress.yield_retry_oversubscribed", accepted},
    {"progress.yield_retry_most", accepted},
    {"tools.handle_limit", handle_limit},
    {"tools.session_limit", session_limit},
    {"tools.event_queue", accepted},
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
  all_are_known();
  for (int i = 0; i < kTestCount; ++i) {
    kTests[i].test(kTests[i].name);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
  }
  const int failed = check_end();
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return failed || check_failures;
}
