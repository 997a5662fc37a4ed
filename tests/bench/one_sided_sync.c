/* Synchronization of windows, for any number of ranks, in microseconds a call or epoch, mean over the ranks:
 *   fence               alone, and with a put to the next rank
 *   pscw                post, start, complete, wait with both neighbours on a ring, a put to each; pscw_four: with the
 *                       two next ones on each side, of 5 ranks or more
 *   lock_shared, lock_exclusive   of the next rank: free; contended: all ranks lock rank 0
 *   fairness            of 20 ms of contended exclusive locks the share that the least one gets, in percent of the mean
 *   lock_all, flush_all
 *   one_word            MPI_Fetch_and_op of all ranks on one word, in millions a second; many_words: each on its own
 *   window              MPI_Win_allocate of 64 bytes and MPI_Win_free
 * and the memory and time of 1,000 windows that live at once ("windows" as an argument); "create": `window` alone.
 * `one_sided_sync what fence us 0.5` */
#include <stdint.h>

#include "bench.h"

static int rank, size;
static MPI_Win win;
static MPI_Group neighbours, four;
static int64_t mine = 1, was;

static void fence(void) { MPI_Win_fence(0, win); }
static void fence_put(void) {
  MPI_Put(&mine, 1, MPI_INT64_T, (rank + 1) % size, 0, 1, MPI_INT64_T, win);
  MPI_Win_fence(0, win);
}
static void pscw(void) {
  MPI_Win_post(neighbours, 0, win);
  MPI_Win_start(neighbours, 0, win);
  MPI_Put(&mine, 1, MPI_INT64_T, (rank + 1) % size, 0, 1, MPI_INT64_T, win);
  if (size > 2) MPI_Put(&mine, 1, MPI_INT64_T, (rank + size - 1) % size, 1, 1, MPI_INT64_T, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
}
static void pscw_four(void) {
  MPI_Win_post(four, 0, win);
  MPI_Win_start(four, 0, win);
  for (int i = 1; i <= 2; i++) {
    MPI_Put(&mine, 1, MPI_INT64_T, (rank + i) % size, i, 1, MPI_INT64_T, win);
    MPI_Put(&mine, 1, MPI_INT64_T, (rank + size - i) % size, 2 + i, 1, MPI_INT64_T, win);
  }
  MPI_Win_complete(win);
  MPI_Win_wait(win);
}
static void lock(int type, int target) {
  MPI_Win_lock(type, target, 0, win);
  MPI_Win_unlock(target, win);
}
static void lock_shared(void) { lock(MPI_LOCK_SHARED, (rank + 1) % size); }
static void lock_exclusive(void) { lock(MPI_LOCK_EXCLUSIVE, (rank + 1) % size); }
static void lock_shared_contended(void) { lock(MPI_LOCK_SHARED, 0); }
static void lock_exclusive_contended(void) { lock(MPI_LOCK_EXCLUSIVE, 0); }
static void lock_all(void) {
  MPI_Win_lock_all(0, win);
  MPI_Win_unlock_all(win);
}
static void flush_all(void) { MPI_Win_flush_all(win); }
static void one_word(void) {
  MPI_Fetch_and_op(&mine, &was, MPI_INT64_T, 0, 0, MPI_SUM, win);
  MPI_Win_flush(0, win);
}
static void many_words(void) {
  MPI_Fetch_and_op(&mine, &was, MPI_INT64_T, 0, 8 * (rank + 1), MPI_SUM, win);
  MPI_Win_flush(0, win);
}
static void window(void) {
  MPI_Win made;
  void* memory;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &made);
  MPI_Win_free(&made);
}

/* Mean over the ranks of the median batch. With `per_second`, of all ranks together. */
static void measure(const char* what, void (*run)(void), int repeats, int per_second) {
  double batch[kBatches], sum = 0;
  for (int b = -1; b < kBatches; b++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < repeats; i++) run();
    if (per_second) MPI_Barrier(MPI_COMM_WORLD);
    if (b >= 0) batch[b] = (MPI_Wtime() - start) / repeats * 1e6;
  }
  const double median = bench_median(batch, kBatches);
  MPI_Reduce(&median, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  if (per_second)
    printf("one_sided_sync what %s M/s %.4f\n", what, size / (sum / size));
  else
    printf("one_sided_sync what %s us %.4f\n", what, sum / size);
  fflush(stdout);
}

