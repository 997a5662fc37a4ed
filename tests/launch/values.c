/* A job whose ranks have values of their own, and that goes on until it is stopped: variables are asked for from
 * outside. values HOW [threads]: what the ranks do meanwhile; with threads they request MPI_THREAD_MULTIPLE. Each rank
 * has set p2p.eager_limit to 5000 + rank before MPI_Init, and p2p.unexpected_limit to 70000 + rank after it; it has
 * rank + 1 unexpected messages. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile unsigned long worked;

static void set(const char* name, unsigned long long value) {
  MPI_T_cvar_handle handle;
  int index = -1, count = 0;
  if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS || MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) ||
      MPI_T_cvar_write(handle, &value) != MPI_SUCCESS) {
    fprintf(stderr, "%s cannot be set\n", name);
    exit(1);
  }
  MPI_T_cvar_handle_free(&handle);
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "";
  const char* const number = getenv("ASHLAR__RANK");
  const int threads = argc > 2 && strcmp(argv[2], "threads") == 0;
  int provided = 0, rank = 0, size = 0, in = 0, out = 0, done = 0;
  MPI_Request never;
  MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
  set("p2p.eager_limit", 5000 + (number != NULL ? (unsigned)atoi(number) : 0));
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  set("p2p.unexpected_limit", 70000 + (unsigned)rank);
  for (int i = 0; i <= rank; ++i) MPI_Send(&out, 1, MPI_INT, rank, i, MPI_COMM_WORLD);
  MPI_Probe(rank, rank, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("ready\n");
  fflush(stdout);
  if (strcmp(how, "computes") == 0 && rank == size - 1) {
    for (;;) worked++;
  } else if (strcmp(how, "polls") == 0) {
    MPI_Irecv(&in, 1, MPI_INT, rank, 4000, MPI_COMM_WORLD, &never);
    while (!done) MPI_Test(&never, &done, MPI_STATUS_IGNORE);
  } else if (strcmp(how, "chats") == 0) {
    for (;;)
      MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 4001, &in, 1, MPI_INT, (rank + size - 1) % size, 4001,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Recv(&in, 1, MPI_INT, rank, 4002, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return MPI_Finalize();
}
