/* Error handlers: which one is called, with what; inheritance, replacing, freeing; classes and codes of the user. */
#include "check.h"

static int calls_a, calls_b, seen_code;
static MPI_Comm seen_comm;

static void handler_a(MPI_Comm* comm, int* code, ...) {
  calls_a++;
  seen_comm = *comm;
  seen_code = *code;
}

static void handler_b(MPI_Comm* comm, int* code, ...) {
  calls_b++;
  seen_comm = *comm;
  seen_code = *code;
}

static int provoke(MPI_Comm comm) {
  int value = 0, mpi_class = 0;
  const int code = MPI_Send(&value, 1, MPI_INT, 12345, 0, comm);
  MUST(MPI_Error_class(code, &mpi_class));
  CHECK_EQ(mpi_class, MPI_ERR_RANK);
  return code;
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm a, b, child;
  MPI_Errhandler handle_a, handle_b, got;
  MUST(MPI_Comm_create_errhandler(handler_a, &handle_a));
  MUST(MPI_Comm_create_errhandler(handler_b, &handle_b));
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &a));
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &b));
  MUST(MPI_Comm_set_errhandler(a, handle_a));
  MUST(MPI_Comm_set_errhandler(b, handle_b));

  int code = provoke(a);
  CHECK(calls_a == 1 && calls_b == 0, "%d and %d calls", calls_a, calls_b);
  CHECK(seen_comm == a && seen_code == code);
  code = provoke(b);
  CHECK(calls_a == 1 && calls_b == 1, "%d and %d calls", calls_a, calls_b);
  CHECK(seen_comm == b && seen_code == code);
  provoke(MPI_COMM_WORLD); /* returns; calls no function */
  CHECK(calls_a == 1 && calls_b == 1);

  /* Children inherit; the handle may be freed while communicators use the handler. */
  MUST(MPI_Errhandler_free(&handle_a));
  CHECK(handle_a == MPI_ERRHANDLER_NULL);
  MUST(MPI_Comm_dup(a, &child));
  provoke(child);
  CHECK_EQ(calls_a, 2);
  CHECK(seen_comm == child);
  MUST(MPI_Comm_free(&child));
  MUST(MPI_Comm_split(a, 0, 0, &child));
  provoke(child);
  CHECK_EQ(calls_a, 3);

  /* Save, replace, restore. */
  MUST(MPI_Comm_get_errhandler(child, &got));
  MUST(MPI_Comm_set_errhandler(child, handle_b));
  provoke(child);
  CHECK(calls_a == 3 && calls_b == 2);
  MUST(MPI_Comm_set_errhandler(child, got));
  MUST(MPI_Errhandler_free(&got));
  provoke(child);
  CHECK_EQ(calls_a, 4);
  MUST(MPI_Comm_free(&child));
  MUST(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
  CHECK(got == MPI_ERRORS_RETURN);
  MUST(MPI_Errhandler_free(&got));

  /* Called by hand. */
  MUST(MPI_Comm_call_errhandler(b, MPI_ERR_OTHER));
  CHECK(calls_b == 3 && seen_code == MPI_ERR_OTHER && seen_comm == b);

  /* An error without a communicator goes to MPI_COMM_SELF's handler. */
  MPI_Datatype t;
  MUST(MPI_Comm_set_errhandler(MPI_COMM_SELF, handle_b));
  code = MPI_Type_contiguous(-1, MPI_INT, &t);
  CHECK(calls_b == 4 && seen_comm == MPI_COMM_SELF && seen_code == code, "%d calls", calls_b);
  MUST(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  MUST(MPI_Errhandler_free(&handle_b));
  MUST(MPI_Comm_free(&a));
  MUST(MPI_Comm_free(&b));

  /* Every class is a code, has a text, and maps to itself. */
  for (int k = MPI_SUCCESS; k <= MPI_ERR_SESSION; k++) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0, mpi_class = -1;
    if (MPI_Error_class(k, &mpi_class) != MPI_SUCCESS) continue;
    CHECK_EQ(mpi_class, k);
    MUST(MPI_Error_string(k, text, &length));
    CHECK(length > 0 && length < MPI_MAX_ERROR_STRING && text[length] == '\0', "class %d", k);
  }

  /* The user's own. */
  int my_class, my_code, mpi_class, length, *last, there;
  char text[MPI_MAX_ERROR_STRING];
  MUST(MPI_Add_error_class(&my_class));
  MUST(MPI_Add_error_code(my_class, &my_code));
  CHECK(my_class > MPI_ERR_LASTCODE && my_code > my_class, "%d, %d", my_class, my_code);
  MUST(MPI_Add_error_string(my_code, "the moon is in the wrong phase"));
  MUST(MPI_Error_class(my_code, &mpi_class));
  CHECK_EQ(mpi_class, my_class);
  MUST(MPI_Error_string(my_code, text, &length));
  CHECK(strcmp(text, "the moon is in the wrong phase") == 0, "%s", text);
  MUST(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &there));
  CHECK(there && *last >= my_code);
  return check_end();
}
