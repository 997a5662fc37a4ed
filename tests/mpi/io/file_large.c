/* More than 2^31 bytes in one call, by every path that counts them, and offsets behind 2^33. The data goes to and comes
 * from devices that take and give any amount, and one MiB of memory stands for all of it. */
#include "io.h"

enum { kMiB = 1 << 20, kMany = 2100 };

static void expect(const MPI_Status* status, long long should, const char* call) {
  int count = 0;
  MPI_Count elements = -1;
  CHECK(moved(status) == should, "%s: %lld bytes instead of %lld", call, moved(status), should);
  MUST(MPI_Get_count(status, MPI_BYTE, &count));
  CHECK_EQ(count, should > INT32_MAX ? MPI_UNDEFINED : should);
  MUST(MPI_Get_elements_c(status, MPI_BYTE, &elements));
  CHECK_EQ(elements, should);
}

/* `kMany` items of one MiB, all at the same place in memory. */
static MPI_Datatype item_type(void) {
  MPI_Datatype block, item;
  MUST(MPI_Type_contiguous(kMiB, MPI_BYTE, &block));
  MUST(MPI_Type_create_resized(block, 0, 0, &item));
  MUST(MPI_Type_free(&block));
  MUST(MPI_Type_commit(&item));
  return item;
}

static void whole(void) {
  const long long all = (long long)kMany * kMiB;
  MPI_Datatype item = item_type();
  MPI_Status status;
  MPI_Request request;
  MPI_File to, from;
  char* const memory = check_alloc(kMiB);
  memset(memory, 1, kMiB);
  MUST(MPI_File_open(MPI_COMM_WORLD, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &to));
  MUST(MPI_File_open(MPI_COMM_WORLD, "/dev/zero", MPI_MODE_RDONLY, MPI_INFO_NULL, &from));
  MUST(MPI_File_write_at(to, all * check_rank, memory, kMany, item, &status));
  expect(&status, all, "write_at");
  MUST(MPI_File_write_at_all(to, all * check_rank, memory, kMany, item, &status));
  expect(&status, all, "write_at_all");
  MUST(MPI_File_iwrite_at(to, all * check_rank, memory, kMany, item, &request));
  MUST(MPI_Wait(&request, &status));
  expect(&status, all, "iwrite_at");
  MUST(MPI_File_write_shared(to, memory, kMany, item, &status));
  expect(&status, all, "write_shared");
  MUST(MPI_File_read(from, memory, kMany, item, &status));
  expect(&status, all, "read");
  MPI_Offset at = 0;
  MUST(MPI_File_get_position(from, &at));
  CHECK_EQ(at, all);
  MUST(MPI_File_close(&from));
  MUST(MPI_File_close(&to));
  MUST(MPI_Type_free(&item));
  free(memory);
}

/* Small pieces, of which each lies 2^32 bytes behind the one before it. */
static void far_apart(void) {
  enum { kPieces = 5 };
  const MPI_Offset step = (MPI_Offset)1 << 32;
  MPI_File file = file_make(file_name("large"), MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Datatype tile;
  MPI_Status status;
  MPI_Offset at = 0;
  int out[kPieces], in[kPieces];
  for (int i = 0; i < kPieces; i++) out[i] = 100 * check_rank + i;
  MUST(MPI_Type_create_resized(MPI_INT, 0, step, &tile));
  MUST(MPI_Type_commit(&tile));
  MUST(MPI_File_set_view(file, step + 4 * check_rank, MPI_INT, tile, "native", MPI_INFO_NULL));
  MUST(MPI_Type_free(&tile));
  for (int together = 0; together < 2; together++) {
    MUST(together ? MPI_File_write_at_all(file, 0, out, kPieces, MPI_INT, &status)
                  : MPI_File_write_at(file, 0, out, kPieces, MPI_INT, &status));
    CHECK_EQ(moved(&status), sizeof out);
    file_settle(file);
    memset(in, 0, sizeof in);
    MUST(together ? MPI_File_read_at_all(file, 0, in, kPieces, MPI_INT, &status)
                  : MPI_File_read_at(file, 0, in, kPieces, MPI_INT, &status));
    CHECK(memcmp(in, out, sizeof in) == 0);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < kPieces; i++) out[i] += 1000;
  }
  MUST(MPI_File_get_byte_offset(file, kPieces - 1, &at));
  CHECK_EQ(at, kPieces * step + 4 * check_rank);
  MUST(MPI_File_get_size(file, &at));
  CHECK_EQ(at, kPieces * step + 4 * check_size);
  MUST(MPI_File_seek(file, -1, MPI_SEEK_END));
  MUST(MPI_File_read(file, in, 2, MPI_INT, &status));
  CHECK_EQ(moved(&status), 4);
  CHECK_EQ(in[0], 100 * check_rank + 1000 + kPieces - 1);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  whole();
  far_apart();
  return check_end();
}
