/* MPI_THREAD_MULTIPLE (MPI-5.0, 11.6): every thread of a rank talks at the same time, by messages of its own tag and by
 * collectives on a communicator of its own; one thread waits in a receive while the others come and go. */
#include <pthread.h>

#include "check.h"

enum { kThreads = 4, kRounds = 200, kLarge = 40000 };

typedef struct {
  int number;
  MPI_Comm comm;
  int wrong;
} Worker;

static void* work(void* argument) {
  Worker* const w = argument;
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  unsigned char* const out = malloc(kLarge);
  unsigned char* const in = malloc(kLarge);
  for (int round = 0; round < kRounds; round++) {
    const int bytes = round % 10 == 0 ? kLarge : round;
    pattern_fill(out, (size_t)bytes, (unsigned)(check_rank * 1000 + w->number * 100 + round));
    MPI_Status status;
    int count = -1;
    if (round % 2) {
      MPI_Sendrecv(out, bytes, MPI_BYTE, right, w->number, in, kLarge, MPI_BYTE, left, w->number, MPI_COMM_WORLD,
                   &status);
    } else {
      MPI_Request request[2];
      MPI_Status both[2];
      MPI_Irecv(in, kLarge, MPI_BYTE, left, w->number, MPI_COMM_WORLD, &request[0]);
      MPI_Isend(out, bytes, MPI_BYTE, right, w->number, MPI_COMM_WORLD, &request[1]);
      MPI_Waitall(2, request, both);
      status = both[0];
    }
    MPI_Get_count(&status, MPI_BYTE, &count);
    w->wrong += count != bytes;
    w->wrong += pattern_differs(in, (size_t)bytes, (unsigned)(left * 1000 + w->number * 100 + round)) >= 0;
    int sum = -1;
    const int mine = check_rank + round;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, w->comm);
    w->wrong += sum != check_size * (check_size - 1) / 2 + check_size * round;
  }
  free(out);
  free(in);
  return NULL;
}

static void* wait_for_the_end(void* argument) {
  int* const wrong = argument;
  int word = 0;
  MPI_Recv(&word, 1, MPI_INT, check_rank, 999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  *wrong = word != 4711;
  return NULL;
}

int main(int argc, char** argv) {
  int provided = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MUST(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
  MUST(MPI_Comm_size(MPI_COMM_WORLD, &check_size));
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
  int level = -1;
  MUST(MPI_Query_thread(&level));
  CHECK_EQ(level, MPI_THREAD_MULTIPLE);

  pthread_t threads[kThreads], waiter;
  Worker workers[kThreads];
  int waiter_wrong = 1;
  CHECK_EQ(pthread_create(&waiter, NULL, wait_for_the_end, &waiter_wrong), 0);
  for (int t = 0; t < kThreads; t++) {
    workers[t] = (Worker){t, MPI_COMM_NULL, 0};
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &workers[t].comm));
  }
  for (int t = 0; t < kThreads; t++) CHECK_EQ(pthread_create(&threads[t], NULL, work, &workers[t]), 0);
  for (int t = 0; t < kThreads; t++) {
    pthread_join(threads[t], NULL);
    CHECK_EQ(workers[t].wrong, 0);
    MUST(MPI_Comm_free(&workers[t].comm));
  }
  const int word = 4711;
  MUST(MPI_Send(&word, 1, MPI_INT, check_rank, 999, MPI_COMM_WORLD));
  pthread_join(waiter, NULL);
  CHECK_EQ(waiter_wrong, 0);
  return check_end();
}
