/* Which error handler an error goes to: of calls without an object, and of constructors that are given the handler of
 * what they make. The argument: "world_or_self" and "self" are values of the parameter runtime.errors_without_object,
 * the second together with an initial handler that returns; "sessions" is a process without the world model. */
#include "check.h"

static int world_calls, self_calls, made_calls, seen_code;

static void on_world(MPI_Comm* comm, int* code, ...) {
  CHECK(*comm == MPI_COMM_WORLD);
  seen_code = *code;
  world_calls++;
}
static void on_self(MPI_Comm* comm, int* code, ...) {
  CHECK(*comm == MPI_COMM_SELF);
  seen_code = *code;
  self_calls++;
}
/* Of an object that was not made there is no handle. */
static void on_comm(MPI_Comm* comm, int* code, ...) {
  CHECK(*comm == MPI_COMM_NULL);
  seen_code = *code;
  made_calls++;
}
static void on_session(MPI_Session* session, int* code, ...) {
  CHECK(*session == MPI_SESSION_NULL);
  seen_code = *code;
  made_calls++;
}

static int class_of(int code) {
  int result;
  MPI_Error_class(code, &result);
  return result;
}

/* An error of a call that has no object. */
static void provoke(void) {
  MPI_Datatype type = MPI_INT;
  CHECK_EQ(class_of(MPI_Type_contiguous(-1, MPI_INT, &type)), MPI_ERR_COUNT);
  CHECK(type == MPI_DATATYPE_NULL);
}

static void set_handler(MPI_Comm comm, MPI_Comm_errhandler_function* function) {
  MPI_Errhandler handler;
  MUST(MPI_Comm_create_errhandler(function, &handler));
  MUST(MPI_Comm_set_errhandler(comm, handler));
  MUST(MPI_Errhandler_free(&handler));
}

/* Nothing else is set: programs written for MPI 3 set a handler on MPI_COMM_WORLD alone. */
static void without_object(int of_self_only) {
  set_handler(MPI_COMM_WORLD, on_world);
  provoke();
  CHECK(world_calls == !of_self_only && self_calls == 0, "%d and %d calls", world_calls, self_calls);
  set_handler(MPI_COMM_SELF, on_self);
  provoke();
  CHECK(world_calls == !of_self_only && self_calls == 1, "%d and %d calls", world_calls, self_calls);
  CHECK_EQ(class_of(seen_code), MPI_ERR_COUNT);
  /* Children inherit the handler, and errors on them are their own. */
  MPI_Comm child;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &child));
  MUST(MPI_Comm_set_errhandler(child, MPI_ERRORS_RETURN));
  CHECK_EQ(class_of(MPI_Send(NULL, 0, MPI_INT, -9, 0, child)), MPI_ERR_RANK);
  CHECK(world_calls == !of_self_only && self_calls == 1);
  MUST(MPI_Comm_free(&child));
}

static void session_that_fails(void) {
  MPI_Session session = (MPI_Session)&session;
  MPI_Info info;
  MPI_Errhandler handler, wrong;
  int before;
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, "thread_level", "MPI_THREAD_SOMEHOW"));
  CHECK_EQ(class_of(MPI_Session_init(info, MPI_ERRORS_RETURN, &session)), MPI_ERR_INFO_VALUE);
  CHECK(session == MPI_SESSION_NULL);
  CHECK_EQ(class_of(MPI_Session_init((MPI_Info)MPI_INT, MPI_ERRORS_RETURN, &session)), MPI_ERR_INFO);
  MUST(MPI_Session_create_errhandler(on_session, &handler));
  before = made_calls;
  CHECK_EQ(class_of(MPI_Session_init(info, handler, &session)), MPI_ERR_INFO_VALUE);
  CHECK(made_calls == before + 1 && class_of(seen_code) == MPI_ERR_INFO_VALUE, "%d calls", made_calls - before);
  MUST(MPI_Errhandler_free(&handler));
  if (check_size > 0) { /* one that cannot be called for a session: as if there were none */
    MUST(MPI_Comm_create_errhandler(on_comm, &wrong));
    CHECK_EQ(class_of(MPI_Session_init(info, wrong, &session)), MPI_ERR_ARG);
    CHECK_EQ(made_calls, before + 1);
    MUST(MPI_Errhandler_free(&wrong));
  }
  MUST(MPI_Info_free(&info));
}

static void comm_that_fails(void) {
  char longer[MPI_MAX_STRINGTAG_LEN + 10];
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Errhandler handler;
  const int before = made_calls;
  memset(longer, 'x', sizeof longer);
  longer[sizeof longer - 1] = '\0';
  MUST(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  MUST(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
  MUST(MPI_Comm_create_errhandler(on_comm, &handler));
  CHECK_EQ(class_of(MPI_Comm_create_from_group(group, longer, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm)), MPI_ERR_ARG);
  CHECK(comm == MPI_COMM_NULL && made_calls == before);
  CHECK_EQ(class_of(MPI_Comm_create_from_group(group, longer, MPI_INFO_NULL, handler, &comm)), MPI_ERR_ARG);
  CHECK_EQ(class_of(MPI_Comm_create_from_group(MPI_GROUP_NULL, "x", MPI_INFO_NULL, handler, &comm)), MPI_ERR_GROUP);
  CHECK_EQ(class_of(MPI_Intercomm_create_from_groups(group, 5, group, 0, "x", MPI_INFO_NULL, handler, &comm)),
           MPI_ERR_RANK);
  CHECK_EQ(class_of(MPI_Intercomm_create_from_groups(group, 0, group, 0, longer, MPI_INFO_NULL, handler, &comm)),
           MPI_ERR_ARG);
  CHECK(comm == MPI_COMM_NULL && made_calls == before + 4 && class_of(seen_code) == MPI_ERR_ARG, "%d calls",
        made_calls - before);
  MUST(MPI_Errhandler_free(&handler));
  MUST(MPI_Group_free(&group));
  MUST(MPI_Session_finalize(&session));
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "world_or_self";
  if (strcmp(way, "sessions") == 0) {
    session_that_fails();
    comm_that_fails();
    return check_failures != 0;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &check_size);
  without_object(strcmp(way, "self") == 0);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  world_calls = self_calls = 0;
  session_that_fails();
  comm_that_fails();
  CHECK(world_calls == 0 && self_calls == 0, "%d and %d calls", world_calls, self_calls);
  return check_end();
}
