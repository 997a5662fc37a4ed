/* What the programs about files share: a file in the folder that the command line names, rows of calls, and rows that
 * the command line selects. A row's figure is in microseconds a call: the slowest rank's median of batches. */
#ifndef ASHLAR_BENCH_FILES_H
#define ASHLAR_BENCH_FILES_H

#include "bench.h"

enum { kTimes = 5 };

static int rank, size;
static char path[1024];
static MPI_File file;
static int rows_wanted;
static char** rows_named;

static inline void must(int code, const char* what) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (code == MPI_SUCCESS) return;
  MPI_Error_string(code, text, &length);
  fprintf(stderr, "%s: %s\n", what, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline void open_file(const char* name, MPI_File* out) {
  must(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     out),
       "open");
}

/* `PROGRAM FOLDER [ROW...]` */
static inline void files_start(int argc, char** argv) {
  bench_start(&argc, &argv, 0, &rank, &size);
  snprintf(path, sizeof path, "%s/bench-files.bin", argc > 1 ? argv[1] : ".");
  rows_wanted = argc > 2 ? argc - 2 : 0;
  rows_named = argv + 2;
  open_file(path, &file);
}

static inline void files_stop(void) {
  MPI_File_close(&file);
  MPI_Finalize();
}

/* Whether the command line names the row, or a part of its name, or none. */
static inline int wanted(const char* row) {
  for (int i = 0; i < rows_wanted; i++)
    if (strstr(row, rows_named[i]) != NULL) return 1;
  return rows_wanted == 0;
}

/* The median of as many batches of `calls`. */
static inline void tell(const char* what, const char* name, double* seconds, int calls) {
  double mine = bench_median(seconds, kTimes) / calls * 1e6, most = 0;
  MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("files %s %s us %.2f\n", what, name, most);
}

/* Batches of `calls` calls that take no argument. */
static inline void call_row(const char* name, void (*call)(void), int calls) {
  double seconds[kTimes];
  if (!wanted(name)) return;
  call();
  for (int time = 0; time < kTimes; time++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < calls; i++) call();
    seconds[time] = MPI_Wtime() - begin;
  }
  tell("call", name, seconds, calls);
}

static inline void plain_view(void) {
  must(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "set_view");
}

#endif
