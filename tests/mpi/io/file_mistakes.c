/* Failures of files for file_mistakes.py, which looks at what is said:
 *   unlooked FILE   a file that is not there is opened and written, and nothing that a call returns is looked at
 *   told            the text of a call on MPI_FILE_NULL after a failed open
 *   request         a nonblocking access that fails is raised on its file, by MPI_Wait */
#include "io.h"

#include <signal.h>
#include <sys/resource.h>

static MPI_File seen_file;
static int seen_code, seen_times;

static void on_error(MPI_File* file, int* code, ...) {
  seen_file = *file;
  seen_code = *code;
  seen_times++;
}

static void unlooked(const char* name) {
  MPI_File file;
  int value = 1;
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_write_all(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
}

static void told(const char* name) {
  MPI_File file;
  int value = 1, length = 0;
  char text[MPI_MAX_ERROR_STRING];
  const int before = MPI_File_write(MPI_FILE_NULL, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
  CHECK_EQ(class_of(before), MPI_ERR_FILE);
  MUST(MPI_Error_string(before, text, &length));
  CHECK(strstr(text, name) == NULL, "%s", text);
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
  const int code = MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
  CHECK_EQ(class_of(code), MPI_ERR_FILE);
  MUST(MPI_Error_string(code, text, &length));
  CHECK(strstr(text, name) != NULL && strstr(text, "No such file") != NULL, "%s", text);
}

/* The system refuses what lies behind the largest size of a file, which is that of shared memory, too: the limit comes
 * after what the file needs of that. */
static void request(const char* name) {
  enum { kBytes = 1 << 20 };
  const struct rlimit limit = {.rlim_cur = kBytes, .rlim_max = RLIM_INFINITY};
  MPI_Errhandler handler;
  MPI_Request pending;
  char* const data = check_alloc(kBytes);
  memset(data, 1, kBytes);
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  MUST(MPI_File_create_errhandler(on_error, &handler));
  MUST(MPI_File_set_errhandler(file, handler));
  MUST(MPI_Errhandler_free(&handler));
  MUST(MPI_File_iwrite_at(file, 2 * kBytes, data, kBytes, MPI_BYTE, &pending));
  CHECK_CLASS(MPI_Wait(&pending, MPI_STATUS_IGNORE), MPI_ERR_IO);
  CHECK_EQ(seen_times, 1);
  CHECK(seen_file == file);
  CHECK_EQ(class_of(seen_code), MPI_ERR_IO);
  MUST(MPI_File_iwrite_at_all(file, 2 * kBytes, data, check_rank == 0 ? kBytes : 0, MPI_BYTE, &pending));
  CHECK_CLASS(MPI_Wait(&pending, MPI_STATUS_IGNORE), MPI_ERR_IO);
  CHECK_EQ(seen_times, 2);
  CHECK(seen_file == file);
  MUST(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
  MUST(MPI_File_close(&file));
  free(data);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const char* const name = file_name("mistakes");
  if (argc > 2 && strcmp(argv[1], "unlooked") == 0) unlooked(argv[2]);
  if (argc > 1 && strcmp(argv[1], "told") == 0) told(name);
  if (argc > 1 && strcmp(argv[1], "request") == 0) request(name);
  return check_end();
}
