/* Every call that reads or writes, with the file pointers that it uses: each rank's data is found where it belongs, and
 * each status says what was moved. */
#include "io.h"

enum { kInts = 24 };

static int value(int rank, int turn, int i) { return rank * 1000000 + turn * 1000 + i; }

static void fill(int* data, int turn) {
  for (int i = 0; i < kInts; i++) data[i] = value(check_rank, turn, i);
}
static void expect(const int* data, int rank, int turn, const char* call) {
  for (int i = 0; i < kInts; i++)
    CHECK(data[i] == value(rank, turn, i), "%s: element %d is %d, not %d", call, i, data[i], value(rank, turn, i));
}
static void expect_all(const MPI_Status* status, const char* call) {
  CHECK(moved(status) == (long long)(kInts * sizeof(int)), "%s: %lld bytes", call, moved(status));
  int cancelled = 1;
  MUST(MPI_Test_cancelled(status, &cancelled));
  CHECK(!cancelled, "%s", call);
}

static int out[kInts], in[kInts];

/* What this process's part of turn `turn` begins at, in ints. */
static MPI_Offset part(int rank, int turn) { return ((MPI_Offset)turn * check_size + rank) * kInts; }

static void explicit_offsets(MPI_File file) {
  MPI_Status status;
  MPI_Request request;
  const int left = (check_rank + check_size - 1) % check_size;
  fill(out, 0);
  MUST(MPI_File_write_at(file, part(check_rank, 0), out, kInts, MPI_INT, &status));
  expect_all(&status, "write_at");
  fill(out, 1);
  MUST(MPI_File_write_at_all(file, part(check_rank, 1), out, kInts, MPI_INT, &status));
  expect_all(&status, "write_at_all");
  fill(out, 2);
  MUST(MPI_File_iwrite_at(file, part(check_rank, 2), out, kInts, MPI_INT, &request));
  MUST(MPI_Wait(&request, &status));
  expect_all(&status, "iwrite_at");
  fill(out, 3);
  MUST(MPI_File_iwrite_at_all(file, part(check_rank, 3), out, kInts, MPI_INT, &request));
  MUST(MPI_Wait(&request, &status));
  expect_all(&status, "iwrite_at_all");
  fill(out, 4);
  MUST(MPI_File_write_at_all_begin(file, part(check_rank, 4), out, kInts, MPI_INT));
  MUST(MPI_File_write_at_all_end(file, out, &status));
  expect_all(&status, "write_at_all_begin");
  file_settle(file);
  MUST(MPI_File_read_at(file, part(left, 0), in, kInts, MPI_INT, &status));
  expect_all(&status, "read_at");
  expect(in, left, 0, "read_at");
  MUST(MPI_File_read_at_all(file, part(left, 1), in, kInts, MPI_INT, &status));
  expect_all(&status, "read_at_all");
  expect(in, left, 1, "read_at_all");
  MUST(MPI_File_iread_at(file, part(left, 2), in, kInts, MPI_INT, &request));
  MUST(MPI_Wait(&request, &status));
  expect_all(&status, "iread_at");
  expect(in, left, 2, "iread_at");
  MUST(MPI_File_iread_at_all(file, part(left, 3), in, kInts, MPI_INT, &request));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  expect(in, left, 3, "iread_at_all");
  MUST(MPI_File_read_at_all_begin(file, part(left, 4), in, kInts, MPI_INT));
  MUST(MPI_File_read_at_all_end(file, in, &status));
  expect_all(&status, "read_at_all_begin");
  expect(in, left, 4, "read_at_all_begin");
  MPI_Offset position = -1;
  MUST(MPI_File_get_position(file, &position));
  CHECK_EQ(position, 0);
}

static void check_position(MPI_File file, MPI_Offset should, const char* call) {
  MPI_Offset position = -1;
  MUST(MPI_File_get_position(file, &position));
  CHECK(position == should, "%s: the pointer is at %lld, not %lld", call, (long long)position, (long long)should);
}

static void own_pointers(MPI_File file) {
  MPI_Status status;
  MPI_Request request;
  const MPI_Offset begin = (MPI_Offset)check_rank * 5 * kInts;
  MUST(MPI_File_seek(file, begin, MPI_SEEK_SET));
  fill(out, 0);
  MUST(MPI_File_write(file, out, kInts, MPI_INT, &status));
  expect_all(&status, "write");
  check_position(file, begin + kInts, "write");
  fill(out, 1);
  MUST(MPI_File_write_all(file, out, kInts, MPI_INT, &status));
  fill(out, 2);
  MUST(MPI_File_iwrite(file, out, kInts, MPI_INT, &request));
  check_position(file, begin + 3 * kInts, "iwrite");
  MUST(MPI_Wait(&request, &status));
  expect_all(&status, "iwrite");
  fill(out, 3);
  MUST(MPI_File_iwrite_all(file, out, kInts, MPI_INT, &request));
  MUST(MPI_Wait(&request, &status));
  fill(out, 4);
  MUST(MPI_File_write_all_begin(file, out, kInts, MPI_INT));
  MUST(MPI_File_write_all_end(file, out, &status));
  expect_all(&status, "write_all_begin");
  check_position(file, begin + 5 * kInts, "write_all_begin");
  file_settle(file);
  MUST(MPI_File_seek(file, -5 * kInts, MPI_SEEK_CUR));
  MUST(MPI_File_read(file, in, kInts, MPI_INT, &status));
  expect(in, check_rank, 0, "read");
  MUST(MPI_File_read_all(file, in, kInts, MPI_INT, &status));
  expect(in, check_rank, 1, "read_all");
  MUST(MPI_File_iread(file, in, kInts, MPI_INT, &request));
  MUST(MPI_Wait(&request, &status));
  expect(in, check_rank, 2, "iread");
  MUST(MPI_File_iread_all(file, in, kInts, MPI_INT, &request));
  MUST(MPI_Wait(&request, &status));
  expect(in, check_rank, 3, "iread_all");
  MUST(MPI_File_read_all_begin(file, in, kInts, MPI_INT));
  MUST(MPI_File_read_all_end(file, in, &status));
  expect(in, check_rank, 4, "read_all_begin");
  MUST(MPI_File_seek(file, -2, MPI_SEEK_END));
  check_position(file, (MPI_Offset)check_size * 5 * kInts - 2, "seek to the end");
  MUST(MPI_File_read(file, in, kInts, MPI_INT, &status));
  CHECK_EQ(moved(&status), 2 * sizeof(int));
  check_position(file, (MPI_Offset)check_size * 5 * kInts, "read at the end");
  MUST(MPI_File_read_all(file, in, kInts, MPI_INT, &status));
  CHECK_EQ(moved(&status), 0);
}

