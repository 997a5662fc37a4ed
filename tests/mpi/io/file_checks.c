/* With check.files: mistakes that would hang, or mix up data, are errors on all ranks, and the file works afterwards.
 */
#include "io.h"

static MPI_File file;

static void still_works(void) {
  int out = check_rank, in = -1;
  MPI_Status status;
  MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  MUST(MPI_File_write_at_all(file, check_rank, &out, 1, MPI_INT, &status));
  file_settle(file);
  MUST(MPI_File_read_at(file, check_rank, &in, 1, MPI_INT, &status));
  CHECK_EQ(in, check_rank);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
}

/* Rank 0 makes another collective call than the others. */
static void different_calls(void) {
  MPI_Status status;
  MPI_Request request;
  int value = 1;
  const int first = check_rank == 0;
  if (check_size == 1) return;
  CHECK_CLASS(first ? MPI_File_write_at_all(file, 0, &value, 1, MPI_INT, &status)
                    : MPI_File_read_at_all(file, 0, &value, 1, MPI_INT, &status),
              MPI_ERR_OTHER);
  CHECK_CLASS(first ? MPI_File_write_at_all(file, 0, &value, 0, MPI_INT, &status)
                    : MPI_File_write_all(file, &value, 0, MPI_INT, &status),
              MPI_ERR_OTHER);
  CHECK_CLASS(first ? MPI_File_sync(file) : MPI_File_set_size(file, 100), MPI_ERR_OTHER);
  CHECK_CLASS(first ? MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL)
                    : MPI_File_write_all(file, &value, 0, MPI_INT, &status),
              MPI_ERR_OTHER);
  CHECK_CLASS(
      first ? MPI_File_write_ordered(file, &value, 1, MPI_INT, &status) : MPI_File_seek_shared(file, 0, MPI_SEEK_SET),
      MPI_ERR_OTHER);
  CHECK_CLASS(first ? MPI_File_set_atomicity(file, 1) : MPI_File_set_info(file, MPI_INFO_NULL), MPI_ERR_OTHER);
  MPI_File other = file;
  CHECK_CLASS(first ? MPI_File_close(&other) : MPI_File_preallocate(file, 10), MPI_ERR_OTHER);
  CHECK(other == file);
  /* A nonblocking call does not match the blocking one. */
  if (first) {
    MUST(MPI_File_iread_at_all(file, 0, &value, 1, MPI_INT, &request));
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_ERR_OTHER);
  } else {
    CHECK_CLASS(MPI_File_read_at_all(file, 0, &value, 1, MPI_INT, &status), MPI_ERR_OTHER);
  }
  still_works();
}

static void hints(const char* name) {
  MPI_Info info;
  MPI_File other;
  char value[16];
  if (check_size == 1) return;
  snprintf(value, sizeof value, "%d", 1 + check_rank);
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, "access_style", value)); /* may differ */
  MUST(MPI_File_set_info(file, info));
  MUST(MPI_Info_set(info, "cb_nodes", value));
  CHECK_CLASS(MPI_File_set_info(file, info), MPI_ERR_NOT_SAME);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", info), MPI_ERR_NOT_SAME);
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, info, &other), MPI_ERR_NOT_SAME);
  CHECK(other == MPI_FILE_NULL);
  MUST(MPI_Info_free(&info));
  still_works();
}

static void shared_pointer(void) {
  MPI_Status status;
  int value = 1;
  if (check_size == 1) return;
  MUST(MPI_File_set_view(file, check_rank, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  CHECK_CLASS(MPI_File_write_shared(file, &value, 1, MPI_INT, &status), MPI_ERR_NOT_SAME);
  CHECK_CLASS(MPI_File_write_ordered(file, &value, 1, MPI_INT, &status), MPI_ERR_NOT_SAME);
  CHECK_CLASS(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
  still_works();
  MUST(MPI_File_write_shared(file, &value, 1, MPI_INT, &status));
  MUST(MPI_File_write_ordered(file, &value, 1, MPI_INT, &status));
}

/* The same arguments without this parameter: file_view_calls.c. */
static void views(void) {
  if (check_size == 1) return;
  CHECK_CLASS(MPI_File_set_view(file, 0, check_rank ? MPI_BYTE : MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
              MPI_ERR_NOT_SAME);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, check_rank ? "native" : "internal", MPI_INFO_NULL),
              MPI_ERR_NOT_SAME);
  CHECK_CLASS(MPI_File_set_view(file, check_rank ? 0 : -1, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
  still_works();
}

static void signatures(void) {
  MPI_Status status;
  MPI_Datatype pair, pairs;
  const int lengths[2] = {1, 1};
  const MPI_Aint at[2] = {0, 8};
  const MPI_Datatype types[2] = {MPI_INT, MPI_FLOAT};
  char data[64] = {0};
  MUST(MPI_Type_create_struct(2, lengths, at, types, &pair));
  MUST(MPI_Type_contiguous(3, pair, &pairs));
  MUST(MPI_Type_commit(&pair));
  MUST(MPI_Type_commit(&pairs));
  MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_CLASS(MPI_File_write_at(file, 0, data, 1, MPI_FLOAT, &status), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_File_write_at_all(file, 0, data, check_rank == 0, MPI_FLOAT, &status), MPI_ERR_TYPE);
  MUST(MPI_File_write_at_all(file, 0, data, 4, MPI_INT, &status));
  MUST(MPI_File_set_view(file, 0, pair, pair, "native", MPI_INFO_NULL));
  CHECK_CLASS(MPI_File_write_at(file, 0, data, 2, MPI_INT, &status), MPI_ERR_TYPE);
  MUST(MPI_File_write_at_all(file, 0, data, check_rank == 0, pairs, &status));
  MUST(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  MUST(MPI_File_write_at_all(file, 0, data, check_rank == 0, pairs, &status));
  MUST(MPI_Type_free(&pair));
  MUST(MPI_Type_free(&pairs));
  still_works();
}

static void requests_left(void) {
  MPI_Request requests[2];
  int values[2] = {1, 2};
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_File_iwrite_at(file, 2 * check_rank, &values[0], 1, MPI_INT, &requests[0]));
  MUST(MPI_File_iwrite_at_all(file, 2 * check_rank + 1, &values[1], 1, MPI_INT, &requests[1]));
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_IO);
  MPI_File other = file;
  CHECK_CLASS(MPI_File_close(&other), MPI_ERR_IO);
  CHECK(other == file);
  MUST(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  still_works();
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const char* name = file_name("checks");
  file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  still_works();
  different_calls();
  hints(name);
  shared_pointer();
  views();
  signatures();
  requests_left();
  MUST(MPI_File_close(&file));
  return check_end();
}
