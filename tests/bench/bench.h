/* What the benchmark programs share. One line of output per figure: words and numbers, the last two being unit and
 * value, so that tests/bench/compare can line up the same figure of several libraries.
 *
 * Discipline (as OSU's and Intel's benchmarks measure): buffers are page-aligned, touched and reused (cache-hot); every
 * measurement is warmed up; it is made in batches and the median batch counts, because one disturbed batch on a shared
 * machine should not decide. */
#ifndef ASHLAR_BENCH_H
#define ASHLAR_BENCH_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBatches = 15, kPage = 4096 };

static inline int bench_by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static inline double bench_median(double* values, int n) {
  qsort(values, (size_t)n, sizeof *values, bench_by_value);
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* `bytes` of touched, page-aligned memory; ends the job when there is none. */
static inline char* bench_alloc(size_t bytes) {
  const size_t whole = (bytes + kPage) / kPage * kPage;
  char* p = aligned_alloc(kPage, whole);
  if (!p) {
    fprintf(stderr, "bench: no memory for %zu bytes\n", whole);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  memset(p, 1, whole);
  return p;
}

/* Round trips (or windows) of one batch: many for small messages, fewer where each takes long. */
static inline int bench_repeats(size_t bytes) {
  if (bytes <= 8192) return 2000;
  if (bytes <= 262144) return 200;
  return 20;
}

/* Rank and size; ends the job unless there are `wanted` ranks (0: any number). */
static inline void bench_start(int* argc, char*** argv, int wanted, int* rank, int* size) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
  if (wanted != 0 && *size != wanted) {
    if (*rank == 0) fprintf(stderr, "bench: this program takes %d ranks\n", wanted);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
}

/* Sizes: those named on the command line, else `fallback` (ended by -1). Returns how many were put into `sizes`. */
static inline int bench_sizes(int argc, char** argv, const long* fallback, long* sizes, int room) {
  int n = 0;
  for (int i = 1; i < argc && n < room; i++)
    if (argv[i][0] >= '0' && argv[i][0] <= '9') sizes[n++] = atol(argv[i]);
  if (n > 0) return n;
  while (n < room && fallback[n] >= 0) sizes[n] = fallback[n], n++;
  return n;
}

#endif
