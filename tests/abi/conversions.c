/* Handles and statuses of Fortran, with mpi.h and the library of C alone: each conversion there and back, under both
 * its names, called and through its address. C89 and C++98. */
#include <mpi.h>
#include <stdio.h>

static int failures = 0;

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                             \
    }                                                                         \
  } while (0)

/* A handle there and back; the null handle is one of them. */
#define BOTH_WAYS(Class, Handle, handle, null)                   \
  do {                                                           \
    MPI_Fint (*const c2f)(Handle) = MPI_##Class##_c2f;           \
    Handle (*const f2c)(MPI_Fint) = MPI_##Class##_f2c;           \
    const MPI_Fint number = MPI_##Class##_c2f(handle);           \
    CHECK(number == MPI_##Class##_toint(handle));                \
    CHECK(MPI_##Class##_f2c(number) == (handle));                \
    CHECK(PMPI_##Class##_c2f(handle) == number);                 \
    CHECK(PMPI_##Class##_f2c(number) == (handle));               \
    CHECK(c2f(handle) == number && f2c(number) == (handle));     \
    CHECK(MPI_##Class##_f2c(MPI_##Class##_c2f(null)) == (null)); \
  } while (0)

static void check_handles(void) {
  MPI_Comm comm;
  MPI_Group group;
  MPI_Datatype type;
  MPI_Request request;
  MPI_Info info;
  int value = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_group(comm, &group);
  MPI_Type_contiguous(3, MPI_INT, &type);
  MPI_Recv_init(&value, 1, MPI_INT, 0, 0, comm, &request);
  MPI_Info_create(&info);
  BOTH_WAYS(Comm, MPI_Comm, comm, MPI_COMM_NULL);
  BOTH_WAYS(Comm, MPI_Comm, MPI_COMM_WORLD, MPI_COMM_NULL);
  BOTH_WAYS(Group, MPI_Group, group, MPI_GROUP_NULL);
  BOTH_WAYS(Type, MPI_Datatype, type, MPI_DATATYPE_NULL);
  BOTH_WAYS(Type, MPI_Datatype, MPI_DOUBLE_PRECISION, MPI_DATATYPE_NULL);
  BOTH_WAYS(Request, MPI_Request, request, MPI_REQUEST_NULL);
  BOTH_WAYS(Info, MPI_Info, info, MPI_INFO_NULL);
  BOTH_WAYS(Op, MPI_Op, MPI_SUM, MPI_OP_NULL);
  BOTH_WAYS(Errhandler, MPI_Errhandler, MPI_ERRORS_RETURN, MPI_ERRHANDLER_NULL);
  BOTH_WAYS(Message, MPI_Message, MPI_MESSAGE_NO_PROC, MPI_MESSAGE_NULL);
  BOTH_WAYS(Session, MPI_Session, MPI_SESSION_NULL, MPI_SESSION_NULL);
  BOTH_WAYS(Win, MPI_Win, MPI_WIN_NULL, MPI_WIN_NULL);
  BOTH_WAYS(File, MPI_File, MPI_FILE_NULL, MPI_FILE_NULL);
  MPI_Info_free(&info);
  MPI_Request_free(&request);
  MPI_Type_free(&type);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
}

/* Whether a status has what check_statuses() wrote, hidden parts included. */
static int is_ours(const MPI_Status* status) {
  int count = -1, cancelled = -1;
  MPI_Get_count(status, MPI_INT, &count);
  MPI_Test_cancelled(status, &cancelled);
  return status->MPI_SOURCE == 3 && status->MPI_TAG == 14 && status->MPI_ERROR == MPI_ERR_RANK && count == 7 &&
         cancelled == 1;
}

static void check_statuses(void) {
  MPI_Status status, other;
  MPI_F08_status f08;
  MPI_Fint f[MPI_F_STATUS_SIZE];
  MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Recv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  MPI_Status_set_elements(&status, MPI_INT, 7);
  MPI_Status_set_cancelled(&status, 1);
  status.MPI_SOURCE = 3;
  status.MPI_TAG = 14;
  status.MPI_ERROR = MPI_ERR_RANK;
  CHECK(sizeof f == sizeof(MPI_Status) && sizeof f08 == sizeof f);

  CHECK(MPI_Status_c2f(&status, f) == MPI_SUCCESS);
  CHECK(f[MPI_F_SOURCE] == 3 && f[MPI_F_TAG] == 14 && f[MPI_F_ERROR] == MPI_ERR_RANK);
  other = status;
  other.MPI_SOURCE = 0;
  CHECK(MPI_Status_f2c(f, &other) == MPI_SUCCESS && is_ours(&other));
  CHECK(MPI_Status_f2f08(f, &f08) == MPI_SUCCESS && f08.MPI_TAG == 14);
  f[MPI_F_TAG] = 0;
  CHECK(MPI_Status_f082f(&f08, f) == MPI_SUCCESS && f[MPI_F_TAG] == 14);
  f08.MPI_TAG = 0;
  CHECK(PMPI_Status_c2f08(&status, &f08) == MPI_SUCCESS);
  other.MPI_TAG = 0;
  CHECK(PMPI_Status_f082c(&f08, &other) == MPI_SUCCESS && is_ours(&other));
  CHECK(MPI_Status_c2f(MPI_STATUS_IGNORE, f) == MPI_ERR_ARG);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check_handles();
  check_statuses();
  MPI_Finalize();
  return failures != 0;
}
