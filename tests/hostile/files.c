/* Files under bad conditions, for files.sh and files_killed.py:
 *   files full FILE      writes until the file system is full: the same class on all ranks, within a second
 *   files open FILE CLASS   opens it for reading and writing
 *   files holes FILE SEED ROUNDS   writes random pieces between which bytes belong to nobody
 *   files beside FILE JOB ROUNDS   writes all pieces of job 0 or 1, which lie between those of the other one
 * Prints "ok RANKS" at the end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kEach = 48, kGap = 16, kMany = 20000 };

static int rank, ranks, failures;
static char data[kEach * kMany];

static int class_of(int code) {
  int error_class = -1;
  MPI_Error_class(code, &error_class);
  return error_class;
}

static void expect(const char* what, int code, int should) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  if (class_of(code) == should) return;
  fprintf(stderr, "rank %d: %s: class %d and not %d: %s\n", rank, what, class_of(code), should, text);
  failures++;
}

/* Blocks of the ranks of `jobs` jobs in turn; this is number `job` of them. */
static void set_view(MPI_File file, int job, int jobs) {
  MPI_Datatype block, tile;
  MPI_Type_contiguous(kEach, MPI_CHAR, &block);
  MPI_Type_create_resized(block, 0, (MPI_Aint)(kEach + kGap) * ranks * jobs, &tile);
  MPI_Type_commit(&tile);
  expect("set_view",
         MPI_File_set_view(file, (MPI_Offset)(kEach + kGap) * (job * ranks + rank), MPI_CHAR, tile, "native",
                           MPI_INFO_NULL),
         MPI_SUCCESS);
  MPI_Type_free(&block);
  MPI_Type_free(&tile);
}

/* One rank at least names the file and says what the system says. */
static void expect_full(const char* what, int code, const char* name, double began) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0, knows = 0, one_knows = 0;
  const double took = MPI_Wtime() - began;
  expect(what, code, MPI_ERR_NO_SPACE);
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  knows =
      strstr(text, name) != NULL && strstr(text, "No space left on device") != NULL && strstr(text, "offset") != NULL;
  MPI_Allreduce(&knows, &one_knows, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (one_knows && took < 30) return; /* a second, on a machine that has nothing else to do */
  fprintf(stderr, "rank %d: %s: after %.1f s: %s\n", rank, what, took, text);
  failures++;
}

static void full(const char* name) {
  MPI_File file;
  MPI_Status status;
  MPI_Request request;
  expect("open", MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
         MPI_SUCCESS);
  for (int gaps = 0; gaps < 2; gaps++) {
    if (gaps) set_view(file, 0, 1);
    double began = MPI_Wtime();
    expect_full(
        "write_at_all",
        MPI_File_write_at_all(file, gaps ? 0 : (MPI_Offset)sizeof data * rank, data, sizeof data, MPI_CHAR, &status),
        name, began);
    began = MPI_Wtime();
    MPI_File_iwrite_at_all(file, gaps ? 0 : (MPI_Offset)sizeof data * rank, data, sizeof data, MPI_CHAR, &request);
    expect_full("iwrite_at_all", MPI_Wait(&request, &status), name, began);
  }
  /* What is there is removed, and there is room again. */
  expect("set_size", MPI_File_set_size(file, 0), MPI_SUCCESS);
  expect("write_all", MPI_File_write_at_all(file, 0, data, kEach, MPI_CHAR, &status), MPI_SUCCESS);
  const int code = MPI_File_preallocate(file, (MPI_Offset)1 << 24);
  expect("preallocate", code, MPI_ERR_NO_SPACE);
  expect("close", MPI_File_close(&file), MPI_SUCCESS);
}

static void open_only(const char* name, int should) {
  MPI_File file;
  expect("open", MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file), should);
  if (file != MPI_FILE_NULL) MPI_File_close(&file);
}

/* Byte i of what rank r writes: never one of the file before, which is 0xee. */
static void holes(const char* name, int seed, int rounds) {
  MPI_File file;
  MPI_Status status;
  expect("open", MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_SUCCESS);
  set_view(file, 0, 1);
  memset(data, 1 + rank, sizeof data);
  srand((unsigned)seed);
  for (int round = 0; round < rounds; round++) {
    const int at = rand() % (kMany / 2), count = 1 + rand() % (kMany / 2);
    if (round % 4 == 3)
      MPI_File_write_at(file, (MPI_Offset)at * kEach, data, count * kEach, MPI_CHAR, &status);
    else
      MPI_File_write_at_all(file, (MPI_Offset)at * kEach, data, count * kEach, MPI_CHAR, &status);
  }
  expect("close", MPI_File_close(&file), MPI_SUCCESS);
}

/* Nobody else writes these pieces, so what a round has written is there after it. */
static void beside(const char* name, int job, int rounds) {
  static char back[sizeof data];
  MPI_File file;
  MPI_Status status;
  expect("open", MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_SUCCESS);
  set_view(file, job, 2);
  for (int round = rounds; round-- > 0;) {
    memset(data, 1 + job * ranks + rank + 10 * round, sizeof data);
    expect("write_at_all", MPI_File_write_at_all(file, 0, data, sizeof data, MPI_CHAR, &status), MPI_SUCCESS);
    expect("read_at_all", MPI_File_read_at_all(file, 0, back, sizeof back, MPI_CHAR, &status), MPI_SUCCESS);
    if (memcmp(back, data, sizeof data) == 0) continue;
    fprintf(stderr, "job %d, rank %d: what round %d has written is not there\n", job, rank, rounds - round);
    failures++;
  }
  expect("close", MPI_File_close(&file), MPI_SUCCESS);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  const char* const what = argv[1];
  if (strcmp(what, "full") == 0) full(argv[2]);
  if (strcmp(what, "open") == 0)
    open_only(argv[2], strcmp(argv[3], "read_only") == 0 ? MPI_ERR_READ_ONLY
                       : strcmp(argv[3], "access") == 0  ? MPI_ERR_ACCESS
                                                         : MPI_SUCCESS);
  if (strcmp(what, "holes") == 0) holes(argv[2], atoi(argv[3]), atoi(argv[4]));
  if (strcmp(what, "beside") == 0) beside(argv[2], atoi(argv[3]), atoi(argv[4]));
  int all = 0;
  MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all == 0) printf("ok %d\n", ranks);
  MPI_Finalize();
  return failures != 0;
}
