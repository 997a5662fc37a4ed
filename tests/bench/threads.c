/* Messages a second between two ranks by 1, 2 and 4 threads of each, every thread on a communicator of its own, 64
 * small messages in flight for each: `threads 4 bytes 8 M/s 5.5` (millions of messages, all threads together). */
#include <pthread.h>

#include "bench.h"

enum { kWindow = 64, kWindows = 60, kMostThreads = 4, kBytes = 8, kData = 1, kAnswer = 2 };

typedef struct {
  MPI_Comm comm;
  int rank;
  pthread_barrier_t* all;
  double seconds[kBatches];
} Worker;

static void windows(const Worker* w) {
  char slots[kWindow][kBytes];
  MPI_Request r[kWindow];
  memset(slots, 1, sizeof slots);
  for (int k = 0; k < kWindows; k++) {
    for (int i = 0; i < kWindow; i++) {
      if (w->rank == 0)
        MPI_Isend(slots[i], kBytes, MPI_BYTE, 1, kData, w->comm, &r[i]);
      else
        MPI_Irecv(slots[i], kBytes, MPI_BYTE, 0, kData, w->comm, &r[i]);
    }
    MPI_Waitall(kWindow, r, MPI_STATUSES_IGNORE);
    if (w->rank == 0)
      MPI_Recv(NULL, 0, MPI_BYTE, 1, kAnswer, w->comm, MPI_STATUS_IGNORE);
    else
      MPI_Send(NULL, 0, MPI_BYTE, 0, kAnswer, w->comm);
  }
}

static void* run(void* argument) {
  Worker* w = argument;
  windows(w);
  for (int b = 0; b < kBatches; b++) {
    pthread_barrier_wait(w->all);
    const double start = MPI_Wtime();
    windows(w);
    pthread_barrier_wait(w->all);
    w->seconds[b] = MPI_Wtime() - start;
  }
  return NULL;
}

int main(int argc, char** argv) {
  static Worker workers[kMostThreads];
  int rank, size, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2 || provided != MPI_THREAD_MULTIPLE) {
    if (rank == 0) fprintf(stderr, "threads: takes 2 ranks and MPI_THREAD_MULTIPLE\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (int i = 0; i < kMostThreads; i++) MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
  for (int threads = 1; threads <= kMostThreads; threads *= 2) {
    pthread_barrier_t all;
    pthread_t ids[kMostThreads];
    pthread_barrier_init(&all, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++) {
      workers[i].rank = rank, workers[i].all = &all;
      if (i > 0) pthread_create(&ids[i], NULL, run, &workers[i]);
    }
    run(&workers[0]);
    for (int i = 1; i < threads; i++) pthread_join(ids[i], NULL);
    for (int b = 0; b < kBatches; b++)
      workers[0].seconds[b] = (double)threads * kWindow * kWindows / workers[0].seconds[b] / 1e6;
    if (rank == 0)
      printf("threads %d bytes %d M/s %.3f\n", threads, kBytes, bench_median(workers[0].seconds, kBatches));
    pthread_barrier_destroy(&all);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int i = 0; i < kMostThreads; i++) MPI_Comm_free(&workers[i].comm);
  MPI_Finalize();
  return 0;
}
