/* Waits that never end, for rma_stuck.py: rma_stuck lock | lock_all | start | wait | fence | free | threads. Each rank
 * writes "ready" to its standard output when what others wait for cannot come any more. */
#include <pthread.h>
#include <time.h>

#include "rma.h"

static void ready(void) {
  puts("ready");
  fflush(stdout);
}

/* What never comes. */
static void receive(int from) {
  char nothing;
  ready();
  MUST(MPI_Recv(&nothing, 1, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static MPI_Group one_of(MPI_Win win, int rank) {
  MPI_Group all, one;
  MUST(MPI_Win_get_group(win, &all));
  MUST(MPI_Group_incl(all, 1, &rank, &one));
  MUST(MPI_Group_free(&all));
  return one;
}

/* Rank 1 holds the lock of rank 0; rank 0 wants it. */
static void locked(MPI_Win win, int all) {
  if (check_rank == 1) MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank == 1) receive(0);
  ready();
  MUST(all ? MPI_Win_lock_all(0, win) : MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
}

static void* lock_one(void* win) {
  MUST(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, *(MPI_Win*)win));
  return NULL;
}

/* Rank 1 holds its own lock. A thread of rank 0 wants it, and another one waits for rank 1's epoch to be complete. */
static void by_threads(MPI_Win win, MPI_Group other) {
  pthread_t locking;
  const struct timespec meanwhile = {0, 200000000};
  if (check_rank == 1) MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank == 1) receive(0);
  MUST(MPI_Win_post(other, 0, win));
  CHECK_EQ(pthread_create(&locking, NULL, lock_one, &win), 0);
  nanosleep(&meanwhile, NULL);
  ready();
  MUST(MPI_Win_wait(win));
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "";
  const int threads = strcmp(how, "threads") == 0;
  if (threads) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
  } else {
    check_start(&argc, &argv);
  }
  char* base;
  MPI_Win win;
  MUST(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  MUST(MPI_Win_set_name(win, "halo"));
  MPI_Group other = one_of(win, 1 - check_rank);
  if (threads) {
    by_threads(win, other);
  } else if (strncmp(how, "lock", 4) == 0) {
    locked(win, strcmp(how, "lock_all") == 0);
  } else if (check_rank == 1) {
    receive(0);
  } else if (strcmp(how, "start") == 0) {
    ready();
    MUST(MPI_Win_start(other, 0, win));
    MUST(MPI_Put(base, 1, MPI_CHAR, 1, 0, 1, MPI_CHAR, win));
    MUST(MPI_Win_complete(win));
  } else if (strcmp(how, "wait") == 0) {
    MUST(MPI_Win_post(other, 0, win));
    ready();
    MUST(MPI_Win_wait(win));
  } else if (strcmp(how, "fence") == 0) {
    ready();
    MUST(MPI_Win_fence(0, win));
  } else {
    ready();
    MUST(MPI_Win_free(&win));
  }
  return check_end();
}
