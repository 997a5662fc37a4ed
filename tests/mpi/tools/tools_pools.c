/* The pools, caches and queues tell tools how much is in them. The argument "limit": object.limit is 1024, and every
 * kind of object meets it with an error that says so. */
#include "hear.h"

enum { kSome = 10, kMost = 2000 };

static void copy(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)in, (void)inout, (void)length, (void)type;
}
static void handler(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code; }

/* One kind of object: made and freed as the n-th. */
typedef struct {
  const char *what, *variable;
  int (*make)(int n);
  int (*drop)(int n);
} Kind;

static MPI_Group groups[kMost], world_group;
static int make_group(int n) {
  const int mine = check_rank;
  return MPI_Group_incl(world_group, 1, &mine, &groups[n]);
}
static int drop_group(int n) { return MPI_Group_free(&groups[n]); }

static MPI_Info infos[kMost];
static int make_info(int n) { return MPI_Info_create(&infos[n]); }
static int drop_info(int n) { return MPI_Info_free(&infos[n]); }

static MPI_Errhandler handlers[kMost];
static int make_handler(int n) { return MPI_Comm_create_errhandler(handler, &handlers[n]); }
static int drop_handler(int n) { return MPI_Errhandler_free(&handlers[n]); }

static MPI_Op ops[kMost];
static int make_op(int n) { return MPI_Op_create(copy, 1, &ops[n]); }
static int drop_op(int n) { return MPI_Op_free(&ops[n]); }

static MPI_Datatype types[kMost];
static int make_type(int n) { return MPI_Type_contiguous(n + 2, MPI_INT, &types[n]); }
static int drop_type(int n) { return MPI_Type_free(&types[n]); }

static MPI_Session sessions[kMost];
static int make_session(int n) { return MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &sessions[n]); }
static int drop_session(int n) { return MPI_Session_finalize(&sessions[n]); }

static MPI_Comm comms[kMost];
static int make_comm(int n) { return MPI_Comm_dup(MPI_COMM_SELF, &comms[n]); }
static int drop_comm(int n) { return MPI_Comm_free(&comms[n]); }

static const Kind kKinds[] = {
    {"another group", "object.groups", make_group, drop_group},
    {"another info object", "object.infos", make_info, drop_info},
    {"another error handler", "object.errhandlers", make_handler, drop_handler},
    {"an operation", "datatype.operations", make_op, drop_op},
    {"a datatype", "datatype.alive", make_type, drop_type},
    {"another session", "runtime.sessions", make_session, drop_session},
    {"another communicator", "comm.alive", make_comm, drop_comm},
};
enum { kKindCount = sizeof kKinds / sizeof kKinds[0] };

static void objects(const Kind* kind) {
  Pvar alive = pvar_begin(kind->variable, MPI_T_PVAR_CLASS_LEVEL, NULL);
  const Value before = pvar_value(&alive, 0);
  for (int i = 0; i < kSome; ++i) MUST(kind->make(i));
  CHECK(pvar_value(&alive, 0) == before + kSome, "%s: %llu after %llu", kind->variable, pvar_value(&alive, 0), before);
  for (int i = 0; i < kSome; ++i) MUST(kind->drop(i));
  CHECK(pvar_value(&alive, 0) == before, "%s: %llu instead of %llu", kind->variable, pvar_value(&alive, 0), before);
  pvar_end(&alive);
}

