/* The examples of the standard's chapter on the tools interface (MPI-5.0, 15.3), with the names of this library: a list
 * of all control variables without MPI_Init, the value of one that is bound to a communicator, a tool of PMPI wrappers
 * that tracks the length of the unexpected message queue in three parts, and one that listens to events. usage:
 * examples_tools list | bound | queue | events */
#include "check.h"

/* --- all control variables, without MPI_Init -----------------------------------------------------------------------
 */

static void list(void) {
  int number = 0, named = 0, provided = 0;
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_get_num(&number), MPI_SUCCESS);
  for (int i = 0; i < number; ++i) {
    char name[100];
    int name_length = sizeof name, bind = 0, verbosity = 0, scope = 0;
    MPI_Datatype type;
    CHECK_EQ(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, NULL, NULL, NULL, &bind, &scope),
             MPI_SUCCESS);
    named += strlen(name) > 0;
  }
  CHECK(number > 90, "%d", number);
  CHECK_EQ(named, number);
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
}

/* --- the value of a control variable that is bound to a communicator
 * -------------------------------------------------- */

static int get_value_comm(int index, MPI_Comm comm, unsigned long long* value) {
  int error, count;
  MPI_T_cvar_handle handle;
  /* The address of the communicator's handle is the object. */
  error = MPI_T_cvar_handle_alloc(index, &comm, &handle, &count);
  if (error != MPI_SUCCESS) return error;
  error = MPI_T_cvar_read(handle, value);
  if (error != MPI_SUCCESS) return error;
  return MPI_T_cvar_handle_free(&handle);
}

static void bound(int* argc, char*** argv) {
  int provided = 0, index = -1;
  unsigned long long value = 77;
  check_start(argc, argv);
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_get_index("comm.eager_limit", &index), MPI_SUCCESS);
  CHECK_EQ(get_value_comm(index, MPI_COMM_WORLD, &value), MPI_SUCCESS);
  CHECK_EQ(value, 0);
  CHECK_EQ(get_value_comm(index, MPI_COMM_NULL, &value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
}

/* --- a tool: the unexpected message queue, at every receive
 * ----------------------------------------------------------- */

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handle;
static int tool = 0, calls = 0;
static unsigned long long longest = 0;

int MPI_Init(int* argc, char*** argv) {
  int number = 0, provided = 0;
  const int error = PMPI_Init(argc, argv);
  if (error != MPI_SUCCESS || !tool) return error;
  CHECK_EQ(PMPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  CHECK_EQ(PMPI_T_pvar_get_num(&number), MPI_SUCCESS);
  int index = -1;
  for (int i = 0; i < number && index < 0; ++i) {
    char name[18]; /* "p2p.unexpected_..." must not match by its beginning */
    int length = sizeof name, verbosity = 0, class = 0, bind = 0, readonly = 0, continuous = 0, atomic = 0;
    MPI_Datatype type;
    MPI_T_enum words;
    CHECK_EQ(PMPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &type, &words, NULL, NULL, &bind, &readonly,
                                  &continuous, &atomic),
             MPI_SUCCESS);
    if (strcmp(name, "comm.unexpected") != 0) continue;
    index = i;
    CHECK_EQ(class, MPI_T_PVAR_CLASS_LEVEL);
    CHECK(type == MPI_UNSIGNED_LONG_LONG, "the type of all counts");
    CHECK_EQ(bind, MPI_T_BIND_MPI_COMM);
  }
  CHECK(index >= 0, "the variable is there");
  CHECK_EQ(PMPI_T_pvar_session_create(&session), MPI_SUCCESS);
  MPI_Comm comm = MPI_COMM_WORLD;
  int count = 0;
  CHECK_EQ(PMPI_T_pvar_handle_alloc(session, index, &comm, &handle, &count), MPI_SUCCESS);
  CHECK_EQ(count, 1);
  (void)PMPI_T_pvar_start(session, handle); /* it runs already */
  return error;
}

int MPI_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (tool && comm == MPI_COMM_WORLD) {
    unsigned long long value = 0;
    CHECK_EQ(PMPI_T_pvar_read(session, handle, &value), MPI_SUCCESS);
    if (value > longest) longest = value;
    ++calls;
  }
  return PMPI_Recv(buf, count, datatype, source, tag, comm, status);
}

