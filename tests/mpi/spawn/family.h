/* Programs that start themselves again: the first argument says what a child does. */
#ifndef ASHLAR_TESTS_MPI_SPAWN_FAMILY_H
#define ASHLAR_TESTS_MPI_SPAWN_FAMILY_H

#include <unistd.h>

#include "check.h"

/* The class of a code; the error handler returns. */
__attribute__((unused)) static int class_of(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class;
}

/* Every collective and a ring of messages on `comm`, whose ranks may be of several jobs. */
__attribute__((unused)) static void use_everything(MPI_Comm comm) {
  int rank, size;
  MUST(MPI_Comm_rank(comm, &rank));
  MUST(MPI_Comm_size(comm, &size));
  enum { kMost = 64, kLarge = 300000 };
  int all[kMost], out[kMost], counts[kMost], places[kMost];
  CHECK(size <= kMost);
  for (int i = 0; i < size; i++) {
    counts[i] = 1;
    places[i] = i;
    out[i] = 100 * rank + i;
  }
  MUST(MPI_Barrier(comm));
  int value = rank == size - 1 ? 4711 : 0;
  MUST(MPI_Bcast(&value, 1, MPI_INT, size - 1, comm));
  CHECK_EQ(value, 4711);
  int sum = 0, mine = rank + 1;
  MUST(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(sum, size * (size + 1) / 2);
  MUST(MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_MAX, 0, comm));
  if (rank == 0) CHECK_EQ(sum, size);
  MUST(MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(sum, (rank + 1) * (rank + 2) / 2);
  MUST(MPI_Exscan(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
  if (rank > 0) CHECK_EQ(sum, rank * (rank + 1) / 2);
  MUST(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm));
  for (int i = 0; i < size; i++) CHECK_EQ(all[i], i);
  MUST(MPI_Allgatherv(&rank, 1, MPI_INT, all, counts, places, MPI_INT, comm));
  for (int i = 0; i < size; i++) CHECK_EQ(all[i], i);
  MUST(MPI_Alltoall(out, 1, MPI_INT, all, 1, MPI_INT, comm));
  for (int i = 0; i < size; i++) CHECK_EQ(all[i], 100 * i + rank);
  MUST(MPI_Alltoallv(out, counts, places, MPI_INT, all, counts, places, MPI_INT, comm));
  for (int i = 0; i < size; i++) CHECK_EQ(all[i], 100 * i + rank);
  MUST(MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, comm));
  MUST(MPI_Gatherv(&rank, 1, MPI_INT, all, counts, places, MPI_INT, 0, comm));
  MUST(MPI_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, 0, comm));
  CHECK_EQ(value, rank);
  MUST(MPI_Scatterv(all, counts, places, MPI_INT, &value, 1, MPI_INT, 0, comm));
  CHECK_EQ(value, rank);
  MUST(MPI_Reduce_scatter_block(out, &value, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(value, 50 * size * (size - 1) + size * rank);
  MUST(MPI_Reduce_scatter(out, &value, counts, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(value, 50 * size * (size - 1) + size * rank);

  /* Messages that take the way of large ones. */
  int* const here = malloc(2 * kLarge * sizeof(int));
  for (int i = 0; i < kLarge; i++) here[i] = rank * 13 + i;
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MUST(MPI_Sendrecv(here, kLarge, MPI_INT, right, 3, here + kLarge, kLarge, MPI_INT, left, 3, comm, MPI_STATUS_IGNORE));
  for (int i = 0; i < kLarge; i++)
    if (here[kLarge + i] != left * 13 + i) {
      CHECK_EQ(here[kLarge + i], left * 13 + i);
      break;
    }
  free(here);

  /* Communicators, a window and a file of it. */
  MPI_Comm half;
  MUST(MPI_Comm_split(comm, rank % 2, rank, &half));
  MUST(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, half));
  MUST(MPI_Comm_free(&half));
  int* base;
  MPI_Win window;
  MUST(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &base, &window));
  *base = 0;
  MUST(MPI_Win_fence(0, window));
  const int one = 1;
  for (int i = 0; i < size; i++) MUST(MPI_Accumulate(&one, 1, MPI_INT, i, 0, 1, MPI_INT, MPI_SUM, window));
  MUST(MPI_Put(&one, 0, MPI_INT, right, 0, 0, MPI_INT, window));
  MUST(MPI_Win_fence(0, window));
  CHECK_EQ(*base, size);
  MUST(MPI_Win_free(&window));
  MPI_File file;
  char name[64] = "";
  if (rank == 0) snprintf(name, sizeof name, "/tmp/ashlar-spawn-%d-XXXXXX", size);
  if (rank == 0) {
    const int made = mkstemp(name);
    CHECK(made >= 0);
    close(made);
  }
  MUST(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, comm));
  MUST(MPI_File_open(comm, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
  MUST(MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof(int), &mine, 1, MPI_INT, MPI_STATUS_IGNORE));
  MUST(MPI_File_sync(file));
  MUST(MPI_Barrier(comm));
  MUST(MPI_File_read_at_all(file, left * (MPI_Offset)sizeof(int), &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQ(value, left + 1);
  MUST(MPI_File_close(&file));
}

/* Both groups of an intercommunicator exchange something, by messages and by a collective. */
__attribute__((unused)) static void greet(MPI_Comm inter) {
  int rank, remote, sum = -1;
  MUST(MPI_Comm_rank(inter, &rank));
  MUST(MPI_Comm_remote_size(inter, &remote));
  const int one = 1;
  MUST(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter));
  CHECK_EQ(sum, remote);
  if (rank != 0) return;
  int mine = 77, theirs = 0;
  MUST(MPI_Sendrecv(&mine, 1, MPI_INT, 0, 9, &theirs, 1, MPI_INT, 0, 9, inter, MPI_STATUS_IGNORE));
  CHECK_EQ(theirs, 77);
}

#endif
