/* One-sided operations of rank 0 to rank 1, in an epoch of MPI_Win_lock_all, while rank 1 waits in a barrier:
 *   put, get     one and a flush, by size
 *   put_rate     puts of 8 bytes in millions a second, a flush after each 1,000
 *   accumulate   MPI_SUM of doubles and a flush, by size; accumulate_strided: of every second one
 *   fetch, swap  MPI_Fetch_and_op and MPI_Compare_and_swap and a flush
 * to memory that the window allocated, of MPI_Alloc_mem and of malloc. Then an operation in an epoch of MPI_Win_lock,
 * while rank 1 waits, and while it computes. With the argument "threads" puts of 1, 2 and 4 threads alone.
 * `one_sided op put memory allocated bytes 8 us 0.1` */
#include <pthread.h>
#include <stdint.h>

#include "bench.h"

enum { kMost = 4 << 20 };

typedef enum { kAllocated, kAllocMem, kMalloc } Kind;
static const char* const kKinds[] = {"allocated", "alloc_mem", "malloc"};

static int rank;
static char* local;
static MPI_Win win;

static MPI_Win make(Kind kind, char** memory) {
  MPI_Win made;
  switch (kind) {
    case kAllocated:
      MPI_Win_allocate(kMost, 1, MPI_INFO_NULL, MPI_COMM_WORLD, memory, &made);
      break;
    case kAllocMem:
      MPI_Alloc_mem(kMost, MPI_INFO_NULL, memory);
      MPI_Win_create(*memory, kMost, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made);
      break;
    default:
      *memory = bench_alloc(kMost);
      MPI_Win_create(*memory, kMost, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made);
      break;
  }
  memset(*memory, 0, kMost);
  return made;
}

static void unmake(Kind kind, char* memory) {
  MPI_Win_free(&win);
  if (kind == kAllocMem) MPI_Free_mem(memory);
  if (kind == kMalloc) free(memory);
}

static void put(long bytes) { MPI_Put(local, (int)bytes, MPI_BYTE, 1, 0, (int)bytes, MPI_BYTE, win); }
static void get(long bytes) { MPI_Get(local, (int)bytes, MPI_BYTE, 1, 0, (int)bytes, MPI_BYTE, win); }
static void accumulate(long bytes) {
  MPI_Accumulate(local, (int)(bytes / 8), MPI_DOUBLE, 1, 0, (int)(bytes / 8), MPI_DOUBLE, MPI_SUM, win);
}
static void fetch(long bytes) {
  static const int64_t one = 1;
  static int64_t was;
  (void)bytes;
  MPI_Fetch_and_op(&one, &was, MPI_INT64_T, 1, 0, MPI_SUM, win);
}
static void swap(long bytes) {
  static const int64_t one = 1, none = 0;
  static int64_t was;
  (void)bytes;
  MPI_Compare_and_swap(&one, &none, &was, MPI_INT64_T, 1, 0, win);
}
static MPI_Datatype every_second;
static void strided(long bytes) {
  (void)bytes;
  MPI_Accumulate(local, 512, MPI_DOUBLE, 1, 0, 1, every_second, MPI_SUM, win);
}

