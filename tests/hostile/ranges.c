/* What a program of any kind does, for trying values of parameters: messages of 8 bytes, 64 KiB and 3 MB both ways at
 * once and to oneself, more messages than are received at first, collectives, two threads. Prints "ok RANKS". */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mpi/check.h"

static const int kSizes[] = {0, 8, 65536, 3000000};

static void exchange(MPI_Comm comm, int peer, int bytes, unsigned seed) {
  unsigned char* const out = check_alloc((size_t)bytes + 1);
  unsigned char* const in = check_alloc((size_t)bytes + 1);
  MPI_Request r[2];
  pattern_fill(out, (size_t)bytes, (unsigned)check_rank + seed);
  MUST(MPI_Irecv(in, bytes, MPI_BYTE, peer, 1, comm, &r[0]));
  MUST(MPI_Isend(out, bytes, MPI_BYTE, peer, 1, comm, &r[1]));
  MUST(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
  CHECK_PATTERN(in, (size_t)bytes, (unsigned)peer + seed);
  free(out);
  free(in);
}

/* Unexpected ones: all are sent before the first is received. */
static void flood(int peer) {
  enum { kMany = 200, kBytes = 4096 };
  unsigned char* const out = check_alloc((size_t)kMany * kBytes);
  unsigned char* const in = check_alloc(kBytes);
  MPI_Request r[kMany];
  memset(out, 7, (size_t)kMany * kBytes);
  for (int i = 0; i < kMany; i++) MUST(MPI_Isend(out + i * kBytes, kBytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &r[i]));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < kMany; i++) MUST(MPI_Recv(in, kBytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  MUST(MPI_Waitall(kMany, r, MPI_STATUSES_IGNORE));
  free(out);
  free(in);
}

static void collectives(int ints) {
  const size_t all = (size_t)ints * (size_t)check_size;
  int* const mine = check_alloc(all * sizeof(int));
  int* const theirs = check_alloc(all * sizeof(int));
  for (size_t i = 0; i < all; i++) mine[i] = check_rank;
  MUST(MPI_Allreduce(mine, theirs, ints, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(theirs[ints - 1], check_size * (check_size - 1) / 2);
  MUST(MPI_Alltoall(mine, ints, MPI_INT, theirs, ints, MPI_INT, MPI_COMM_WORLD));
  for (int r = 0; r < check_size; r++) CHECK_EQ(theirs[r * ints + ints - 1], r);
  MUST(MPI_Allgather(mine, ints, MPI_INT, theirs, ints, MPI_INT, MPI_COMM_WORLD));
  for (int r = 0; r < check_size; r++) CHECK_EQ(theirs[r * ints + ints - 1], r);
  MUST(MPI_Bcast(mine, ints, MPI_INT, check_size - 1, MPI_COMM_WORLD));
  CHECK_EQ(mine[ints - 1], check_size - 1);
  MUST(MPI_Gather(mine, ints, MPI_INT, theirs, ints, MPI_INT, 0, MPI_COMM_WORLD));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  free(mine);
  free(theirs);
}

struct work {
  MPI_Comm comm;
  int peer;
};
static void* talk(void* argument) {
  const struct work* const w = argument;
  for (unsigned i = 0; i < 20; i++) exchange(w->comm, w->peer, i % 4 == 0 ? 100000 : 64, i);
  return NULL;
}

int main(int argc, char** argv) {
  int level;
  (void)argc;
  (void)argv;
  MUST(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level));
  MUST(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
  MUST(MPI_Comm_size(MPI_COMM_WORLD, &check_size));
  const int peer = check_size - 1 - check_rank; /* the middle one of an odd number talks to itself */
  for (unsigned i = 0; i < sizeof kSizes / sizeof *kSizes; i++) {
    exchange(MPI_COMM_WORLD, peer, kSizes[i], i);
    exchange(MPI_COMM_WORLD, check_rank, kSizes[i], i);
  }
  flood(peer);
  collectives(2);
  collectives(5000);
  collectives(250000);
  struct work w[2] = {{MPI_COMM_NULL, peer}, {MPI_COMM_NULL, peer}};
  pthread_t threads[2];
  for (int t = 0; t < 2; t++) MUST(MPI_Comm_dup(MPI_COMM_WORLD, &w[t].comm));
  for (int t = 0; t < 2; t++) pthread_create(&threads[t], NULL, talk, &w[t]);
  for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
  for (int t = 0; t < 2; t++) MUST(MPI_Comm_free(&w[t].comm));
  if (check_rank == 0) printf("ok %d\n", check_size);
  MUST(MPI_Finalize());
  return 0;
}
