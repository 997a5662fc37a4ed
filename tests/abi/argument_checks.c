/* Wrong arguments: each gives the standard's error class, and a sentence with the argument's name and value, through the
 * error handler of the communicator. Runs on any number of ranks. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int wrong = 0;

static void expect(const char* what, int code, int wanted_class, const char* wanted_text) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0, error_class = -1;
  MPI_Error_class(code, &error_class);
  MPI_Error_string(code, text, &length);
  if (error_class == wanted_class && strstr(text, wanted_text) != NULL) return;
  printf("%s: class %d (wanted %d), text \"%s\" (wanted \"%s\")\n", what, error_class, wanted_class, text, wanted_text);
  wrong++;
}
#define EXPECT(call, error_class, text) expect(#call, call, error_class, text)

static int handler_calls = 0, handler_code = 0;
static MPI_Comm handler_comm;
static void handler(MPI_Comm* comm, int* code, ...) {
  handler_calls++;
  handler_comm = *comm;
  handler_code = *code;
}

static void point_to_point(int size) {
  int data[4] = {1, 2, 3, 4}, flag, count;
  char wanted[128];
  MPI_Request request = MPI_REQUEST_NULL, stale;
  MPI_Request requests[2];
  MPI_Datatype type;
  MPI_Comm dup;
  MPI_Status status;
  const MPI_Comm world = MPI_COMM_WORLD;

  snprintf(wanted, sizeof wanted, "argument dest is %d, but communicator 'MPI_COMM_WORLD' has ranks 0..%d", size, size - 1);
  EXPECT(MPI_Send(data, 1, MPI_INT, size, 0, world), MPI_ERR_RANK, wanted);
  EXPECT(MPI_Send(data, 1, MPI_INT, MPI_ANY_SOURCE, 0, world), MPI_ERR_RANK, "MPI_ANY_SOURCE is for receiving only");
  EXPECT(MPI_Send(data, -3, MPI_INT, 0, 0, world), MPI_ERR_COUNT, "argument count is -3");
  EXPECT(MPI_Send_c(data, -3000000000, MPI_INT, 0, 0, world), MPI_ERR_COUNT, "argument count is -3000000000");
  EXPECT(MPI_Send(data, 1, MPI_INT, 0, -7, world), MPI_ERR_TAG, "argument tag is -7");
  EXPECT(MPI_Send(data, 1, MPI_INT, 0, MPI_ANY_TAG, world), MPI_ERR_TAG, "MPI_ANY_TAG is for receiving only");
  EXPECT(MPI_Send(data, 1, MPI_DATATYPE_NULL, 0, 0, world), MPI_ERR_TYPE, "argument datatype is MPI_DATATYPE_NULL");
  EXPECT(MPI_Send(data, 1, (MPI_Datatype)MPI_SUM, 0, 0, world), MPI_ERR_TYPE, "argument datatype is 0x21");
  EXPECT(MPI_Send(NULL, 1, MPI_INT, 0, 0, world), MPI_ERR_BUFFER, "argument buf is null");
  EXPECT(MPI_Send(MPI_IN_PLACE, 1, MPI_INT, 0, 0, world), MPI_ERR_BUFFER, "argument buf is MPI_IN_PLACE");
  EXPECT(MPI_Recv(data, 1, MPI_INT, -5, 0, world, &status), MPI_ERR_RANK, "argument source is -5");
  EXPECT(MPI_Recv(data, 1, MPI_INT, 0, -9, world, &status), MPI_ERR_TAG, "argument tag is -9");
  EXPECT(MPI_Irecv(data, 1, MPI_INT, 0, 0, world, NULL), MPI_ERR_ARG, "argument request is a null pointer");
  EXPECT(MPI_Iprobe(0, 0, world, NULL, &status), MPI_ERR_ARG, "argument flag is a null pointer");
  EXPECT(MPI_Wait(NULL, &status), MPI_ERR_ARG, "argument request is a null pointer");
  EXPECT(MPI_Waitall(-1, requests, MPI_STATUSES_IGNORE), MPI_ERR_COUNT, "argument count is -1");
  EXPECT(MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE), MPI_ERR_ARG, "argument array_of_requests is a null pointer");
  EXPECT(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &count), MPI_ERR_ARG, "argument status is a null pointer");

  MPI_Type_contiguous(2, MPI_INT, &type);
  EXPECT(MPI_Send(data, 1, type, 0, 0, world), MPI_ERR_TYPE, "that was not committed");
  MPI_Type_commit(&type);
  MPI_Type_free(&type);
  if (type != MPI_DATATYPE_NULL) printf("MPI_Type_free left the handle\n"), wrong++;

  MPI_Comm_dup(MPI_COMM_SELF, &dup);
  MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
  EXPECT(MPI_Send(data, 1, MPI_INT, 1, 0, dup), MPI_ERR_RANK, "has ranks 0..0");
  { MPI_Comm freed = dup;
    MPI_Comm_free(&dup);
    EXPECT(MPI_Send(data, 1, MPI_INT, 0, 0, freed), MPI_ERR_COMM, "freed already"); }

  MPI_Irecv(data, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
  stale = request;
  MPI_Send(data + 1, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
  MPI_Wait(&request, &status);
  requests[0] = MPI_REQUEST_NULL;
  requests[1] = stale;
  EXPECT(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST, "array_of_requests[1] is");
  EXPECT(MPI_Test(&stale, &flag, &status), MPI_ERR_REQUEST, "freed already");

  /* Truncation is found when the message arrives; completion reports it on the request's communicator. */
  MPI_Irecv(data, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &request);
  MPI_Send(data, 3, MPI_INT, 0, 4, MPI_COMM_SELF);
  EXPECT(MPI_Wait(&request, &status), MPI_ERR_TRUNCATE, "12");
  if (request != MPI_REQUEST_NULL) printf("a failed wait left the request\n"), wrong++;
}