/* In any order: every rank's data is there once. */
static void shared_pointer(MPI_File file) {
  MPI_Status status;
  MPI_Request request;
  MPI_Offset at = -1;
  MUST(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  fill(out, 0);
  MUST(MPI_File_write_shared(file, out, kInts, MPI_INT, &status));
  expect_all(&status, "write_shared");
  fill(out, 1);
  MUST(MPI_File_iwrite_shared(file, out, kInts, MPI_INT, &request));
  MUST(MPI_Wait(&request, &status));
  expect_all(&status, "iwrite_shared");
  file_settle(file);
  MUST(MPI_File_get_position_shared(file, &at));
  CHECK_EQ(at, 2 * check_size * kInts);
  int* const seen = calloc((size_t)check_size * 2, sizeof *seen);
  for (int k = 0; k < 2 * check_size; k++) {
    MUST(MPI_File_read_at(file, k * kInts, in, kInts, MPI_INT, &status));
    const int rank = in[0] / 1000000, turn = in[0] / 1000 % 1000;
    CHECK(rank < check_size && turn < 2, "block %d begins with %d", k, in[0]);
    if (rank < check_size && turn < 2) seen[2 * rank + turn]++;
    expect(in, rank, turn, "write_shared");
  }
  for (int k = 0; k < 2 * check_size; k++) CHECK(seen[k] == 1, "data of rank %d is there %d times", k / 2, seen[k]);
  free(seen);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  int sum = 0, all = 0;
  for (int k = 0; k < 2; k++) {
    MUST(k ? MPI_File_iread_shared(file, in, kInts, MPI_INT, &request)
           : MPI_File_read_shared(file, in, kInts, MPI_INT, &status));
    if (k) MUST(MPI_Wait(&request, &status));
    expect(in, in[0] / 1000000, in[0] / 1000 % 1000, "read_shared");
    sum += in[0] / 1000000 + 1;
  }
  MUST(MPI_Allreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(all, check_size * (check_size + 1));
}

/* As if one rank after the other had called the form with the shared pointer; the amounts differ. */
static void ordered(MPI_File file) {
  MPI_Status status;
  MUST(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  for (int turn = 0; turn < 2; turn++) {
    for (int i = 0; i < kInts; i++) out[i] = value(check_rank, turn, i);
    if (turn == 0) {
      MUST(MPI_File_write_ordered(file, out, check_rank % 3, MPI_INT, &status));
    } else {
      MUST(MPI_File_write_ordered_begin(file, out, check_rank % 3, MPI_INT));
      MUST(MPI_File_write_ordered_end(file, out, &status));
    }
    CHECK_EQ(moved(&status), (long long)sizeof(int) * (check_rank % 3));
  }
  file_settle(file);
  MPI_Offset at = 0;
  for (int turn = 0; turn < 2; turn++) {
    for (int rank = 0; rank < check_size; rank++) {
      MUST(MPI_File_read_at(file, at, in, rank % 3, MPI_INT, &status));
      for (int i = 0; i < rank % 3; i++) CHECK_EQ(in[i], value(rank, turn, i));
      at += rank % 3;
    }
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  MUST(MPI_File_read_ordered(file, in, check_rank % 3, MPI_INT, &status));
  for (int i = 0; i < check_rank % 3; i++) CHECK_EQ(in[i], value(check_rank, 0, i));
  MUST(MPI_File_read_ordered_begin(file, in, check_rank % 3, MPI_INT));
  MUST(MPI_File_read_ordered_end(file, in, &status));
  for (int i = 0; i < check_rank % 3; i++) CHECK_EQ(in[i], value(check_rank, 1, i));
}

/* The large forms move the same. */
static void large_forms(MPI_File file) {
  MPI_Status status;
  fill(out, 7);
  MUST(MPI_File_write_at_c(file, part(check_rank, 0), out, kInts, MPI_INT, &status));
  expect_all(&status, "write_at_c");
  MUST(MPI_File_read_at_all_c(file, part(check_rank, 0), in, kInts, MPI_INT, &status));
  expect(in, check_rank, 7, "read_at_all_c");
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  static void (*const kParts[])(MPI_File) = {explicit_offsets, own_pointers, shared_pointer, ordered, large_forms};
  const char* name = file_name("access");
  for (int atomic = 0; atomic < 2; atomic++) {
    for (size_t k = 0; k < sizeof kParts / sizeof *kParts; k++) {
      MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
      MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
      MUST(MPI_File_set_atomicity(file, atomic));
      kParts[k](file);
      MUST(MPI_Barrier(MPI_COMM_WORLD));
      MUST(MPI_File_close(&file));
      CHECK(file == MPI_FILE_NULL);
    }
  }
  CHECK(access(name, F_OK) != 0, "the file is still there");
  return check_end();
}
