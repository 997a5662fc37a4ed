/* What is wrong, on all ranks alike: classes, and files that still work afterwards. */
#include "io.h"

#include <fcntl.h>

static void modes(const char* name) {
  static const int kWrong[] = {0,
                               MPI_MODE_RDONLY | MPI_MODE_RDWR,
                               MPI_MODE_RDONLY | MPI_MODE_CREATE,
                               MPI_MODE_RDONLY | MPI_MODE_EXCL,
                               MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL,
                               1 << 20};
  MPI_File file;
  for (size_t k = 0; k < sizeof kWrong / sizeof *kWrong; k++) {
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, kWrong[k], MPI_INFO_NULL, &file), MPI_ERR_AMODE);
    CHECK(file == MPI_FILE_NULL);
  }
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "/", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE);
  if (check_size > 1)
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, check_rank ? MPI_MODE_RDWR : MPI_MODE_WRONLY, MPI_INFO_NULL, &file),
                MPI_ERR_NOT_SAME);
  CHECK_CLASS(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  MUST(MPI_File_close(&file));
  CHECK_CLASS(
      MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY, MPI_INFO_NULL, &file),
      MPI_ERR_FILE_EXISTS);
}

static void accesses(const char* name) {
  MPI_File file;
  MPI_Status status;
  MPI_Offset offset;
  int value = 3, amode = 0;
  char text[MPI_MAX_ERROR_STRING];
  MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  MUST(MPI_File_get_amode(file, &amode));
  CHECK_EQ(amode, MPI_MODE_WRONLY);
  CHECK_CLASS(MPI_File_read(file, &value, 1, MPI_INT, &status), MPI_ERR_ACCESS);
  CHECK_CLASS(MPI_File_write_at(file, -1, &value, 1, MPI_INT, &status), MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_seek(file, 0, 12345), MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_set_size(file, -1), MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "upside", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP);
  CHECK_CLASS(MPI_File_set_view(file, -1, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_CHAR, "native", MPI_INFO_NULL), MPI_ERR_ARG);
  MUST(MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
  CHECK_CLASS(MPI_File_write(file, &value, 1, MPI_INT, &status), MPI_ERR_IO);
  CHECK_CLASS(MPI_File_write_all_end(file, &value, &status), MPI_ERR_IO);
  double begun = 1;
  MUST(MPI_File_write_all_begin(file, &begun, 1, MPI_DOUBLE));
  CHECK_CLASS(MPI_File_write_all(file, &begun, 1, MPI_DOUBLE, &status), MPI_ERR_IO);
  CHECK_CLASS(MPI_File_write_at_all_end(file, &begun, &status), MPI_ERR_IO);
  CHECK_CLASS(MPI_File_close(&file), MPI_ERR_IO);
  MUST(MPI_File_write_all_end(file, &begun, &status));
  CHECK_EQ(moved(&status), sizeof begun);
  MUST(MPI_File_close(&file));
  MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  const int code = MPI_File_write_all(file, &value, 1, MPI_INT, &status);
  CHECK_EQ(class_of(code), MPI_ERR_READ_ONLY);
  int length;
  MUST(MPI_Error_string(code, text, &length));
  CHECK(strstr(text, name) != NULL, "the text does not name the file: %s", text);
  CHECK_CLASS(MPI_File_set_size(file, 0), MPI_ERR_READ_ONLY);
  CHECK_CLASS(MPI_File_preallocate(file, 10), MPI_ERR_READ_ONLY);
  MUST(MPI_File_sync(file));
  MUST(MPI_File_get_size(file, &offset));
  CHECK_EQ(offset, sizeof(double));
  MUST(MPI_File_close(&file));
  CHECK_CLASS(MPI_File_close(&file), MPI_ERR_FILE);
}

/* Displacements that fall, are negative, or overlap in a file that may be written. */
static void filetypes(const char* name) {
  MPI_File file;
  MPI_Datatype type;
  const int ones[2] = {1, 1}, falling[2] = {2, 0}, negative[2] = {-1, 1}, same[2] = {1, 1};
  const int* const kAt[] = {falling, negative, same};
  for (int writable = 0; writable < 2; writable++) {
    MUST(MPI_File_open(MPI_COMM_WORLD, name, writable ? MPI_MODE_RDWR : MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    for (int k = 0; k < 3; k++) {
      MUST(MPI_Type_indexed(2, ones, kAt[k], MPI_INT, &type));
      MUST(MPI_Type_commit(&type));
      const int code = MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL);
      CHECK(class_of(code) == (k == 2 && !writable ? MPI_SUCCESS : MPI_ERR_IO), "%d, %d: class %d", writable, k,
            class_of(code));
      MUST(MPI_Type_free(&type));
    }
    MUST(MPI_File_close(&file));
  }
}

/* Of a pipe only the shared pointer is there, and every rank's data goes through it. */
static void sequential(const char* name) {
  MPI_File file;
  MPI_Status status;
  int value = check_rank, back = -1;
  MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &file));
  CHECK_CLASS(MPI_File_write(file, &value, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_CLASS(MPI_File_write_at(file, 0, &value, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_CLASS(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_CLASS(MPI_File_set_size(file, 0), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
  MUST(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  MUST(MPI_File_write_ordered(file, &value, 1, MPI_INT, &status));
  MUST(MPI_File_close(&file));
  MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &file));
  MUST(MPI_File_read_ordered(file, &back, 1, MPI_INT, &status));
  CHECK_EQ(back, check_rank);
  MUST(MPI_File_close(&file));
}

/* One rank accesses data and the others only agree: no rank waits for what the others never do. */
static void other_calls(const char* name) {
  MPI_File file;
  MPI_Status status;
  int value = check_rank;
  if (check_size == 1) return;
  MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  CHECK_CLASS(
      check_rank == 0 ? MPI_File_write_at_all(file, 0, &value, 1, MPI_INT, &status) : MPI_File_set_size(file, 100),
      MPI_ERR_OTHER);
  MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  MUST(MPI_File_write_at_all(file, check_rank, &value, 1, MPI_INT, &status));
  MUST(MPI_File_close(&file));
}

/* Rank 0 accesses data at its file pointer, the others at offsets: parallel NetCDF does so on ranks without data. */
static void at_pointer_and_offset(const char* name) {
  MPI_File file;
  MPI_Status status;
  int out[2] = {check_rank, 100 + check_rank}, in[2] = {-1, -1};
  const MPI_Offset at = 2 * check_rank;
  MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  MUST(check_rank == 0 ? MPI_File_write_all(file, out, 2, MPI_INT, &status)
                       : MPI_File_write_at_all(file, at, out, 2, MPI_INT, &status));
  CHECK_EQ(moved(&status), sizeof out);
  file_settle(file);
  MUST(MPI_File_seek(file, 0, MPI_SEEK_SET));
  MUST(check_rank == 0 ? MPI_File_read_all(file, in, 2, MPI_INT, &status)
                       : MPI_File_read_at_all(file, at, in, 2, MPI_INT, &status));
  CHECK(in[0] == out[0] && in[1] == out[1], "%d %d", in[0], in[1]);
  MPI_Request request;
  memset(in, 0, sizeof in);
  MUST(MPI_File_seek(file, 0, MPI_SEEK_SET));
  MUST(check_rank == 0 ? MPI_File_iread_all(file, in, 2, MPI_INT, &request)
                       : MPI_File_iread_at_all(file, at, in, 2, MPI_INT, &request));
  MUST(MPI_Wait(&request, &status));
  CHECK(in[0] == out[0] && in[1] == out[1], "%d %d", in[0], in[1]);
  MUST(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const char* name = file_name("errors");
  modes(name);
  accesses(name);
  filetypes(name);
  sequential(name);
  other_calls(name);
  at_pointer_and_offset(name);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank == 0) MUST(MPI_File_delete(name, MPI_INFO_NULL));
  return check_end();
}
