/* Error handlers, attributes and names of windows and files, as far as a program gets without having one: handlers and
 * keys are made, MPI_FILE_NULL has the handler of files that are not open, and wrong handles are refused. */
#include "check.h"

static int on_file_calls, on_file_code;
static MPI_File on_file_of = MPI_FILE_NULL;
static void on_file(MPI_File* file, int* code, ...) {
  on_file_calls++;
  on_file_of = *file;
  on_file_code = *code;
}
static int on_self_calls, on_self_code;
static void on_self(MPI_Comm* comm, int* code, ...) {
  CHECK(*comm == MPI_COMM_SELF);
  on_self_calls++;
  on_self_code = *code;
}
static void on_win(MPI_Win* win, int* code, ...) { CHECK(0, "called for %p, %d", (void*)win, *code); }

/* The call fails with this class, and its sentence holds this. */
static void refused(int code, int wanted, const char* part) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0, mpi_class = 0;
  MUST(MPI_Error_class(code, &mpi_class));
  MUST(MPI_Error_string(code, text, &length));
  CHECK_EQ(mpi_class, wanted);
  CHECK(strstr(text, part) != NULL, "'%s' in '%s'", part, text);
}

static void handler_of_no_file(void) {
  MPI_Errhandler handler, for_win, got;
  MPI_File file = MPI_FILE_NULL;
  MUST(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
  CHECK(got == MPI_ERRORS_RETURN);
  MUST(MPI_Errhandler_free(&got));

  /* Whatever the communicators do with theirs, calls on files without a file use that one. */
  MUST(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
  MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
  int code = MPI_File_open(MPI_COMM_WORLD, "/no/such/folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  CHECK(code != MPI_SUCCESS && file == MPI_FILE_NULL);
  refused(MPI_File_get_errhandler((MPI_File)MPI_INT, &got), MPI_ERR_FILE, "argument file is");
  refused(MPI_File_call_errhandler((MPI_File)MPI_INT, MPI_ERR_IO), MPI_ERR_FILE, "argument fh is");

  MUST(MPI_File_create_errhandler(on_file, &handler));
  MUST(MPI_Win_create_errhandler(on_win, &for_win));
  MUST(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
  MUST(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
  CHECK(got == handler);
  MUST(MPI_Errhandler_free(&got));
  MUST(MPI_Errhandler_free(&handler));
  code = MPI_File_delete("/no/such/folder/file", MPI_INFO_NULL);
  CHECK(on_file_calls == 1 && on_file_code == code && on_file_of == MPI_FILE_NULL, "%d calls", on_file_calls);
  refused(MPI_File_set_errhandler(MPI_FILE_NULL, for_win), MPI_ERR_ARG, "was not made for a file");
  refused(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER, "argument errhandler is");
  CHECK_EQ(on_file_calls, 3);
  MUST(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_QUOTA));
  CHECK(on_file_calls == 4 && on_file_code == MPI_ERR_QUOTA, "%d calls", on_file_calls);
  MUST(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  MUST(MPI_Errhandler_free(&for_win));
  MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
}

static int keep(MPI_Win win, int key, void* extra, void* in, void* out, int* flag) {
  (void)win, (void)key, (void)extra, (void)in, (void)out;
  *flag = 0;
  return MPI_SUCCESS;
}

static void no_window(void) {
  MPI_Errhandler handler, for_win, got;
  int key = MPI_KEYVAL_INVALID, other = MPI_KEYVAL_INVALID, fixed = MPI_WIN_SIZE, there = 0, value = 0, length = -1;
  char name[MPI_MAX_OBJECT_NAME];
  void* found;
  MUST(MPI_Comm_create_errhandler(on_self, &handler));
  MUST(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
  MUST(MPI_Errhandler_free(&handler));
  MUST(MPI_Win_create_errhandler(on_win, &for_win));
  MUST(MPI_Win_create_keyval(keep, MPI_WIN_NULL_DELETE_FN, &key, NULL));
  MUST(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &other, NULL));
  CHECK(key != other && key != MPI_KEYVAL_INVALID);

  const MPI_Win wrong[] = {MPI_WIN_NULL, (MPI_Win)MPI_INT, (MPI_Win)MPI_COMM_WORLD};
  const char* const said[] = {"is MPI_WIN_NULL", "no predefined window", "no predefined window"};
  for (int k = 0; k < 3; k++) {
    const int before = on_self_calls;
    refused(MPI_Win_set_attr(wrong[k], key, &value), MPI_ERR_WIN, said[k]);
    refused(MPI_Win_get_attr(wrong[k], MPI_WIN_BASE, &found, &there), MPI_ERR_WIN, said[k]);
    refused(MPI_Win_delete_attr(wrong[k], key), MPI_ERR_WIN, said[k]);
    refused(MPI_Win_get_errhandler(wrong[k], &got), MPI_ERR_WIN, said[k]);
    refused(MPI_Win_set_errhandler(wrong[k], for_win), MPI_ERR_WIN, said[k]);
    refused(MPI_Win_call_errhandler(wrong[k], MPI_ERR_WIN), MPI_ERR_WIN, said[k]);
    refused(MPI_Win_set_name(wrong[k], "name"), MPI_ERR_WIN, said[k]);
    CHECK_EQ(on_self_calls, before + 7);
  }
  CHECK_EQ(on_self_code, MPI_ERR_WIN);
  MUST(MPI_Win_get_name(MPI_WIN_NULL, name, &length));
  CHECK(strcmp(name, "MPI_WIN_NULL") == 0 && length == 12, "'%s', %d", name, length);

  refused(MPI_Win_free_keyval(&fixed), MPI_ERR_KEYVAL, "predefined key");
  refused(MPI_Comm_free_keyval(&key), MPI_ERR_KEYVAL, "not a key for communicators");
  refused(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value), MPI_ERR_KEYVAL, "not a key for communicators");
  refused(MPI_Comm_set_errhandler(MPI_COMM_WORLD, for_win), MPI_ERR_ARG, "was not made for a communicator");
  MUST(MPI_Win_free_keyval(&key));
  MUST(MPI_Win_free_keyval(&other));
  CHECK(key == MPI_KEYVAL_INVALID && other == MPI_KEYVAL_INVALID);
  MUST(MPI_Errhandler_free(&for_win));
  MUST(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  handler_of_no_file();
  no_window();
  return check_end();
}
