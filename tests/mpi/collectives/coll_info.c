/* An info key chooses the algorithm of a collective on one communicator, wherever a communicator is made with an info
 * object; a name that does not exist is refused, and no communicator is made. */
#include "check.h"

static void use(MPI_Comm comm) {
  int sum = -1, rank, size;
  MUST(MPI_Comm_rank(comm, &rank));
  MUST(MPI_Comm_size(comm, &size));
  MUST(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(sum, size * (size - 1) / 2);
}

static void expect_refused(int code, MPI_Comm made, const char* what) {
  char text[MPI_MAX_ERROR_STRING];
  int class_is, length;
  MUST(MPI_Error_class(code, &class_is));
  MUST(MPI_Error_string(code, text, &length));
  CHECK(class_is == MPI_ERR_ARG, "%s: class %d: %s", what, class_is, text);
  CHECK(strstr(text, "recursive_doubling") != NULL, "%s does not say what there is: %s", what, text);
  CHECK(made == MPI_COMM_NULL, "%s made a communicator", what);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const MPI_Comm world = MPI_COMM_WORLD;
  MPI_Info good, bad;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Group group;
  MPI_Request request;
  MUST(MPI_Info_create(&good));
  MUST(MPI_Info_create(&bad));
  MUST(MPI_Info_set(good, "coll.allreduce.algorithm", "linear"));
  MUST(MPI_Info_set(bad, "coll.allreduce.algorithm", "recursive_dubling"));
  MUST(MPI_Comm_group(world, &group));

  MUST(MPI_Comm_dup_with_info(world, good, &comm));
  use(comm);
  MUST(MPI_Comm_set_info(comm, good));
  use(comm);
  MUST(MPI_Comm_free(&comm));
  MUST(MPI_Comm_idup_with_info(world, good, &comm, &request));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  use(comm);
  MUST(MPI_Comm_free(&comm));
  MUST(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, good, &comm));
  use(comm);
  MUST(MPI_Comm_free(&comm));
  MUST(MPI_Comm_create_from_group(group, "coll_info", good, MPI_ERRORS_RETURN, &comm));
  use(comm);
  MUST(MPI_Comm_free(&comm));

  comm = MPI_COMM_NULL;
  int code = MPI_Comm_dup_with_info(world, bad, &comm);
  expect_refused(code, comm, "MPI_Comm_dup_with_info");
  code = MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, bad, &comm);
  expect_refused(code, comm, "MPI_Comm_split_type");
  use(world);
  MUST(MPI_Group_free(&group));
  MUST(MPI_Info_free(&good));
  MUST(MPI_Info_free(&bad));
  return check_end();
}
