/* With check.hints and check.datatypes: what mpi_assert_ hints promise is an error to break, on that communicator only.
 */
#include "check.h"

static int class_of(int code) {
  int result;
  MPI_Error_class(code, &result);
  return result;
}

static MPI_Comm with(const char* promise) {
  MPI_Info info;
  MPI_Comm comm;
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, promise, "true"));
  MUST(MPI_Comm_dup_with_info(MPI_COMM_SELF, info, &comm));
  MUST(MPI_Info_free(&info));
  return comm;
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  int data[2] = {1, 2}, flag;
  MPI_Request request;
  MPI_Comm plain, comm = with("mpi_assert_no_any_source");
  CHECK_EQ(class_of(MPI_Recv(data, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE)), MPI_ERR_RANK);
  CHECK_EQ(class_of(MPI_Irecv(data, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &request)), MPI_ERR_RANK);
  CHECK_EQ(class_of(MPI_Iprobe(MPI_ANY_SOURCE, 0, comm, &flag, MPI_STATUS_IGNORE)), MPI_ERR_RANK);
  CHECK_EQ(class_of(MPI_Recv_init(data, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &request)), MPI_ERR_RANK);
  MUST(MPI_Iprobe(0, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE));
  /* A duplicate promises nothing. */
  MUST(MPI_Comm_dup(comm, &plain));
  MUST(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, plain, &flag, MPI_STATUS_IGNORE));
  MUST(MPI_Comm_free(&plain));
  MUST(MPI_Comm_free(&comm));

  comm = with("mpi_assert_no_any_tag");
  CHECK_EQ(class_of(MPI_Recv(data, 1, MPI_INT, 0, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE)), MPI_ERR_TAG);
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MUST(MPI_Error_string(MPI_ERR_TAG, text, &length));
  CHECK(strstr(text, "mpi_assert_no_any_tag"), "%s", text);
  MUST(MPI_Iprobe(MPI_ANY_SOURCE, 0, comm, &flag, MPI_STATUS_IGNORE));
  MUST(MPI_Comm_free(&comm));

  comm = with("mpi_assert_exact_length");
  MUST(MPI_Isend(data, 1, MPI_INT, 0, 0, comm, &request));
  MUST(MPI_Recv(data + 1, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MUST(MPI_Isend(data, 1, MPI_INT, 0, 0, comm, &request));
  CHECK_EQ(class_of(MPI_Recv(data, 2, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE)), MPI_ERR_OTHER);
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MUST(MPI_Comm_free(&comm));
  return check_end();
}
