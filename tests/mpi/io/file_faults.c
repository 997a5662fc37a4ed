/* Files whose bytes cannot all be written or read (components for tests, conformance/io): the error class is the same
 * on all ranks, the rank that knows says why, what can be moved is right, and the file works afterwards.
 *
 *   file_faults room CLASS BYTES     the file has room for BYTES bytes
 *   file_faults bad OFFSET           4 KiB from OFFSET on can be neither read nor written
 *   file_faults lost                 MPI_File_sync and MPI_File_close find that something is lost
 *   file_faults lie OFFSET           the byte is written wrongly, and io.verify is set */
#include "io.h"

enum { kEach = 64, kMany = 4096 };

static char data[kEach * kMany];

/* Every rank's blocks of 64 bytes lie between those of the others. */
static void set_view(MPI_File file, int blocks) {
  MPI_Datatype block, tile;
  MUST(MPI_Type_contiguous(kEach, MPI_CHAR, &block));
  MUST(MPI_Type_create_resized(block, 0, (MPI_Aint)kEach * (check_size + blocks), &tile));
  MUST(MPI_Type_commit(&tile));
  MUST(MPI_File_set_view(file, (MPI_Offset)kEach * check_rank, MPI_CHAR, tile, "native", MPI_INFO_NULL));
  MUST(MPI_Type_free(&block));
  MUST(MPI_Type_free(&tile));
}