static void collectives(int rank, int size) {
  int data[4] = {0}, out[4], counts[1] = {-2};
  const MPI_Comm world = MPI_COMM_WORLD;
  EXPECT(MPI_Bcast(data, 1, MPI_INT, size, world), MPI_ERR_ROOT, "argument root is");
  EXPECT(MPI_Bcast(data, 1, MPI_INT, MPI_ROOT, world), MPI_ERR_ROOT, "argument root is -4");
  EXPECT(MPI_Bcast(data, -1, MPI_INT, 0, world), MPI_ERR_COUNT, "argument count is -1");
  EXPECT(MPI_Allreduce(data, out, 1, MPI_INT, MPI_OP_NULL, world), MPI_ERR_OP, "argument op is MPI_OP_NULL");
  EXPECT(MPI_Allreduce(data, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, world), MPI_ERR_BUFFER, "argument recvbuf is MPI_IN_PLACE");
  EXPECT(MPI_Allgatherv(data, 1, MPI_INT, out, counts, data, MPI_INT, MPI_COMM_SELF), MPI_ERR_COUNT, "recvcounts[0] is -2");
  EXPECT(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM, "argument comm is MPI_COMM_NULL");
  EXPECT(MPI_Barrier((MPI_Comm)MPI_INT), MPI_ERR_COMM, "no predefined communicator");
  /* Not significant: in place, and on ranks that are not the root. */
  EXPECT(MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, out, 1, MPI_INT, MPI_COMM_SELF), MPI_SUCCESS, "");
  if (rank == 0)
    EXPECT(MPI_Gather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, NULL, 0, MPI_INT, 0, world), MPI_SUCCESS, "");
  else
    EXPECT(MPI_Gather(data, 0, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, 0, world), MPI_SUCCESS, "");
  if (rank != 0)
    EXPECT(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, NULL, 0, MPI_INT, 0, world), MPI_ERR_BUFFER, "sendbuf is MPI_IN_PLACE");
}

static void others(void) {
  int n;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Group group;
  MPI_Errhandler mine;
  EXPECT(MPI_Comm_size(MPI_COMM_WORLD, NULL), MPI_ERR_ARG, "argument size is a null pointer");
  EXPECT(MPI_Comm_get_name(MPI_COMM_WORLD, NULL, &n), MPI_ERR_ARG, "argument comm_name is a null pointer");
  EXPECT(MPI_Group_size(MPI_GROUP_NULL, &n), MPI_ERR_GROUP, "argument group is MPI_GROUP_NULL");
  EXPECT(MPI_Info_set(MPI_INFO_NULL, "a", "b"), MPI_ERR_INFO, "argument info is MPI_INFO_NULL");
  EXPECT(MPI_Type_size(MPI_DATATYPE_NULL, &n), MPI_ERR_TYPE, "argument datatype is MPI_DATATYPE_NULL");
  EXPECT(MPI_Type_contiguous(-1, MPI_INT, (MPI_Datatype*)name), MPI_ERR_COUNT, "argument count is -1");
  EXPECT(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER, "MPI_ERRHANDLER_NULL");
  EXPECT(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN, "MPI_Win_fence");
  EXPECT(MPI_Group_free(NULL), MPI_ERR_ARG, "argument group is a null pointer");

  /* A handler of the program sees the communicator and the code. */
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  EXPECT(MPI_Ssend(name, 1, MPI_CHAR, -9, 0, MPI_COMM_WORLD), MPI_ERR_RANK, "argument dest is -9");
  if (handler_calls != 1 || handler_comm != MPI_COMM_WORLD || handler_code != MPI_ERR_RANK)
    printf("the error handler saw %d calls, code %d\n", handler_calls, handler_code), wrong++;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&mine);
  MPI_Group_free(&group);
}

static void integer_handles(void) {
  MPI_Comm dup;
  MPI_Datatype type;
  MPI_Comm_dup(MPI_COMM_SELF, &dup);
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  if (MPI_Comm_toint(MPI_COMM_WORLD) != 0x101 || MPI_Comm_fromint(0x101) != MPI_COMM_WORLD) printf("WORLD\n"), wrong++;
  if (MPI_Comm_fromint(MPI_Comm_toint(dup)) != dup || MPI_Comm_toint(dup) < 4096) printf("toint of a communicator\n"), wrong++;
  if (MPI_Type_fromint(MPI_Type_toint(type)) != type) printf("toint of a datatype\n"), wrong++;
  if (MPI_Request_fromint(MPI_Request_toint(MPI_REQUEST_NULL)) != MPI_REQUEST_NULL) printf("toint of null\n"), wrong++;
  EXPECT(MPI_Barrier(MPI_Comm_fromint(-5)), MPI_ERR_COMM, "argument comm is");
  MPI_Type_free(&type);
  MPI_Comm_free(&dup);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  point_to_point(size);
  collectives(rank, size);
  others();
  integer_handles();
  MPI_Finalize();
  if (rank == 0) printf("%d mistakes\n", wrong);
  return wrong != 0;
}