/* Rank 0 measures; the others wait in a barrier, where they make progress. */
static void measure(const char* op, const char* memory, void (*run)(long), long bytes) {
  double batch[kBatches];
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    const int repeats = bench_repeats((size_t)bytes);
    MPI_Win_lock_all(0, win);
    for (int b = -1; b < kBatches; b++) {
      const double start = MPI_Wtime();
      for (int i = 0; i < repeats; i++) {
        run(bytes);
        MPI_Win_flush(1, win);
      }
      if (b >= 0) batch[b] = (MPI_Wtime() - start) / repeats * 1e6;
    }
    MPI_Win_unlock_all(win);
    printf("one_sided op %s memory %s bytes %ld us %.4f\n", op, memory, bytes, bench_median(batch, kBatches));
    fflush(stdout);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void rate(const char* memory) {
  double batch[kBatches];
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Win_lock_all(0, win);
    for (int b = -1; b < kBatches; b++) {
      const double start = MPI_Wtime();
      for (int i = 0; i < 20; i++) {
        for (int n = 0; n < 1000; n++) MPI_Put(local, 8, MPI_BYTE, 1, 8 * n, 8, MPI_BYTE, win);
        MPI_Win_flush(1, win);
      }
      if (b >= 0) batch[b] = 20 * 1000 / (MPI_Wtime() - start) / 1e6;
    }
    MPI_Win_unlock_all(win);
    printf("one_sided op put_rate memory %s bytes 8 M/s %.3f\n", memory, bench_median(batch, kBatches));
    fflush(stdout);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void lock_put_unlock(void) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
  MPI_Put(local, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win);
  MPI_Win_unlock(1, win);
}
static void fetch_in_epoch(void) {
  MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
  fetch(8);
  MPI_Win_unlock(1, win);
}
static void accumulate_in_epoch(void) {
  MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
  accumulate(8);
  MPI_Win_unlock(1, win);
}

/* Rank 1 computes for 100 ms, or waits in a barrier; the mean of 1,000 operations of rank 0, so that one that waits for
 * the target shows, and one that finds the caches cold does not. */
static void beside(const char* op, const char* memory, void (*run)(void), int computes) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1 && computes) {
    const double until = MPI_Wtime() + 0.1;
    volatile double work = 1;
    while (MPI_Wtime() < until) work *= 1.0000001;
  }
  if (rank == 0) {
    double until = MPI_Wtime() + 0.01; /* rank 1 is at its work by now */
    while (MPI_Wtime() < until) continue;
    const double start = MPI_Wtime();
    for (int i = 0; i < 1000; i++) run();
    printf("one_sided op %s memory %s target %s us %.4f\n", op, memory, computes ? "computes" : "waits",
           (MPI_Wtime() - start) / 1000 * 1e6);
    fflush(stdout);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- threads ---- */

enum { kMostThreads = 4, kPuts = 1000, kRounds = 20 };
static pthread_barrier_t all;
static double batches[kBatches];

static void* put_from_thread(void* argument) {
  const int thread = *(const int*)argument;
  const MPI_Aint at = 16384 * thread;
  for (int b = -1; b < kBatches; b++) {
    pthread_barrier_wait(&all);
    const double start = MPI_Wtime();
    for (int i = 0; i < kRounds; i++) {
      for (int n = 0; n < kPuts; n++) MPI_Put(local + at, 8, MPI_BYTE, 1, at + 8 * n, 8, MPI_BYTE, win);
      MPI_Win_flush(1, win);
    }
    pthread_barrier_wait(&all);
    if (b >= 0 && thread == 0) batches[b] = MPI_Wtime() - start;
  }
  return NULL;
}

static void threads(void) {
  char* memory;
  win = make(kAllocated, &memory);
  for (int n = 1; n <= kMostThreads; n *= 2) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      pthread_t thread[kMostThreads];
      int number[kMostThreads];
      MPI_Win_lock_all(0, win);
      pthread_barrier_init(&all, NULL, (unsigned)n);
      for (int i = 0; i < n; i++) {
        number[i] = i;
        pthread_create(&thread[i], NULL, put_from_thread, &number[i]);
      }
      for (int i = 0; i < n; i++) pthread_join(thread[i], NULL);
      pthread_barrier_destroy(&all);
      MPI_Win_unlock_all(win);
      printf("one_sided op put_rate threads %d bytes 8 M/s %.3f\n", n,
             n * kRounds * kPuts / bench_median(batches, kBatches) / 1e6);
      fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  unmake(kAllocated, memory);
}

/* Like bench_start(), with threads. */
static void start_with_threads(int* argc, char*** argv) {
  int provided;
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (provided == MPI_THREAD_MULTIPLE) return;
  if (rank == 0) fprintf(stderr, "one_sided: takes MPI_THREAD_MULTIPLE\n");
  MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char** argv) {
  static const long usual[] = {8, 64, 1024, 4096, 65536, 1048576, 4194304, -1};
  long sizes[32];
  int size;
  if (argc > 1 && strcmp(argv[1], "threads") == 0) {
    start_with_threads(&argc, &argv);
    local = bench_alloc(kMost);
    threads();
    MPI_Finalize();
    return 0;
  }
  bench_start(&argc, &argv, 0, &rank, &size);
  const int n = bench_sizes(argc, argv, usual, sizes, 32);
  local = bench_alloc(kMost);
  memset(local, 0, kMost);
  MPI_Type_vector(512, 1, 2, MPI_DOUBLE, &every_second);
  MPI_Type_commit(&every_second);
  for (Kind kind = kAllocated; kind <= kMalloc; kind++) {
    char* memory;
    win = make(kind, &memory);
    for (int i = 0; i < n; i++) {
      measure("put", kKinds[kind], put, sizes[i]);
      measure("get", kKinds[kind], get, sizes[i]);
      if (sizes[i] % 8 == 0) measure("accumulate", kKinds[kind], accumulate, sizes[i]);
    }
    rate(kKinds[kind]);
    measure("accumulate_strided", kKinds[kind], strided, 4096);
    measure("fetch", kKinds[kind], fetch, 8);
    measure("swap", kKinds[kind], swap, 8);
    for (int computes = 0; computes < 2; computes++) {
      beside("lock_put_unlock", kKinds[kind], lock_put_unlock, computes);
      beside("lock_fetch_unlock", kKinds[kind], fetch_in_epoch, computes);
      beside("lock_accumulate_unlock", kKinds[kind], accumulate_in_epoch, computes);
    }
    unmake(kind, memory);
  }
  MPI_Type_free(&every_second);
  MPI_Finalize();
}
