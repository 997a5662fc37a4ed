/* What check.leaks tells of: run by leaks.py, which reads what the library says. The argument:
 *   clean     gives everything back, some of it in attribute callbacks at the end
 *   leaky     keeps a number of objects of each kind
 *   one       only rank 1 keeps something
 *   messages  rank 0 sends what the last rank does not receive
 *   sessions  without the world model: a communicator and a group are kept when the session ends, a datatype for good
 */
#include "check.h"

static void ignore(void* in, void* inout, int* n, MPI_Datatype* type) { (void)in, (void)inout, (void)n, (void)type; }
static void on_error(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code; }

static int free_what_is_cached(MPI_Comm comm, int key, void* value, void* state) {
  (void)comm, (void)key, (void)state;
  MPI_Comm* const cached = value;
  MUST(MPI_Comm_free(cached));
  free(cached);
  return MPI_SUCCESS;
}

__attribute__((noinline)) static void make_communicators(const char* name) {
  MPI_Comm comm;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Comm_set_name(comm, name));
}

/* What MPI_Type_get_contents gives is to be freed too, beside the handle from which the type was made. */
static void look_into_type(int keep) {
  MPI_Datatype column, resized, got[1];
  MPI_Aint places[2];
  MUST(MPI_Type_vector(2, 1, 3, MPI_INT, &column));
  MUST(MPI_Type_create_resized(column, 0, 64, &resized));
  MUST(MPI_Type_get_contents(resized, 0, 2, 1, NULL, places, got));
  MUST(MPI_Type_free(&column));
  if (!keep) MUST(MPI_Type_free(&got[0]));
  MUST(MPI_Type_get_contents(resized, 0, 2, 1, NULL, places, got));
  MUST(MPI_Type_free(&got[0]));
  MUST(MPI_Type_free(&resized));
  MUST(MPI_Type_contiguous(2, MPI_INT, &column));
  MUST(MPI_Type_get_contents(column, 1, 0, 1, (int[1]){0}, NULL, got)); /* MPI_INT: not to be freed */
  MUST(MPI_Type_free(&column));
}