/* Objects are made until there are no more. */
static void limit_of(const Kind* kind, int limit) {
  Pvar alive = pvar_begin(kind->variable, MPI_T_PVAR_CLASS_LEVEL, NULL);
  const int before = (int)pvar_value(&alive, 0);
  int made = 0, code = MPI_SUCCESS, class = MPI_SUCCESS, length = 0;
  char text[MPI_MAX_ERROR_STRING];
  for (; made < kMost && code == MPI_SUCCESS; made += code == MPI_SUCCESS) code = kind->make(made);
  CHECK(before + made == limit, "%s: %d and %d more", kind->what, before, made);
  MUST(MPI_Error_class(code, &class));
  CHECK_EQ(class, MPI_ERR_NO_MEM);
  MUST(MPI_Error_string(code, text, &length));
  CHECK(strstr(text, "1024 objects of this kind") != NULL && strstr(text, "object.limit") != NULL, "%s", text);
  CHECK(strstr(text, kind->what) != NULL, "%s: %s", kind->what, text);
  if (made > 0) MUST(kind->drop(--made));
  MUST(kind->make(made++));
  while (made > 0) MUST(kind->drop(--made));
  CHECK_EQ((int)pvar_value(&alive, 0), before);
  pvar_end(&alive);
}

/* What tools have themselves. */
static void of_tools(void) {
  Pvar cvars = pvar_begin("tools.cvar_handles", MPI_T_PVAR_CLASS_LEVEL, NULL);
  Pvar pvars = pvar_begin("tools.pvar_handles", MPI_T_PVAR_CLASS_LEVEL, NULL);
  Pvar open = pvar_begin("tools.sessions", MPI_T_PVAR_CLASS_LEVEL, NULL);
  Pvar registrations = pvar_begin("tools.registrations", MPI_T_PVAR_CLASS_LEVEL, NULL);
  const Value before = pvar_value(&pvars, 0), opened = pvar_value(&open, 0);
  CHECK(before >= 4 && opened >= 4, "%llu handles, %llu sessions", before, opened);
  CHECK_EQ(pvar_value(&cvars, 0), 0);
  CHECK_EQ(pvar_value(&registrations, 0), 0);
  MPI_T_cvar_handle cvar;
  int count = 0;
  CHECK_EQ(MPI_T_cvar_handle_alloc(0, NULL, &cvar, &count), MPI_SUCCESS);
  CHECK_EQ(pvar_value(&cvars, 0), 1);
  CHECK_EQ(MPI_T_cvar_handle_free(&cvar), MPI_SUCCESS);
  CHECK_EQ(pvar_value(&cvars, 0), 0);
  Hear named;
  hear_begin(&named, "comm.named");
  CHECK_EQ(pvar_value(&registrations, 0), 1);
  Pvar raised = pvar_begin("tools.events", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar queued = pvar_begin("tools.events_queued", MPI_T_PVAR_CLASS_LEVEL, NULL);
  Pvar most = pvar_begin("tools.events_queued_peak", MPI_T_PVAR_CLASS_LEVEL, NULL);
  MUST(MPI_Comm_set_name(MPI_COMM_SELF, "self"));
  CHECK_EQ(named.count, 1);
  CHECK_EQ(pvar_value(&raised, 0), 1);
  CHECK_EQ(pvar_value(&queued, 0), 0);
  CHECK(pvar_value(&most, 0) >= 1, "%llu", pvar_value(&most, 0));
  pvar_end(&raised), pvar_end(&queued), pvar_end(&most);
  hear_end(&named);
  CHECK_EQ(pvar_value(&registrations, 0), 0);
  CHECK_EQ(pvar_value(&pvars, 0), before);
  CHECK_EQ(pvar_value(&open, 0), opened);
  pvar_end(&cvars), pvar_end(&pvars), pvar_end(&open), pvar_end(&registrations);
}

static void failures(void) {
  Pvar count = pvar_begin("base.failures", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar rings = pvar_begin("base.failure_rings", MPI_T_PVAR_CLASS_LEVEL, NULL);
  int data = 0;
  MUST(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK(MPI_Send(&data, 1, MPI_INT, 7, 0, MPI_COMM_SELF) != MPI_SUCCESS, "rank 7 of one");
  CHECK(pvar_value(&count, 0) >= 1, "%llu", pvar_value(&count, 0));
  CHECK(pvar_value(&rings, 0) >= 1, "%llu", pvar_value(&rings, 0));
  pvar_end(&count), pvar_end(&rings);
}

/* Decision records, the segment of a communicator, and what its collectives keep. */
static void collectives(void) {
  static double from[1 << 17], to[1 << 17];
  enum { kLength = 1 << 17 };
  Pvar records = pvar_begin("plugin.records", MPI_T_PVAR_CLASS_LEVEL, NULL);
  Pvar dropped = pvar_begin("plugin.records_dropped", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar segments = pvar_begin("coll.shm.segments", MPI_T_PVAR_CLASS_LEVEL, NULL);
  Pvar bytes = pvar_begin("coll.shm.segment_bytes", MPI_T_PVAR_CLASS_LEVEL, NULL);
  Pvar late = pvar_begin("coll.shm.late_starts", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar scratch = pvar_begin("coll.scratch", MPI_T_PVAR_CLASS_LEVEL, NULL);
  Pvar peak = pvar_begin("coll.scratch_peak", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
  MPI_Comm comm;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  const Value before = pvar_value(&segments, 0), size = pvar_value(&bytes, 0), kept = pvar_value(&scratch, 0);
  MUST(MPI_Barrier(comm));
  if (check_size > 1) {
    CHECK_EQ(pvar_value(&segments, 0), before + 1);
    CHECK(pvar_value(&bytes, 0) > size, "%llu", pvar_value(&bytes, 0));
    CHECK(pvar_value(&late, 0) >= 1, "the first collective makes the segment");
  }
  MUST(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  MUST(MPI_Exscan(from, to, kLength, MPI_DOUBLE, MPI_SUM, comm));
  CHECK(pvar_value(&peak, 0) >= pvar_value(&scratch, 0), "%llu", pvar_value(&peak, 0));
  CHECK(pvar_value(&records, 0) > 0, "no decision was recorded");
  CHECK_EQ(pvar_value(&dropped, 0), 0);
  MUST(MPI_Comm_free(&comm));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_EQ(pvar_value(&scratch, 0), kept);
  pvar_end(&records), pvar_end(&dropped), pvar_end(&segments), pvar_end(&bytes), pvar_end(&late), pvar_end(&scratch);
  pvar_end(&peak);
}

/* Requests of MPI_Comm_idup, and the board that ranks publish on. */
static void others(void) {
  Pvar duplications = pvar_begin("comm.duplications", MPI_T_PVAR_CLASS_LEVEL, NULL);
  Pvar board = pvar_begin("launch.native.board", MPI_T_PVAR_CLASS_LEVEL, NULL);
  Pvar board_limit = pvar_begin("launch.native.board_limit", MPI_T_PVAR_CLASS_SIZE, NULL);
  MPI_Comm copies[2];
  MPI_Request requests[2];
  const Value before = pvar_value(&duplications, 0);
  for (int i = 0; i < 2; ++i) MUST(MPI_Comm_idup(MPI_COMM_WORLD, &copies[i], &requests[i]));
  CHECK_EQ(pvar_value(&duplications, 0), before + 2);
  MUST(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  CHECK_EQ(pvar_value(&duplications, 0), before);
  for (int i = 0; i < 2; ++i) MUST(MPI_Comm_free(&copies[i]));
  CHECK(pvar_value(&board, 0) > 0 && pvar_value(&board, 0) < pvar_value(&board_limit, 0), "%llu of %llu",
        pvar_value(&board, 0), pvar_value(&board_limit, 0));
  pvar_end(&duplications), pvar_end(&board), pvar_end(&board_limit);
}

int main(int argc, char** argv) {
  const int limits = argc > 1 && strcmp(argv[1], "limit") == 0;
  int provided = 0;
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  check_start(&argc, &argv);
  MUST(MPI_Comm_group(MPI_COMM_WORLD, &world_group));
  MUST(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  for (int i = 0; i < kKindCount; ++i) {
    if (limits)
      limit_of(&kKinds[i], 1024);
    else
      objects(&kKinds[i]);
  }
  if (!limits) {
    of_tools();
    failures();
    collectives();
    others();
  }
  MUST(MPI_Group_free(&world_group));
  const int failed = check_end();
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return failed || check_failures;
}
