/* Control variables (MPI-5.0, 15.3.6). How it is run: before, during, differ, peek. */
#include "check.h"

typedef unsigned long long Value;

static int find(const char* name) {
  int index = -1;
  CHECK_EQ(MPI_T_cvar_get_index(name, &index), MPI_SUCCESS);
  return index;
}

static MPI_T_cvar_handle handle_of(const char* name, int* count) {
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  CHECK_EQ(MPI_T_cvar_handle_alloc(find(name), NULL, &handle, count), MPI_SUCCESS);
  return handle;
}

static Value value_of(const char* name) {
  int count = 0;
  Value value = ~0ull;
  MPI_T_cvar_handle handle = handle_of(name, &count);
  CHECK_EQ(MPI_T_cvar_read(handle, &value), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
  return value;
}

static int int_of(const char* name) {
  int count = 0, value = -1;
  MPI_T_cvar_handle handle = handle_of(name, &count);
  CHECK_EQ(MPI_T_cvar_read(handle, &value), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
  return value;
}

static int set(const char* name, const void* value) {
  int count = 0;
  MPI_T_cvar_handle handle = handle_of(name, &count);
  const int code = MPI_T_cvar_write(handle, value);
  CHECK_EQ(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
  return code;
}

/* Every variable: what is said of it, and that its value can be read. */
static int what_is_said(void) {
  int number = 0;
  CHECK_EQ(MPI_T_cvar_get_num(&number), MPI_SUCCESS);
  for (int i = 0; i < number; ++i) {
    char name[128], text[2048];
    int name_length = sizeof name, text_length = sizeof text, verbosity = 0, bind = 0, scope = 0, index = -1, count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum words = MPI_T_ENUM_NULL;
    CHECK_EQ(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &words, text, &text_length, &bind, &scope),
             MPI_SUCCESS);
    CHECK_EQ(name_length, strlen(name) + 1);
    CHECK(name_length < 100, "%s: tools have 100 characters", name);
    CHECK_EQ(text_length, strlen(text) + 1);
    CHECK(text_length > 10, "%s says '%s'", name, text);
    CHECK(type == MPI_INT || type == MPI_UNSIGNED_LONG_LONG || type == MPI_COUNT || type == MPI_DOUBLE ||
              type == MPI_CHAR,
          "%s", name);
    CHECK((words != MPI_T_ENUM_NULL) == (type == MPI_INT), "%s", name);
    CHECK(scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ, "%s", name);
    CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL, "%s", name);
    CHECK_EQ(MPI_T_cvar_get_index(name, &index), MPI_SUCCESS);
    CHECK_EQ(index, i);
    if (bind != MPI_T_BIND_NO_OBJECT) continue;
    MPI_T_cvar_handle handle = handle_of(name, &count);
    CHECK_EQ(count, type == MPI_CHAR ? 1024 : 1);
    union {
      int number;
      Value value;
      double real;
      char text[1024];
    } value;
    memset(&value, 0x7f, sizeof value);
    CHECK_EQ(MPI_T_cvar_read(handle, &value), MPI_SUCCESS);
    if (type == MPI_INT) {
      int of = 0, item = -1, length = sizeof text;
      CHECK_EQ(MPI_T_enum_get_info(words, &of, NULL, NULL), MPI_SUCCESS);
      CHECK(value.number >= 0 && value.number < of, "%s is %d", name, value.number);
      CHECK_EQ(MPI_T_enum_get_item(words, value.number, &item, text, &length), MPI_SUCCESS);
      CHECK_EQ(item, value.number);
      CHECK(length > 1, "%s: a word", name);
    }
    if (type == MPI_CHAR) CHECK(strlen(value.text) < 1024, "%s is a text with an end", name);
    CHECK_EQ(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
  }
  return number;
}

/* How many of one allreduce on `comm` go round a ring. */
static Value rings(MPI_Comm comm) {
  static int ones[1024], sums[1024];
  int index = -1, count = 0;
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  Value calls = 0;
  CHECK_EQ(MPI_T_pvar_get_index("coll.allreduce.ring", MPI_T_PVAR_CLASS_COUNTER, &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_start(session, handle), MPI_SUCCESS);
  MUST(MPI_Allreduce(ones, sums, 1024, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(MPI_T_pvar_read(session, handle, &calls), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
  return calls;
}

/* Tools that set variables by name take a handle of each variable first, for no object, and give up when one fails. */
static void a_handle_of_each(void) {
  int number = 0, count = 0;
  CHECK_EQ(MPI_T_cvar_get_num(&number), MPI_SUCCESS);
  MPI_T_cvar_handle* handles = check_alloc((size_t)number * sizeof *handles);
  for (int i = 0; i < number; ++i) {
    CHECK(MPI_T_cvar_handle_alloc(i, NULL, &handles[i], &count) == MPI_SUCCESS, "variable %d", i);
    CHECK(count >= 1, "variable %d has %d elements", i, count);
  }
  const Value before = value_of("p2p.eager_limit"), wanted = 4321;
  CHECK_EQ(MPI_T_cvar_write(handles[find("p2p.eager_limit")], &wanted), MPI_SUCCESS);
  CHECK_EQ(value_of("p2p.eager_limit"), wanted);
  CHECK_EQ(MPI_T_cvar_write(handles[find("p2p.eager_limit")], &before), MPI_SUCCESS);
  for (int i = 0; i < number; ++i) CHECK_EQ(MPI_T_cvar_handle_free(&handles[i]), MPI_SUCCESS);
  free(handles);
}

/* What is written before MPI_Init is in force afterwards. */
static void before(int* argc, char*** argv) {
  const Value eager = 12345, wrong = ~0ull;
  const int yes = 1, no_choice = 7;
  const char text[1024] = "ring";
  const int known = what_is_said();
  CHECK_EQ(set("p2p.eager_limit", &wrong), MPI_T_ERR_INVALID); /* beyond the range */
  CHECK_EQ(set("p2p.eager_limit", &eager), MPI_SUCCESS);
  CHECK_EQ(set("check.collectives", &no_choice), MPI_T_ERR_INVALID);
  CHECK_EQ(set("check.collectives", &yes), MPI_SUCCESS);
  CHECK_EQ(set("coll.allreduce.algorithm", text), MPI_SUCCESS);
  CHECK_EQ(set("mpiexec.kill_grace", &eager), MPI_T_ERR_CVAR_SET_NEVER);
  CHECK_EQ(value_of("p2p.eager_limit"), eager);
  check_start(argc, argv);
  CHECK(what_is_said() >= known, "the list only grows");
  CHECK_EQ(value_of("p2p.eager_limit"), eager);
  CHECK_EQ(int_of("check.collectives"), 1);
  CHECK_EQ(rings(MPI_COMM_WORLD), 1); /* in force */
  /* Read once, so it is too late for good. */
  CHECK_EQ(set("check.collectives", &yes), MPI_T_ERR_CVAR_SET_NEVER);
  CHECK_EQ(set("coll.allreduce.algorithm", text), MPI_T_ERR_CVAR_SET_NEVER);
}

/* How messages of `bytes` travel on `comm`: by rendezvous, as the counter says. */
static int is_rendezvous(MPI_Comm comm, int bytes) {
  int index = -1, count = 0;
  Value handshakes = 0;
  char* data = check_alloc((size_t)bytes);
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  CHECK_EQ(MPI_T_pvar_get_index("p2p.handshakes", MPI_T_PVAR_CLASS_COUNTER, &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_start(session, handle), MPI_SUCCESS);
  memset(data, 1, (size_t)bytes);
  MPI_Request receive;
  MUST(MPI_Irecv(data, bytes, MPI_CHAR, (check_rank + check_size - 1) % check_size, 5, comm, &receive));
  MUST(MPI_Barrier(comm));
  CHECK_EQ(MPI_T_pvar_reset(session, handle), MPI_SUCCESS);
  char* sent = check_alloc((size_t)bytes);
  MUST(MPI_Send(sent, bytes, MPI_CHAR, (check_rank + 1) % check_size, 5, comm));
  CHECK_EQ(MPI_T_pvar_read(session, handle, &handshakes), MPI_SUCCESS);
  MUST(MPI_Wait(&receive, MPI_STATUS_IGNORE));
  MUST(MPI_Barrier(comm));
  CHECK_EQ(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
  free(data);
  free(sent);
  return handshakes != 0;
}

/* What is not frozen takes effect when it is written; what is bound to a communicator, there alone. */
static void during(int* argc, char*** argv) {
  enum { kBytes = 3000 };
  const Value low = 200, high = 8000, wrong = 1ull << 40, none = 0;
  const int off = 0;
  MPI_Comm comm = MPI_COMM_NULL, world = MPI_COMM_WORLD;
  MPI_T_cvar_handle here, algorithm;
  int count = 0;
  char text[1024] = "no_such", read[1024];
  a_handle_of_each();
  check_start(argc, argv);
  a_handle_of_each();
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_EQ(set("p2p.eager_limit", &high), MPI_SUCCESS);
  CHECK(!is_rendezvous(MPI_COMM_WORLD, kBytes), "%d bytes are below %llu", kBytes, high);
  CHECK_EQ(set("p2p.eager_limit", &low), MPI_SUCCESS);
  CHECK_EQ(value_of("p2p.eager_limit"), low);
  CHECK(is_rendezvous(MPI_COMM_WORLD, kBytes), "%d bytes are above %llu", kBytes, low);
  CHECK_EQ(set("p2p.eager_limit", &high), MPI_SUCCESS);

  /* Without a communicator there is a handle, but nothing to read; with a null handle there is none. */
  CHECK_EQ(MPI_T_cvar_handle_alloc(find("comm.eager_limit"), NULL, &here, &count), MPI_SUCCESS);
  Value untouched = 7;
  CHECK_EQ(MPI_T_cvar_read(here, &untouched), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(untouched, 7);
  CHECK_EQ(MPI_T_cvar_write(here, &low), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_cvar_handle_free(&here), MPI_SUCCESS);
  MPI_Comm null_comm = MPI_COMM_NULL;
  CHECK_EQ(MPI_T_cvar_handle_alloc(find("comm.eager_limit"), &null_comm, &here, &count), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_cvar_handle_alloc(find("comm.eager_limit"), &comm, &here, &count), MPI_SUCCESS);
  CHECK_EQ(count, 1);
  CHECK_EQ(MPI_T_cvar_write(here, &wrong), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_cvar_write(here, &low), MPI_SUCCESS);
  CHECK(is_rendezvous(comm, kBytes), "this communicator has a limit of its own");
  CHECK(!is_rendezvous(world, kBytes), "no other has");
  CHECK_EQ(MPI_T_cvar_write(here, &none), MPI_SUCCESS);
  CHECK(!is_rendezvous(comm, kBytes), "taken back");

  CHECK_EQ(MPI_T_cvar_handle_alloc(find("comm.allreduce.algorithm"), &comm, &algorithm, &count), MPI_SUCCESS);
  CHECK_EQ(count, 1024);
  CHECK_EQ(MPI_T_cvar_write(algorithm, text), MPI_T_ERR_INVALID);
  memset(text, 'x', sizeof text);
  CHECK_EQ(MPI_T_cvar_write(algorithm, text), MPI_T_ERR_INVALID); /* no end */
  strcpy(text, "ring");
  CHECK_EQ(MPI_T_cvar_write(algorithm, text), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_read(algorithm, read), MPI_SUCCESS);
  CHECK(strcmp(read, "ring") == 0, "%s", read);
  CHECK_EQ(rings(comm), 1);
  CHECK_EQ(rings(world), 0);
  /* Not while a collective of the communicator is under way: the ranks would disagree about which are meant. */
  MPI_Request request;
  int one = 1, sum = 0;
  MUST(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request));
  const int code = MPI_T_cvar_write(algorithm, text);
  CHECK(code == MPI_T_ERR_CVAR_SET_NOT_NOW || code == MPI_SUCCESS, "%d", code); /* it may be over */
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(MPI_T_cvar_write(algorithm, ""), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_handle_free(&algorithm), MPI_SUCCESS);

  CHECK_EQ(set("progress.spin", &low), MPI_SUCCESS);
  CHECK_EQ(value_of("progress.spin"), low);
  MUST(MPI_Barrier(comm));
  CHECK_EQ(set("p2p.single_copy", &off), MPI_T_ERR_CVAR_SET_NEVER);
  /* What a handle is bound to may go away before it. */
  Value value = 0;
  MUST(MPI_Comm_free(&comm));
  CHECK_EQ(MPI_T_cvar_read(here, &value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_cvar_write(here, &value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_cvar_handle_free(&here), MPI_SUCCESS);
}

/* Only one rank writes a value that all must have in common: the job ends with both values and their origins. */
static void differ(int* argc, char*** argv, const char* odd) {
  const int yes = 1;
  if (*odd) CHECK_EQ(set("check.datatypes", &yes), MPI_SUCCESS);
  check_start(argc, argv);
  int mine = 1, theirs = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Sendrecv(&mine, 1, MPI_INT, (check_rank + 1) % check_size, 0, &theirs, 1, MPI_INT,
               (check_rank + check_size - 1) % check_size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "before";
  int provided = 0;
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
  if (strcmp(how, "before") == 0) {
    before(&argc, &argv);
  } else if (strcmp(how, "during") == 0) {
    during(&argc, &argv);
  } else if (strcmp(how, "differ") == 0) {
    differ(&argc, &argv, argc > 2 ? argv[2] : "");
  } else if (strcmp(how, "peek") == 0) {
    /* Set by mpiexec: seen before MPI_Init, without joining. */
    CHECK_EQ(value_of("p2p.unexpected_limit"), 54321);
    CHECK_EQ(int_of("coll.reproducible"), 1);
    if (argc > 2) return check_failures; /* this process is not a rank at all; the next one will be */
    check_start(&argc, &argv);
    CHECK_EQ(value_of("p2p.unexpected_limit"), 54321);
  }
  const int failed = check_end();
  what_is_said();
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return failed || check_failures;
}
