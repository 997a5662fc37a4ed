/* Threads and windows: several threads put, get, add and flush in one window and one epoch; others meanwhile have
 * windows of their own with epochs of their own. One thread's flush completes what the others have called. Locks of
 * every kind, contended, with the library's own locks on. */
#include <pthread.h>

#include "rma/rma.h"

enum { kThreads = 4, kWords = 64 };

typedef struct {
  const TestWindow* w;
  int thread, rounds;
} Task;

static pthread_barrier_t barrier;

/* Each thread has words of its own at the right neighbour, and one word of rank 0 is of all. */
static void* one_window(void* argument) {
  const Task* const t = argument;
  const TestWindow* const w = t->w;
  const int right = (w->rank + 1) % w->ranks;
  const int64_t one = 1;
  for (int i = 0; i < t->rounds; i++) {
    const MPI_Aint place = disp_of(w, right, 8 * (1 + t->thread * 8 + i % 8));
    int64_t value = w->rank * 1000000 + t->thread * 10000 + i, back = -1, was = -1;
    MUST(MPI_Put(&value, 1, MPI_INT64_T, right, place, 1, MPI_INT64_T, w->win));
    MUST(MPI_Win_flush(right, w->win));
    if (i % 3 == 0) {
      MPI_Request request;
      MUST(MPI_Rget(&back, 1, MPI_INT64_T, right, place, 1, MPI_INT64_T, w->win, &request));
      MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
      MUST(MPI_Get(&back, 1, MPI_INT64_T, right, place, 1, MPI_INT64_T, w->win));
      MUST(i % 2 ? MPI_Win_flush_all(w->win) : MPI_Win_flush_local(right, w->win));
    }
    CHECK_EQ(back, value);
    MUST(MPI_Fetch_and_op(&one, &was, MPI_INT64_T, 0, disp_of(w, 0, 0), MPI_SUM, w->win));
    MUST(MPI_Win_flush(0, w->win));
    CHECK(was >= 0 && was < (int64_t)w->ranks * kThreads * t->rounds, "%lld", (long long)was);
    MUST(MPI_Accumulate(&one, 1, MPI_INT64_T, right, disp_of(w, right, 8 * 40), 1, MPI_INT64_T, MPI_SUM, w->win));
    MUST(MPI_Win_flush_local_all(w->win));
  }
  return NULL;
}

static void run(void* (*body)(void*), Task* tasks) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, body, &tasks[i]);
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
}

static void together(WindowKind kind, int rounds) {
  TestWindow w = window_make(kind, MPI_COMM_WORLD, kWords * 8, 8);
  Task tasks[kThreads];
  MUST(MPI_Win_lock_all(0, w.win));
  for (int i = 0; i < kThreads; i++) tasks[i] = (Task){.w = &w, .thread = i, .rounds = rounds};
  run(one_window, tasks);
  MUST(MPI_Win_unlock_all(w.win));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  settle_own(&w);
  const int64_t* const own = (const int64_t*)w.base;
  if (check_rank == 0) CHECK_EQ(own[0], (int64_t)check_size * kThreads * rounds);
  CHECK_EQ(own[40], (int64_t)kThreads * rounds);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  window_free(&w);
}

/* Every thread its own window, with epochs of another kind, all at the same time. */
static void* own_window(void* argument) {
  const Task* const t = argument;
  const TestWindow* const w = t->w;
  const int right = (w->rank + 1) % w->ranks, left = (w->rank + w->ranks - 1) % w->ranks;
  int64_t* const own = (int64_t*)w->base;
  for (int i = 1; i <= t->rounds; i++) {
    const int64_t value = 100 * i + w->rank;
    const EpochKind epoch = (EpochKind)((t->thread + i) % kEpochKinds);
    epoch_begin(w, epoch, right);
    MUST(MPI_Put(&value, 1, MPI_INT64_T, right, disp_of(w, right, 16), 1, MPI_INT64_T, w->win));
    epoch_end(w, epoch, right);
    CHECK(own[2] == 100 * i + left, "thread %d, %s: %lld", t->thread, epoch_kind_name(epoch), (long long)own[2]);
    MUST(MPI_Barrier(w->comm));
  }
  return NULL;
}

static void apart(WindowKind kind, int rounds) {
  TestWindow w[kThreads];
  MPI_Comm comm[kThreads];
  Task tasks[kThreads];
  for (int i = 0; i < kThreads; i++) {
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));
    w[i] = window_make(kind, comm[i], kWords * 8, 8);
    tasks[i] = (Task){.w = &w[i], .thread = i, .rounds = rounds};
  }
  run(own_window, tasks);
  for (int i = 0; i < kThreads; i++) {
    window_free(&w[i]);
    MUST(MPI_Comm_free(&comm[i]));
  }
}

