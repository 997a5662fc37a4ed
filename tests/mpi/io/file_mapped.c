/* Accesses to pieces that come back to a range of the file go through a mapping that stays: what they move, and what
 * becomes of them when the file is cut off, has holes, or is read behind its end. With `forced` (io.way=mapped) each
 * one does, with `sieve` and `never` none. */
#include <fcntl.h>
#include <sys/stat.h>

#include "io.h"
#include "tests/mpi/rma/counted.h"

enum { kPieces = 600, kBytes = 96, kMost = kPieces * kBytes, kTimes = 60 };

static const char *name, *mode = "";
static char out[kMost], in[kMost];

/* Pieces of the ranks in turn, from `at` on; the last of `turns` turns is nobody's. */
static void set_view(MPI_File file, MPI_Offset at, int bytes, int turns) {
  MPI_Datatype piece, tile;
  MUST(MPI_Type_contiguous(bytes, MPI_BYTE, &piece));
  MUST(MPI_Type_create_resized(piece, 0, (MPI_Aint)bytes * turns, &tile));
  MUST(MPI_Type_commit(&tile));
  MUST(MPI_File_set_view(file, at + (MPI_Offset)bytes * check_rank, MPI_BYTE, tile, "native", MPI_INFO_NULL));
  MUST(MPI_Type_free(&piece));
  MUST(MPI_Type_free(&tile));
}

static char value(int round, int rank, int i) { return (char)(1 + (round * 31 + rank * 7 + i) % 120); }

static void fill(int round) {
  for (int i = 0; i < kMost; i++) out[i] = value(round, check_rank, i);
}

static void write_all_of_it(MPI_File file) {
  MPI_Status status;
  MUST(MPI_File_write_at(file, 0, out, kMost, MPI_BYTE, &status));
  CHECK_EQ(moved(&status), kMost);
}

static void expect_back(MPI_File file, int round) {
  MPI_Status status;
  int wrong = 0;
  memset(in, 0, sizeof in);
  MUST(MPI_File_read_at(file, 0, in, kMost, MPI_BYTE, &status));
  CHECK_EQ(moved(&status), kMost);
  for (int i = 0; i < kMost; i++) wrong += in[i] != value(round, check_rank, i);
  CHECK(wrong == 0, "round %d: %d bytes are wrong", round, wrong);
}

