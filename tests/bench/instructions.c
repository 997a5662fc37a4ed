/* Calls whose instructions are counted from outside (by instructions.py, with callgrind). Each is made when its
 * partner is ready, so that none of them waits: what is counted is the way of a message and not how long it takes.
 * One-sided calls wait for nothing anyway, nor do messages to and from MPI_PROC_NULL. Arguments: send, recv or
 * exchange, or put, get, fetch, flush_all or lock, or null_send or null_recv; how many times; and a folder with a FIFO
 * for each rank, named by its number. Prints which process is which rank. */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kBytes = 8, kTag = 1 };

static int own_fifo, other_fifo;

static int open_fifo(const char* folder, int rank) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%d", folder, rank);
  const int fd = open(path, O_RDWR); /* which does not wait for another process */
  if (fd >= 0) return fd;
  perror(path);
  exit(1);
}

/* Until the other rank is here, too. Nobody waits inside the library, where the wait would be counted. */
static void meet(void) {
  char byte = 0;
  if (write(other_fifo, &byte, 1) == 1 && read(own_fifo, &byte, 1) == 1) return;
  perror("fifo");
  exit(1);
}

/* Rank 0 calls; the window's memory is rank 1's, which waits in a barrier. */
static void one_sided(const char* what, int count, int rank) {
  int64_t *memory, word = 1, was = 0;
  MPI_Win win;
  MPI_Win_allocate(kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  *memory = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const int locks = strcmp(what, "lock") == 0;
  if (rank == 0) {
    if (!locks) MPI_Win_lock_all(0, win);
    for (int i = 0; i < count; i++) {
      if (locks) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Win_unlock(1, win);
      } else if (strcmp(what, "put") == 0) {
        MPI_Put(&word, kBytes, MPI_BYTE, 1, 0, kBytes, MPI_BYTE, win);
      } else if (strcmp(what, "get") == 0) {
        MPI_Get(&was, kBytes, MPI_BYTE, 1, 0, kBytes, MPI_BYTE, win);
      } else if (strcmp(what, "flush_all") == 0) {
        MPI_Win_flush_all(win);
      } else {
        MPI_Fetch_and_op(&word, &was, MPI_INT64_T, 1, 0, MPI_SUM, win);
      }
    }
    if (!locks) MPI_Win_unlock_all(win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&win);
}

static void with_null(const char* what, int count) {
  char data[kBytes] = {0};
  const int sends = strcmp(what, "null_send") == 0;
  for (int i = 0; i < count; i++) {
    if (sends)
      MPI_Send(data, kBytes, MPI_BYTE, MPI_PROC_NULL, kTag, MPI_COMM_WORLD);
    else
      MPI_Recv(data, kBytes, MPI_BYTE, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "send";
  const int count = argc > 2 ? atoi(argv[2]) : 10;
  const char* const folder = argc > 3 ? argv[3] : ".";
  char in[kBytes], out[kBytes] = {0};
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d pid %d\n", rank, (int)getpid());
  fflush(stdout);
  const int other = 1 - rank;
  if (strncmp(what, "null_", 5) == 0) {
    with_null(what, count);
    MPI_Finalize();
    return 0;
  }
  if (strcmp(what, "put") == 0 || strcmp(what, "get") == 0 || strcmp(what, "fetch") == 0 ||
      strcmp(what, "flush_all") == 0 || strcmp(what, "lock") == 0) {
    one_sided(what, count, rank);
    MPI_Finalize();
    return 0;
  }
  own_fifo = open_fifo(folder, rank);
  other_fifo = open_fifo(folder, other);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < count; i++) {
    meet();
    if (strcmp(what, "exchange") == 0) {
      MPI_Request r[2];
      MPI_Irecv(in, kBytes, MPI_BYTE, other, kTag, MPI_COMM_WORLD, &r[0]);
      MPI_Isend(out, kBytes, MPI_BYTE, other, kTag, MPI_COMM_WORLD, &r[1]);
      meet();
      MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    } else if (rank == 0) { /* its sends are those of "send" */
      MPI_Send(out, kBytes, MPI_BYTE, 1, kTag, MPI_COMM_WORLD);
      meet();
    } else { /* its receives are those of "recv": the message is there */
      meet();
      MPI_Recv(in, kBytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Finalize();
  return 0;
}