static void fairness(void) {
  long got = 0, least = 0, sum = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double until = MPI_Wtime() + 0.02;
  for (; MPI_Wtime() < until; got++) lock_exclusive_contended();
  MPI_Reduce(&got, &least, 1, MPI_LONG, MPI_MIN, 0, MPI_COMM_WORLD);
  MPI_Reduce(&got, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("one_sided_sync what fairness percent %.1f\n", 100.0 * (double)least * size / (double)sum);
}

/* Proportional share of the memory of this process, in KiB. */
static double memory_used(void) {
  FILE* f = fopen("/proc/self/smaps_rollup", "r");
  char line[256];
  long kib = 0;
  while (f && fgets(line, sizeof line, f))
    if (sscanf(line, "Pss: %ld", &kib) == 1) break;
  if (f) fclose(f);
  return (double)kib;
}

static void many_windows(void) {
  enum { kWindows = 1000 };
  MPI_Win* const wins = malloc(kWindows * sizeof *wins);
  double mean = 0;
  void* memory;
  MPI_Barrier(MPI_COMM_WORLD);
  const double before = memory_used(), start = MPI_Wtime();
  for (int i = 0; i < kWindows; i++) MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &wins[i]);
  const double made = MPI_Wtime() - start;
  MPI_Barrier(MPI_COMM_WORLD);
  const double used = memory_used() - before;
  MPI_Reduce(&used, &mean, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kWindows; i++) MPI_Win_free(&wins[i]);
  if (rank == 0) {
    printf("one_sided_sync windows %d memory_of_each KiB %.4f\n", kWindows, mean / size / kWindows);
    printf("one_sided_sync windows %d made us %.4f\n", kWindows, made / kWindows * 1e6);
  }
  free(wins);
}

int main(int argc, char** argv) {
  bench_start(&argc, &argv, 0, &rank, &size);
  if (argc > 1 && strcmp(argv[1], "windows") == 0) {
    many_windows();
    MPI_Finalize();
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "create") == 0) {
    measure("window", window, size <= 16 ? 100 : 20, 0);
    MPI_Finalize();
    return 0;
  }
  const int repeats = size <= 4 ? 1000 : 200;
  void* memory;
  MPI_Group all;
  MPI_Win_allocate(64 * (size + 1) + 64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  const int near[] = {(rank + 1) % size, (rank + size - 1) % size};
  MPI_Group_incl(all, size > 2 ? 2 : 1, near, &neighbours);
  const int around[] = {(rank + 1) % size, (rank + 2) % size, (rank + size - 2) % size, (rank + size - 1) % size};
  if (size >= 5) MPI_Group_incl(all, 4, around, &four);
  measure("fence", fence, repeats, 0);
  measure("fence_put", fence_put, repeats, 0);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  measure("pscw", pscw, repeats, 0);
  if (size >= 5) measure("pscw_four", pscw_four, repeats, 0);
  measure("lock_shared", lock_shared, repeats, 0);
  measure("lock_exclusive", lock_exclusive, repeats, 0);
  measure("lock_shared_contended", lock_shared_contended, repeats, 0);
  measure("lock_exclusive_contended", lock_exclusive_contended, repeats, 0);
  if (size <= 4) fairness(); /* with more it is what the scheduler makes of it */
  measure("lock_all", lock_all, repeats, 0);
  MPI_Win_lock_all(0, win);
  measure("flush_all", flush_all, repeats, 0);
  measure("one_word", one_word, repeats, 1);
  measure("many_words", many_words, repeats, 1);
  MPI_Win_unlock_all(win);
  measure("window", window, size <= 16 ? 100 : 20, 0);
  if (size >= 5) MPI_Group_free(&four);
  MPI_Group_free(&neighbours);
  MPI_Group_free(&all);
  MPI_Win_free(&win);
  MPI_Finalize();
}