/* All ranks have `should`, and one of them names the file, the offset and the system's words. */
static void expect_told(const char* what, int code, int should, const char* name, const char* words) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0, knows = 0, one_knows = 0;
  CHECK(class_of(code) == should, "%s: class %d and not %d", what, class_of(code), should);
  MPI_Error_string(code, text, &length);
  knows = strstr(text, words) != NULL && strstr(text, name) != NULL && strstr(text, "offset") != NULL;
  MUST(MPI_Allreduce(&knows, &one_knows, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  CHECK(one_knows, "%s: no rank says '%s'; this one: %s", what, words, text);
}

static void works_below(MPI_File file, int bytes) {
  char in[kEach];
  MPI_Status status;
  MUST(MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
  const int count = bytes / check_size < kEach ? bytes / check_size : kEach;
  memset(data, 'a' + check_rank, kEach);
  MUST(MPI_File_write_at_all(file, (MPI_Offset)count * check_rank, data, count, MPI_CHAR, &status));
  CHECK_EQ(moved(&status), count);
  file_settle(file);
  MUST(MPI_File_read_at_all(file, (MPI_Offset)count * check_rank, in, count, MPI_CHAR, &status));
  CHECK(memcmp(in, data, (size_t)count) == 0);
}

static void room(const char* name, int error_class, const char* words, int bytes) {
  MPI_Request request;
  MPI_Status status;
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  for (int gaps = 0; gaps < 2; gaps++) {
    set_view(file, gaps);
    expect_told("write_at_all", MPI_File_write_at_all(file, 0, data, sizeof data, MPI_CHAR, &status), error_class, name,
                words);
    MUST(MPI_File_iwrite_at_all(file, 0, data, sizeof data, MPI_CHAR, &request));
    expect_told("iwrite_at_all", MPI_Wait(&request, &status), error_class, name, words);
    MUST(MPI_File_write_at_all_begin(file, 0, data, sizeof data, MPI_CHAR));
    expect_told("write_at_all_end", MPI_File_write_at_all_end(file, data, &status), error_class, name, words);
    expect_told("write_ordered", MPI_File_write_ordered(file, data, sizeof data, MPI_CHAR, &status), error_class, name,
                words);
    MPI_Offset at = 0;
    MUST(MPI_File_get_position_shared(file, &at));
    works_below(file, bytes);
  }
  /* Of one rank: the others go on. */
  set_view(file, 1);
  const int code = MPI_File_write_at(file, 0, data, check_rank == 0 ? (int)sizeof data : 0, MPI_CHAR, &status);
  CHECK_EQ(class_of(code), check_rank == 0 ? error_class : MPI_SUCCESS);
  CHECK_CLASS(MPI_File_preallocate(file, bytes + 1), error_class);
  works_below(file, bytes);
  MUST(MPI_File_close(&file));
}

static void bad(const char* name, long offset) {
  MPI_Status status;
  char* const back = check_alloc(sizeof data);
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  for (int gaps = 0; gaps < 2; gaps++) {
    set_view(file, gaps);
    expect_told("write_at_all", MPI_File_write_at_all(file, 0, data, sizeof data, MPI_CHAR, &status), MPI_ERR_IO, name,
                "Input/output error");
  }
  MUST(MPI_File_set_size(file, (MPI_Offset)sizeof data * check_size));
  for (int gaps = 0; gaps < 2; gaps++) {
    set_view(file, gaps);
    expect_told("read_at_all", MPI_File_read_at_all(file, 0, back, sizeof data, MPI_CHAR, &status), MPI_ERR_IO, name,
                "Input/output error");
  }
  works_below(file, (int)offset);
  MUST(MPI_File_close(&file));
  free(back);
}

static void lost(const char* name) {
  MPI_Status status;
  MPI_File file = file_make(name, MPI_MODE_RDWR);
  MUST(MPI_File_write_at_all(file, 10 * check_rank, data, 10, MPI_CHAR, &status));
  CHECK_CLASS(MPI_File_sync(file), MPI_ERR_IO);
  CHECK_CLASS(MPI_File_close(&file), MPI_ERR_IO);
  CHECK(file == MPI_FILE_NULL);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank == 0) MUST(MPI_File_delete(name, MPI_INFO_NULL));
}

static void lie(const char* name, int offset) {
  MPI_Status status;
  MPI_Request request;
  char words[64];
  snprintf(words, sizeof words, "byte %d of file", offset);
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  for (int gaps = 0; gaps < 2; gaps++) {
    set_view(file, gaps);
    const int code = MPI_File_write_at_all(file, 0, data, sizeof data, MPI_CHAR, &status);
    char text[MPI_MAX_ERROR_STRING];
    int length = 0, knows = 0, one_knows = 0;
    CHECK_EQ(class_of(code), MPI_ERR_IO);
    MPI_Error_string(code, text, &length);
    knows = strstr(text, words) != NULL;
    MUST(MPI_Allreduce(&knows, &one_knows, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(one_knows == 1, "%d ranks say '%s'; this one: %s", one_knows, words, text);
    MUST(MPI_File_iwrite_at_all(file, 0, data, sizeof data, MPI_CHAR, &request));
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_ERR_IO);
  }
  MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
  CHECK_CLASS(MPI_File_write_at_all(file, 0, data, check_rank == 0 ? kMany : 0, MPI_INT, &status), MPI_ERR_IO);
  MUST(MPI_File_write_at_all(file, kMany, data, check_rank == 0 ? kMany : 0, MPI_INT, &status));
  MUST(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const char* const name = file_name("faults");
  const char* const what = argc > 1 ? argv[1] : "";
  for (size_t i = 0; i < sizeof data; i++) data[i] = (char)(i * 7 + (size_t)check_rank);
  if (strcmp(what, "room") == 0) {
    const int is_quota = strcmp(argv[2], "quota") == 0, is_space = strcmp(argv[2], "no_space") == 0;
    room(name,
         is_quota   ? MPI_ERR_QUOTA
         : is_space ? MPI_ERR_NO_SPACE
                    : MPI_ERR_IO,
         is_quota   ? "Disk quota exceeded"
         : is_space ? "No space left on device"
                    : "File too large",
         atoi(argv[3]));
  }
  if (strcmp(what, "bad") == 0) bad(name, atol(argv[2]));
  if (strcmp(what, "lost") == 0) lost(name);
  if (strcmp(what, "lie") == 0) lie(name, atoi(argv[2]));
  return check_end();
}