/* One thread flushes what the others have put: they only call, it completes, and a message says so. */
static void* put_only(void* argument) {
  const Task* const t = argument;
  const TestWindow* const w = t->w;
  static int64_t values[kThreads];
  const int right = (w->rank + 1) % w->ranks, left = (w->rank + w->ranks - 1) % w->ranks;
  for (int i = 1; i <= t->rounds; i++) {
    values[t->thread] = 10 * i + t->thread + 1000 * w->rank;
    MUST(MPI_Put(&values[t->thread], 1, MPI_INT64_T, right, disp_of(w, right, 8 * t->thread), 1, MPI_INT64_T, w->win));
    pthread_barrier_wait(&barrier);
    if (t->thread == i % kThreads) {
      int token;
      MUST(MPI_Win_flush(right, w->win));
      MUST(MPI_Sendrecv(&i, 1, MPI_INT, right, 3, &token, 1, MPI_INT, left, 3, w->comm, MPI_STATUS_IGNORE));
      MUST(MPI_Win_sync(w->win));
      for (int k = 0; k < kThreads; k++) CHECK_EQ(((int64_t*)w->base)[k], 10 * i + k + 1000 * left);
      MUST(MPI_Barrier(w->comm));
    }
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

static void flushed_by_others(WindowKind kind, int rounds) {
  TestWindow w = window_make(kind, MPI_COMM_WORLD, kWords * 8, 8);
  Task tasks[kThreads];
  pthread_barrier_init(&barrier, NULL, kThreads);
  for (int i = 0; i < kThreads; i++) tasks[i] = (Task){.w = &w, .thread = i, .rounds = rounds};
  MUST(MPI_Win_lock_all(0, w.win));
  run(put_only, tasks);
  MUST(MPI_Win_unlock_all(w.win));
  pthread_barrier_destroy(&barrier);
  window_free(&w);
}

/* Locks of different targets, taken by different threads of a process in one window. */
static void* lock_one(void* argument) {
  const Task* const t = argument;
  const TestWindow* const w = t->w;
  for (int i = 0; i < t->rounds; i++)
    for (int target = t->thread; target < w->ranks; target += kThreads) {
      int64_t value = -1;
      MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
      MUST(MPI_Get(&value, 1, MPI_INT64_T, target, disp_of(w, target, 8), 1, MPI_INT64_T, w->win));
      MUST(MPI_Win_flush(target, w->win));
      value++;
      MUST(MPI_Put(&value, 1, MPI_INT64_T, target, disp_of(w, target, 8), 1, MPI_INT64_T, w->win));
      MUST(MPI_Win_unlock(target, w->win));
    }
  return NULL;
}

static void locks(WindowKind kind, int rounds) {
  TestWindow w = window_make(kind, MPI_COMM_WORLD, kWords * 8, 8);
  Task tasks[kThreads];
  for (int i = 0; i < kThreads; i++) tasks[i] = (Task){.w = &w, .thread = i, .rounds = rounds};
  run(lock_one, tasks);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  settle_own(&w);
  CHECK_EQ(((int64_t*)w.base)[1], (int64_t)check_size * rounds);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  window_free(&w);
}

/* Locks of rank 0 in turns of every kind: a process that waits takes over locks that others have left, and wakes those
 * that sleep, while it makes progress and so has the library to itself. */
static void mixed_locks(WindowKind kind, int rounds) {
  TestWindow w = window_make(kind, MPI_COMM_WORLD, kWords * 8, 8);
  Random random = {(uint64_t)check_rank + 1};
  const MPI_Aint place = disp_of(&w, 0, 0);
  int64_t written = 0, all = 0;
  for (int i = 0; i < rounds; i++) {
    const int which = random_below(&random, 4);
    int64_t value = -1;
    if (which == 0) {
      MUST(MPI_Win_lock_all(0, w.win));
      MUST(MPI_Win_unlock_all(w.win));
      continue;
    }
    MUST(MPI_Win_lock(which == 1 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
    MUST(MPI_Get(&value, 1, MPI_INT64_T, 0, place, 1, MPI_INT64_T, w.win));
    MUST(MPI_Win_flush(0, w.win));
    if (which != 1) {
      value++, written++;
      MUST(MPI_Put(&value, 1, MPI_INT64_T, 0, place, 1, MPI_INT64_T, w.win));
    }
    MUST(MPI_Win_unlock(0, w.win));
  }
  MUST(MPI_Reduce(&written, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD));
  settle_own(&w);
  if (check_rank == 0) CHECK_EQ(*(const int64_t*)w.base, all);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  window_free(&w);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  MUST(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
  MUST(MPI_Comm_size(MPI_COMM_WORLD, &check_size));
  if (provided < MPI_THREAD_MULTIPLE) {
    MPI_Finalize();
    return 77;
  }
  const int few = check_size > 2;
  FOR_EACH_WINDOW_KIND(kind, MPI_COMM_WORLD) {
    together(kind, few ? 30 : 200);
    apart(kind, few ? 6 : 30);
    flushed_by_others(kind, few ? 10 : 60);
    locks(kind, few ? 10 : 60);
    mixed_locks(kind, 1000);
  }
  return check_end();
}