static void leaky(void) {
  static int data[4];
  MPI_Group group, same;
  MPI_Datatype type, named;
  MPI_Request request, persistent, twice;
  MPI_Op op;
  MPI_Errhandler handler;
  MPI_Info info;
  int key;
  look_into_type(1);
  make_communicators("first");
  make_communicators("second");
  MUST(MPI_Comm_group(MPI_COMM_WORLD, &group));
  MUST(MPI_Comm_group(MPI_COMM_WORLD, &same));
  MUST(MPI_Group_free(&same)); /* one handle of two */
  for (int i = 0; i < 3; i++) MUST(MPI_Type_contiguous(i + 1, MPI_INT, &type));
  MUST(MPI_Type_dup(MPI_DOUBLE, &named));
  MUST(MPI_Type_set_name(named, "a column"));
  MUST(MPI_Irecv(data, 1, MPI_INT, check_rank, 77, MPI_COMM_WORLD, &request));
  MUST(MPI_Send_init(data, 1, MPI_INT, check_rank, 78, MPI_COMM_WORLD, &persistent));
  MUST(MPI_Recv_init(data, 1, MPI_INT, check_rank, 79, MPI_COMM_WORLD, &twice));
  MUST(MPI_Request_free(&twice));
  MUST(MPI_Op_create(ignore, 1, &op));
  MUST(MPI_Comm_create_errhandler(on_error, &handler));
  MUST(MPI_Info_create(&info));
  MUST(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
}

static void clean(void) {
  int data[4] = {0}, key, n;
  MPI_Group group, even, none;
  MPI_Datatype type, predefined;
  MPI_Request requests[4];
  MPI_Op op;
  MPI_Errhandler handler, again;
  MPI_Info info;
  MPI_Comm comm, inter, part;
  MUST(MPI_Comm_group(MPI_COMM_WORLD, &group));
  MUST(MPI_Group_incl(group, 1, (int[]){0}, &even));
  MUST(MPI_Group_difference(group, group, &none));
  CHECK(none == MPI_GROUP_EMPTY);
  MPI_Group* groups[] = {&group, &even, &none};
  for (int i = 0; i < 3; i++) MUST(MPI_Group_free(groups[i]));
  MUST(MPI_Type_create_f90_integer(8, &predefined)); /* these are never freed */
  MUST(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &predefined));
  MUST(MPI_Type_contiguous(3, MPI_INT, &type));
  MUST(MPI_Type_commit(&type));
  MUST(MPI_Type_free(&type));
  look_into_type(0);
  MUST(MPI_Isend(data, 1, MPI_INT, check_rank, 1, MPI_COMM_WORLD, &requests[0]));
  MUST(MPI_Irecv(data + 1, 1, MPI_INT, check_rank, 1, MPI_COMM_WORLD, &requests[1]));
  MUST(MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]));
  MUST(MPI_Irecv(data + 2, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[3]));
  MUST(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
  MUST(MPI_Isend(data, 1, MPI_INT, check_rank, 2, MPI_COMM_WORLD, &requests[0]));
  MUST(MPI_Request_free(&requests[0]));
  MUST(MPI_Recv(data + 1, 1, MPI_INT, check_rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  MUST(MPI_Send_init(data, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &requests[0]));
  MUST(MPI_Request_free(&requests[0]));
  MUST(MPI_Op_create(ignore, 1, &op));
  MUST(MPI_Op_free(&op));
  MUST(MPI_Comm_create_errhandler(on_error, &handler));
  MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
  MUST(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &again));
  MUST(MPI_Errhandler_free(&again));
  MUST(MPI_Errhandler_free(&handler));
  MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  MUST(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &again)); /* predefined: needs no freeing */
  MUST(MPI_Comm_get_info(MPI_COMM_WORLD, &info));
  MUST(MPI_Info_get_nkeys(info, &n));
  MUST(MPI_Info_free(&info));
  MUST(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &requests[0]));
  MUST(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  if (check_size > 1) {
    MUST(MPI_Comm_split(comm, check_rank % 2, 0, &part));
    MUST(MPI_Intercomm_create(part, 0, comm, 1 - check_rank % 2, 5, &inter));
    MUST(MPI_Comm_free(&part));
    MUST(MPI_Comm_free(&inter));
  }
  MUST(MPI_Comm_free(&comm));
  MUST(MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &part));
  /* What hangs on MPI_COMM_SELF goes with it, at the end. */
  MPI_Comm* const cached = check_alloc(sizeof *cached);
  MUST(MPI_Comm_dup(MPI_COMM_SELF, cached));
  MUST(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_what_is_cached, &key, NULL));
  MUST(MPI_Comm_set_attr(MPI_COMM_SELF, key, cached));
  MUST(MPI_Comm_free_keyval(&key));
}

static void messages(void) {
  const int data[3] = {1, 2, 3};
  MPI_Comm named, freed;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &named));
  MUST(MPI_Comm_set_name(named, "rows"));
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &freed));
  if (check_rank == 0) {
    MUST(MPI_Send(data, 3, MPI_INT, check_size - 1, 123, MPI_COMM_WORLD));
    MUST(MPI_Send(data, 3, MPI_INT, check_size - 1, 123, MPI_COMM_WORLD));
    MUST(MPI_Send(data, 0, MPI_INT, check_size - 1, 7, named));
    MUST(MPI_Send(data, 1, MPI_CHAR, check_size - 1, 8, freed));
  }
  MUST(MPI_Comm_free(&freed));
}

static int sessions(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Datatype type;
  MUST(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  MUST(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
  MUST(MPI_Comm_create_from_group(group, "kept", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  MUST(MPI_Type_contiguous(2, MPI_INT, &type));
  MUST(MPI_Session_finalize(&session));
  return check_failures != 0;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "clean";
  if (strcmp(what, "sessions") == 0) return sessions();
  MPI_Info before; /* had before the parameter is known */
  MUST(MPI_Info_create(&before));
  MUST(MPI_Info_free(&before));
  check_start(&argc, &argv);
  if (strcmp(what, "clean") == 0) clean();
  if (strcmp(what, "leaky") == 0) leaky();
  if (strcmp(what, "messages") == 0) messages();
  if (strcmp(what, "one") == 0 && check_rank == 1) make_communicators("forgotten");
  if (strcmp(what, "one") == 0 && check_rank != 1) {
    MPI_Comm comm;
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MUST(MPI_Comm_free(&comm));
  }
  return check_end();
}