int MPI_Finalize(void) {
  if (tool) {
    CHECK_EQ(PMPI_T_pvar_handle_free(session, &handle), MPI_SUCCESS);
    CHECK_EQ(PMPI_T_pvar_session_free(&session), MPI_SUCCESS);
    CHECK_EQ(PMPI_T_finalize(), MPI_SUCCESS);
  }
  return PMPI_Finalize();
}

static void queue(int* argc, char*** argv) {
  enum { kMessages = 10 };
  MPI_Request requests[kMessages];
  char byte = 0;
  tool = 1;
  check_start(argc, argv);
  for (int i = 0; i < kMessages; ++i) MUST(MPI_Isend(&byte, 1, MPI_CHAR, check_rank, i, MPI_COMM_WORLD, &requests[i]));
  int there = 0;
  while (!there) MUST(MPI_Iprobe(check_rank, kMessages - 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE));
  for (int i = 0; i < kMessages; ++i)
    MUST(MPI_Recv(&byte, 1, MPI_CHAR, check_rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  MUST(MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE));
  CHECK_EQ(calls, kMessages);
  CHECK_EQ(longest, kMessages);
}

/* --- a tool that listens to every event there is, and keeps copies
 * ---------------------------------------------------- */

enum { kMostEvents = 64, kMostBytes = 64 };
typedef struct {
  int heard;
  MPI_Count dropped, last;
  char copies[kMostEvents][kMostBytes];
} Kept;

static void keep(MPI_T_event_instance event, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                 void* data) {
  Kept* kept = data;
  (void)registration, (void)safety;
  if (kept->heard < kMostEvents) CHECK_EQ(MPI_T_event_copy(event, kept->copies[kept->heard]), MPI_SUCCESS);
  CHECK_EQ(MPI_T_event_get_timestamp(event, &kept->last), MPI_SUCCESS);
  ++kept->heard;
}

static void keep_dropped(MPI_Count count, MPI_T_event_registration registration, int source, MPI_T_cb_safety safety,
                         void* data) {
  (void)registration, (void)source, (void)safety;
  ((Kept*)data)->dropped += count;
}

static void events(int* argc, char*** argv) {
  static Kept kept;
  int number = 0, provided = 0, there = 0, listening = 0;
  char byte = 0;
  MPI_Request request;
  MPI_T_event_registration registrations[256];
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  CHECK_EQ(MPI_T_event_get_num(&number), MPI_SUCCESS);
  for (int i = 0; i < number && listening < 256; ++i) {
    int bind = 0;
    CHECK_EQ(MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind), MPI_SUCCESS);
    if (bind != MPI_T_BIND_NO_OBJECT) continue;
    MPI_T_event_registration* const r = &registrations[listening++];
    CHECK_EQ(MPI_T_event_handle_alloc(i, NULL, MPI_INFO_NULL, r), MPI_SUCCESS);
    CHECK_EQ(MPI_T_event_set_dropped_handler(*r, keep_dropped), MPI_SUCCESS);
    CHECK_EQ(MPI_T_event_register_callback(*r, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, &kept, keep),
             MPI_SUCCESS);
  }
  CHECK(listening > 0, "%d", listening);
  check_start(argc, argv);
  MUST(MPI_Isend(&byte, 1, MPI_CHAR, 0, 9, MPI_COMM_SELF, &request));
  while (!there) MUST(MPI_Iprobe(0, 9, MPI_COMM_SELF, &there, MPI_STATUS_IGNORE));
  CHECK(kept.heard > 0, "%d", kept.heard);
  MUST(MPI_Recv(&byte, 1, MPI_CHAR, 0, 9, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (int i = 0; i < listening; ++i) CHECK_EQ(MPI_T_event_handle_free(registrations[i], NULL, NULL), MPI_SUCCESS);
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
}

int main(int argc, char** argv) {
  const char* which = argc > 1 ? argv[1] : "list";
  if (strcmp(which, "list") == 0) {
    list();
    return check_failures ? 1 : 0;
  }
  if (strcmp(which, "bound") == 0) bound(&argc, &argv);
  if (strcmp(which, "queue") == 0) queue(&argc, &argv);
  if (strcmp(which, "events") == 0) events(&argc, &argv);
  const int failed = check_end();
  return failed || check_failures;
}
