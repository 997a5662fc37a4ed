/* Threads with communicators of their own, threads that share one, and a thread that waits while others work. With the
 * argument "mixed", those ranks that have "single" too have no threads: messages between them and the others take other
 * ways. */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

enum { kThreads = 4 };
static int right, left;

typedef struct {
  MPI_Comm comm;
  int number, tag;
} Talk;

/* Rounds of ring exchanges of all sizes, by blocking and nonblocking calls, with wildcards and probes. */
static void* talk(void* argument) {
  const Talk* t = argument;
  Random random = {(uint64_t)t->number * 7919 + 1};
  for (int round = 0; round < 60; round++) {
    static const int kBytes[] = {0, 8, 40, 300, 9000, 150000};
    const int bytes = kBytes[random_below(&random, 6)], way = random_below(&random, 4);
    unsigned char *out = check_alloc((size_t)bytes), *in = check_alloc((size_t)bytes);
    const unsigned seed = (unsigned)(t->number * 1000 + round);
    MPI_Request r[2];
    MPI_Status s;
    int count;
    pattern_fill(out, (size_t)bytes, seed + (unsigned)check_rank);
    if (way == 0) {
      MUST(MPI_Sendrecv(out, bytes, MPI_BYTE, right, t->tag, in, bytes, MPI_BYTE, left, t->tag, t->comm, &s));
    } else if (way == 1) {
      MUST(MPI_Irecv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, t->tag, t->comm, &r[0]));
      MUST(MPI_Issend(out, bytes, MPI_BYTE, right, t->tag, t->comm, &r[1]));
      MUST(MPI_Wait(&r[0], &s));
      MUST(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
    } else if (way == 2) {
      MPI_Message m;
      MUST(MPI_Isend(out, bytes, MPI_BYTE, right, t->tag, t->comm, &r[0]));
      MUST(MPI_Mprobe(left, t->tag, t->comm, &m, MPI_STATUS_IGNORE));
      MUST(MPI_Mrecv(in, bytes, MPI_BYTE, &m, &s));
      MUST(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    } else {
      int index;
      MUST(MPI_Irecv(in, bytes, MPI_BYTE, left, t->tag, t->comm, &r[0]));
      MUST(MPI_Isend(out, bytes, MPI_BYTE, right, t->tag, t->comm, &r[1]));
      MPI_Status first;
      MUST(MPI_Waitany(2, r, &index, &first));
      if (index == 0) s = first;
      MUST(MPI_Waitany(2, r, &index, &first));
      if (index == 0) s = first;
    }
    MUST(MPI_Get_count(&s, MPI_BYTE, &count));
    CHECK(count == bytes && s.MPI_SOURCE == left && s.MPI_TAG == t->tag, "%d bytes of %d", count, bytes);
    CHECK_PATTERN(in, (size_t)bytes, seed + (unsigned)left);
    free(out), free(in);
  }
  return NULL;
}

static void run(Talk* talks, int threads) {
  pthread_t ids[kThreads];
  for (int i = 1; i < threads; i++) pthread_create(&ids[i], NULL, talk, &talks[i]);
  talk(&talks[0]);
  for (int i = 1; i < threads; i++) pthread_join(ids[i], NULL);
}

static void* wait_long(void* argument) {
  int x = 0;
  MPI_Request r;
  MUST(MPI_Irecv(&x, 1, MPI_INT, check_rank, 99, *(MPI_Comm*)argument, &r));
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  CHECK_EQ(x, 3);
  return NULL;
}

static int complete_it(void* state) {
  (void)state;
  return MPI_SUCCESS;
}
static int nothing(void* state, MPI_Status* s) {
  (void)state;
  return MPI_Status_set_elements(s, MPI_INT, 0);
}
static int no_cancel(void* state, int complete) {
  (void)state, (void)complete;
  return MPI_SUCCESS;
}
static void* complete_later(void* argument) {
  usleep(30000);
  MUST(MPI_Grequest_complete(*(MPI_Request*)argument));
  return NULL;
}

static int among(int argc, char** argv, const char* word) {
  while (argc-- > 1)
    if (strcmp(argv[argc], word) == 0) return 1;
  return 0;
}

int main(int argc, char** argv) {
  const int mixed = among(argc, argv, "mixed"), single = among(argc, argv, "single");
  int provided = MPI_THREAD_SINGLE;
  MPI_Comm comms[kThreads];
  MUST(MPI_Init_thread(&argc, &argv, single ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MUST(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
  MUST(MPI_Comm_size(MPI_COMM_WORLD, &check_size));
  right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  Talk talks[kThreads];
  for (int i = 0; i < kThreads; i++) {
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    talks[i] = (Talk){comms[i], i, 5};
  }
  if (mixed) {
    /* Those without threads go through the communicators one after the other, the same for all. */
    for (int i = 0; i < kThreads; i++) talk(&talks[i]);
  } else {
    run(talks, kThreads);
    for (int i = 0; i < kThreads; i++) talks[i] = (Talk){MPI_COMM_WORLD, i, 10 + i};
    run(talks, kThreads);
    /* A thread sits in a wait that ends only after all others are done, on the lane of the others and on another. */
    for (int i = 0; i < 2; i++) {
      pthread_t waiting;
      int x = 3;
      pthread_create(&waiting, NULL, wait_long, &comms[i]);
      for (int k = 0; k < kThreads; k++) talks[k] = (Talk){comms[k], k, 20 + k};
      run(talks, kThreads);
      usleep(20000); /* long enough for it to fall asleep */
      MUST(MPI_Send(&x, 1, MPI_INT, check_rank, 99, comms[i]));
      pthread_join(waiting, NULL);
    }
    /* Woken by another thread's MPI_Grequest_complete. */
    pthread_t later;
    MPI_Request r, copy;
    MUST(MPI_Grequest_start(nothing, complete_it, no_cancel, NULL, &r));
    copy = r;
    pthread_create(&later, NULL, complete_later, &copy);
    MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
    pthread_join(later, NULL);
  }
  for (int i = 0; i < kThreads; i++) MUST(MPI_Comm_free(&comms[i]));
  return check_end();
}
