/* Atomic mode: accesses of all ranks to the same scattered bytes are each one step for all others. And hints: what is
 * in force is said, and values that make no sense change nothing. */
#include "io.h"

enum { kInts = 600, kTimes = 60 };

static int data[kInts];

static void fill(int value) {
  for (int i = 0; i < kInts; i++) data[i] = value;
}

/* All of one write. */
static void check_whole(const char* what, int time) {
  for (int i = 1; i < kInts; i++) {
    if (data[i] == data[0]) continue;
    CHECK(data[i] == data[0], "%s %d: item %d is %d, and the first is %d", what, time, i, data[i], data[0]);
    return;
  }
}

static void view_every_third(MPI_File file) {
  MPI_Datatype third;
  MUST(MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &third));
  MUST(MPI_Type_commit(&third));
  MUST(MPI_File_set_view(file, 4, MPI_INT, third, "native", MPI_INFO_NULL));
  MUST(MPI_Type_free(&third));
}

static void overlapping(MPI_File file) {
  MPI_Status status;
  fill(-1);
  MUST(MPI_File_write_at_all(file, 0, data, kInts, MPI_INT, &status));
  check_whole("collective write", 0);
  for (int time = 0; time < kTimes; time++) {
    if ((check_rank + time) % 2 == 0) {
      fill(check_rank * kTimes + time);
      MUST(MPI_File_write_at(file, 0, data, kInts, MPI_INT, &status));
    } else {
      MUST(MPI_File_read_at(file, 0, data, kInts, MPI_INT, &status));
      CHECK_EQ(moved(&status), sizeof data);
      check_whole("read", time);
    }
  }
  for (int time = 0; time < kTimes / 4; time++) {
    MPI_Request request;
    fill(check_rank * kTimes + time);
    if (time % 2) {
      MUST(MPI_File_iwrite_at_all(file, 0, data, kInts, MPI_INT, &request));
      MUST(MPI_Wait(&request, &status));
    } else {
      MUST(MPI_File_write_at_all(file, 0, data, kInts, MPI_INT, &status));
    }
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_File_read_at_all(file, 0, data, kInts, MPI_INT, &status));
    check_whole("collective", time);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
  }
}

enum { kShift = 100, kMostRanks = 16 };

/* Collective writes whose ranges overlap in part: where two of them meet, it is the same one that remains everywhere.
 */
static void staggered(MPI_File file) {
  static int whole[kInts + kShift * kMostRanks];
  const int all = kInts + kShift * (check_size - 1);
  MPI_Status status;
  for (int time = 0; time < 10; time++) {
    char beats[kMostRanks][kMostRanks] = {{0}};
    fill(check_rank);
    MUST(MPI_File_write_at_all(file, kShift * check_rank, data, kInts, MPI_INT, &status));
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_File_read_at_all(file, 0, whole, all, MPI_INT, &status));
    for (int i = 0; i < all; i++) {
      const int winner = whole[i];
      CHECK(winner >= 0 && winner < check_size, "item %d is %d", i, winner);
      if (winner < 0 || winner >= check_size) return;
      for (int k = 0; k < check_size; k++)
        if (i >= kShift * k && i < kShift * k + kInts && k != winner) beats[winner][k] = 1;
    }
    for (int a = 0; a < check_size; a++)
      for (int b = 0; b < a; b++) CHECK(!(beats[a][b] && beats[b][a]), "ranks %d and %d are mixed", a, b);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
  }
}

static void expect_hint(MPI_File file, const char* key, const char* should) {
  MPI_Info info;
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int length = sizeof value, there = 0;
  MUST(MPI_File_get_info(file, &info));
  MUST(MPI_Info_get_string(info, key, &length, value, &there));
  CHECK(there && strcmp(value, should) == 0, "hint %s is '%s' and not '%s'", key, value, should);
  MUST(MPI_Info_free(&info));
}

static void hints(MPI_File file) {
  MPI_Info info;
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, "cb_buffer_size", "65536"));
  MUST(MPI_Info_set(info, "cb_nodes", "1"));
  MUST(MPI_Info_set(info, "romio_ds_write", "disable"));
  MUST(MPI_Info_set(info, "ind_wr_buffer_size", "a lot"));
  MUST(MPI_Info_set(info, "no_such_hint", "1"));
  MUST(MPI_File_set_info(file, info));
  MUST(MPI_Info_free(&info));
  expect_hint(file, "cb_buffer_size", "65536");
  expect_hint(file, "cb_nodes", "1");
  expect_hint(file, "romio_ds_write", "disable");
  expect_hint(file, "ind_wr_buffer_size", "131072");
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_File file = file_make(file_name("atomic"), MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  view_every_third(file);
  MUST(MPI_File_set_atomicity(file, 1));
  overlapping(file);
  staggered(file);
  hints(file);
  overlapping(file);
  staggered(file);
  MUST(MPI_File_close(&file));
  return check_end();
}
