/* What every program of tests/mpi uses: checks that say where and what, random numbers, start and end.
 * A program prints nothing unless something is wrong, and then exits with 1. */
#ifndef ASHLAR_TESTS_MPI_CHECK_H
#define ASHLAR_TESTS_MPI_CHECK_H

#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_rank = -1, check_size = 0, check_failures = 0;
enum { kMostFailuresPrinted = 10 };

__attribute__((format(printf, 4, 5), unused)) static void check_failed(const char* file, int line,
                                                                       const char* condition, const char* format, ...) {
  if (++check_failures > kMostFailuresPrinted) return;
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const char* slash = strrchr(file, '/');
  fprintf(stderr, "%s:%d: rank %d of %d: %s%s%s%s\n", slash ? slash + 1 : file, line, check_rank, check_size,
          condition ? "not so: " : "", condition ? condition : "", text,
          check_failures == kMostFailuresPrinted ? " (later failures of this rank are not printed)" : "");
}

/* CHECK(condition, "format", values...): the text is printed after the condition. */
#define CHECK(condition, ...)                                                         \
  do {                                                                                \
    if (!(condition)) check_failed(__FILE__, __LINE__, #condition, "  " __VA_ARGS__); \
  } while (0)

/* Two integers that have to be the same. */
#define CHECK_EQ(is, should)                                                                                      \
  do {                                                                                                            \
    const long long check_is = (long long)(is), check_should = (long long)(should);                               \
    if (check_is != check_should)                                                                                 \
      check_failed(__FILE__, __LINE__, NULL, "%s is %lld, and %s is %lld", #is, check_is, #should, check_should); \
  } while (0)

/* An MPI call that has to succeed; its error text is printed when it does not. Ends the job: what follows would only
 * confuse. */
#define MUST(call)                                                                           \
  do {                                                                                       \
    const int check_code = (call);                                                           \
    if (check_code != MPI_SUCCESS) check_call_failed(__FILE__, __LINE__, #call, check_code); \
  } while (0)

__attribute__((unused)) static void check_call_failed(const char* file, int line, const char* call, int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  check_failed(file, line, NULL, "%s: %s", call, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Calls MPI, as a program does that waits for nothing. */
__attribute__((unused)) static void make_progress(double seconds) {
  for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
    int flag;
    MUST(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  }
}

/* ---- random numbers: the same on all ranks for the same seed ------------------------------------------------------
 */

typedef struct {
  uint64_t state;
} Random;

__attribute__((unused)) static uint64_t random_next(Random* r) {
  uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* From 0 to below - 1. */
__attribute__((unused)) static int random_below(Random* r, int below) {
  return (int)(random_next(r) % (uint64_t)below);
}

/* Byte `i` of message `seed`: what senders fill in and receivers expect. */
static inline unsigned char pattern_byte(unsigned seed, size_t i) {
  return (unsigned char)((i * 131 + (i >> 8) * 7 + seed * 2654435761u) >> 3);
}

__attribute__((unused)) static void pattern_fill(void* to, size_t n, unsigned seed) {
  for (size_t i = 0; i < n; i++) ((unsigned char*)to)[i] = pattern_byte(seed, i);
}

/* Index of the first byte that differs from the pattern, or -1. */
__attribute__((unused)) static long pattern_differs(const void* from, size_t n, unsigned seed) {
  for (size_t i = 0; i < n; i++)
    if (((const unsigned char*)from)[i] != pattern_byte(seed, i)) return (long)i;
  return -1;
}

#define CHECK_PATTERN(from, n, seed)                                                                       \
  do {                                                                                                     \
    const long check_at = pattern_differs((from), (n), (seed));                                            \
    if (check_at >= 0)                                                                                     \
      check_failed(__FILE__, __LINE__, NULL, "%s: byte %ld of %zu is wrong (message %u)", #from, check_at, \
                   (size_t)(n), (unsigned)(seed));                                                         \
  } while (0)

__attribute__((unused)) static void* check_alloc(size_t n) {
  void* p = malloc(n ? n : 1);
  if (!p) {
    check_failed(__FILE__, __LINE__, NULL, "no memory for %zu bytes", n);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return p;
}

/* ---- start and end ------------------------------------------------------------------------------------------------
 */

/* Errors come back as codes, so that MUST can say where. */
__attribute__((unused)) static void check_start(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MUST(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
  MUST(MPI_Comm_size(MPI_COMM_WORLD, &check_size));
}

/* A job whose ranks failed differently ends all the same: nothing is communicated here but by MPI_Finalize. */
__attribute__((unused)) static int check_end(void) {
  const int code = MPI_Finalize();
  if (code != MPI_SUCCESS) check_failed(__FILE__, __LINE__, NULL, "MPI_Finalize returned %d", code);
  return check_failures != 0;
}

#endif
