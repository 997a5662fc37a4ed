/* Instructions of an allreduce of 8 bytes by two ranks: `collective_instructions allreduce bytes 8 instructions 402`.
 * Rank 0 comes late each time, so that it never waits, and counts its own by single steps of the processor (x86-64),
 * whichever the library: the median of all calls.
 *
 *   collective_instructions [CALLS [MILLISECONDS late]]
 *
 * With CALLS it does not count: for tools that do (README.md). */
#include <signal.h>
#include <time.h>

#include "bench.h"

enum { kUsualCalls = 200 };
static volatile sig_atomic_t steps;

static void on_step(int signal) {
  (void)signal;
  steps++;
}

/* The trap flag, on or off; below the red zone, where a function may keep what it has no other place for. */
static inline void step(int on) {
#ifdef __x86_64__
  if (on)
    __asm__ volatile("lea -128(%%rsp),%%rsp; pushfq; orq $0x100,(%%rsp); popfq; lea 128(%%rsp),%%rsp" ::
                         : "memory", "cc");
  else
    __asm__ volatile("lea -128(%%rsp),%%rsp; pushfq; andq $~0x100,(%%rsp); popfq; lea 128(%%rsp),%%rsp" ::
                         : "memory", "cc");
#else
  (void)on;
#endif
}

static void call(double* mine, double* sum) { MPI_Allreduce(mine, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

/* What the counting itself adds. */
static int overhead(void) {
  steps = 0;
  step(1);
  step(0);
  return steps;
}

int main(int argc, char** argv) {
  int rank, size;
  bench_start(&argc, &argv, 2, &rank, &size);
  const int counts_here = argc<2, calls = argc> 1 ? atoi(argv[1]) : kUsualCalls;
  /* Under a tool the other rank is slow as well. When not, it must not fall asleep over the wait. */
  const struct timespec late = {0, argc > 2 ? atol(argv[2]) * 1000000 : counts_here ? 50000 : 3000000};
  const struct sigaction action = {.sa_handler = on_step};
  double mine = rank, sum = 0, *counts = malloc((size_t)calls * sizeof *counts);
  if (counts_here && rank == 0) sigaction(SIGTRAP, &action, NULL);
  for (int i = 0; i < calls; i++) {
    if (rank == 0) nanosleep(&late, NULL);
    if (counts_here && rank == 0) {
      const int alone = overhead();
      steps = 0;
      step(1);
      call(&mine, &sum);
      step(0);
      counts[i] = steps - alone;
    } else {
      call(&mine, &sum);
    }
  }
  if (rank == 0 && sum != 1) MPI_Abort(MPI_COMM_WORLD, 1);
#ifdef __x86_64__
  if (rank == 0 && counts_here)
    printf("collective_instructions allreduce bytes 8 instructions %.0f\n", bench_median(counts, calls));
#endif
  free(counts);
  MPI_Finalize();
  return 0;
}