/* Every process writes its bytes between those of the others, again and again, and none is lost. */
static void in_turns(MPI_File file, int bytes) {
  const unsigned long long before = counted();
  set_view(file, 0, bytes, check_size + 1);
  for (int round = 0; round < kTimes; round++) {
    fill(round);
    write_all_of_it(file);
    expect_back(file, round);
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  const unsigned long long times = counted() - before;
  if (strcmp(mode, "forced") == 0 && file_is_mapped(name)) CHECK(times == 2 * kTimes, "%llu times", times);
  if (strcmp(mode, "never") == 0 || strcmp(mode, "sieve") == 0) CHECK(times == 0, "%llu times", times);
}

/* What belongs to nobody is as it was. */
static void expect_gaps(int bytes) {
  const int fd = open(name, O_RDONLY);
  const int turn = (check_size + 1) * bytes, turns = kMost / bytes;
  char* const all = check_alloc((size_t)turn * turns);
  const ssize_t there = pread(fd, all, (size_t)turn * turns, 0);
  int wrong = 0;
  CHECK_EQ(there, (long long)turn * turns - bytes);
  for (int k = 0; k < turns - 1; k++)
    for (int i = 0; i < bytes; i++) wrong += all[k * turn + check_size * bytes + i] != 0;
  CHECK(wrong == 0, "%d bytes between the pieces have changed", wrong);
  free(all);
  close(fd);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
}

/* Collective accesses, which would be combined: those that come back to a range find it mapped, on all processes. */
static void together(MPI_File file) {
  enum { kPiece = 512, kAll = 4096 * kPiece };
  const unsigned long long before = counted();
  char *const to = check_alloc(kAll), *const from = check_alloc(kAll);
  MPI_Status status;
  set_view(file, 0, kPiece, check_size + 1);
  for (int round = 0; round < kTimes; round++) {
    int wrong = 0;
    for (int i = 0; i < kAll; i++) to[i] = value(round, check_rank, i);
    memset(from, 0, kAll);
    MUST(MPI_File_write_at_all(file, 0, to, kAll, MPI_BYTE, &status));
    CHECK_EQ(moved(&status), kAll);
    MUST(MPI_File_read_at_all(file, 0, from, kAll, MPI_BYTE, &status));
    CHECK_EQ(moved(&status), kAll);
    for (int i = 0; i < kAll; i++) wrong += from[i] != value(round, check_rank, i);
    CHECK(wrong == 0, "round %d: %d bytes are wrong", round, wrong);
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  const unsigned long long times = counted() - before;
  const int may = strcmp(mode, "never") != 0 && strcmp(mode, "sieve") != 0;
  if (!may) CHECK(times == 0, "%llu times", times);
  if (may && file_is_mapped(name)) CHECK(times > 0, "no access came to a mapping");
  free(to);
  free(from);
}

/* Another program cuts the file off. What is written afterwards is there, and reads end where the file does. */
static void cut_off(MPI_File file) {
  const int turn = check_size * kBytes;
  MPI_Status status;
  set_view(file, 0, kBytes, check_size);
  fill(1);
  for (int i = 0; i < 20; i++) write_all_of_it(file);
  for (int i = 0; i < 20; i++) expect_back(file, 1);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  for (int turns = 0; turns < kPieces; turns += 97) {
    if (check_rank == 0) CHECK(truncate(name, (off_t)turns * turn + kBytes / 2) == 0);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_File_read_at(file, 0, in, kMost, MPI_BYTE, &status));
    CHECK_EQ(moved(&status), (long long)turns * kBytes + (check_rank == 0 ? kBytes / 2 : 0));
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    fill(turns);
    write_all_of_it(file);
    expect_back(file, turns);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
  }
}

/* The same while accesses are under way: none fails, and what is written when it is over is there. */
static void cut_off_meanwhile(MPI_File file) {
  MPI_Status status;
  set_view(file, 0, kBytes, check_size);
  fill(3);
  for (int round = 0; round < 200; round++) {
    if (check_rank == 0) CHECK(truncate(name, round % 5 * 10000) == 0);
    if (check_rank > 0 || round % 3 == 0) {
      write_all_of_it(file);
      MUST(MPI_File_read_at(file, 0, in, kMost, MPI_BYTE, &status));
      CHECK(moved(&status) >= 0 && moved(&status) <= kMost);
    }
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  write_all_of_it(file);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  expect_back(file, 3);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
}

/* Holes are zeros, and stay holes when they are read. */
static void holes(MPI_File file) {
  enum { kSize = 1 << 20 };
  struct stat before, after;
  MPI_Status status;
  MUST(MPI_File_set_size(file, 0));
  MUST(MPI_File_set_size(file, kSize * (MPI_Offset)check_size));
  set_view(file, 0, kBytes, check_size);
  CHECK(stat(name, &before) == 0);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  for (int round = 0; round < 30; round++) {
    memset(in, 1, sizeof in);
    MUST(MPI_File_read_at(file, 0, in, kMost, MPI_BYTE, &status));
    CHECK_EQ(moved(&status), kMost);
    for (int i = 0; i < kMost; i++)
      if (in[i] != 0) {
        CHECK(in[i] == 0, "byte %d is %d", i, in[i]);
        break;
      }
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  CHECK(stat(name, &after) == 0);
  CHECK(after.st_blocks == before.st_blocks, "%lld blocks of %lld", (long long)after.st_blocks,
        (long long)before.st_blocks);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
}

/* Around 2 and 4 GiB, where few bytes are there. */
static void far_behind(MPI_File file) {
  for (int k = 1; k <= 2; k++) {
    set_view(file, ((MPI_Offset)k << 31) - (MPI_Offset)kMost / 2, kBytes, check_size);
    for (int round = 0; round < 12; round++) {
      fill(round + k);
      write_all_of_it(file);
      expect_back(file, round + k);
    }
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_File_set_size(file, 0));
}

/* A write changes the time of the file's last change, also when nothing but a mapping would have written. */
static void time_of_change(MPI_File file) {
  const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
  struct stat found;
  set_view(file, 0, kBytes, check_size);
  fill(5);
  for (int round = 0; round < 20; round++) {
    write_all_of_it(file);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    if (check_rank == 0) CHECK(utimensat(AT_FDCWD, name, old, 0) == 0);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    write_all_of_it(file);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(stat(name, &found) == 0 && found.st_mtim.tv_sec != 1000000000);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
  }
}

/* More ranges than are kept, one after the other and again. */
static void many_ranges(MPI_File file) {
  for (int round = 0; round < 3; round++) {
    for (int k = 0; k < 12; k++) {
      set_view(file, (MPI_Offset)k << 22, kBytes, check_size);
      fill(k);
      for (int i = 0; i < 4; i++) write_all_of_it(file);
      expect_back(file, k);
    }
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_File_set_size(file, 0));
}

/* A handle that only reads, and one that only writes. */
static void one_direction(void) {
  MPI_File file;
  MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  set_view(file, 0, kBytes, check_size);
  fill(9);
  for (int i = 0; i < 10; i++) write_all_of_it(file);
  MUST(MPI_File_close(&file));
  MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  set_view(file, 0, kBytes, check_size);
  for (int i = 0; i < 10; i++) expect_back(file, 9);
  MUST(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  if (argc > 1) mode = argv[1];
  name = file_name("mapped");
  counting_begin("io.mapped");
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  in_turns(file, 1);
  expect_gaps(1);
  MUST(MPI_File_set_size(file, 0));
  in_turns(file, kBytes);
  expect_gaps(kBytes);
  MUST(MPI_File_set_size(file, 0));
  together(file);
  cut_off(file);
  cut_off_meanwhile(file);
  holes(file);
  far_behind(file);
  time_of_change(file);
  many_ranges(file);
  one_direction();
  MUST(MPI_File_close(&file));
  counting_end();
  return check_end();
}
