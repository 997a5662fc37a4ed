/* A program for jobs on several hosts: hosts WHAT. Each says what it is for; what is wrong ends it with status 3. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks;

static void must(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void all_reduce(MPI_Comm comm, int count) {
  int size, me;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &me);
  long* mine = malloc(sizeof(long) * (size_t)count);
  long* sum = malloc(sizeof(long) * (size_t)count);
  for (int i = 0; i < count; ++i) mine[i] = me + i;
  MPI_Allreduce(mine, sum, count, MPI_LONG, MPI_SUM, comm);
  for (int i = 0; i < count; ++i) must(sum[i] == (long)size * (size - 1) / 2 + (long)size * i, "a sum is wrong");
  free(mine);
  free(sum);
}

/* Who is where, and sums of small and large arrays, in the world, on each host, and among the first of each host. */
static void hello(void) {
  MPI_Comm node, leaders;
  int on_node, me;
  char host[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  MPI_Get_processor_name(host, &length);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &on_node);
  MPI_Comm_rank(node, &me);
  MPI_Comm_split(MPI_COMM_WORLD, me == 0 ? 0 : MPI_UNDEFINED, 0, &leaders);
  for (int count = 1; count <= 100000; count *= 10) {
    all_reduce(MPI_COMM_WORLD, count);
    all_reduce(node, count);
    if (leaders != MPI_COMM_NULL) all_reduce(leaders, count);
  }
  const char* local = getenv("ASHLAR__LOCAL_RANK");
  printf("rank %d of %d on %s, %d of %d there, local %s\n", rank, ranks, host, me, on_node, local ? local : "?");
  MPI_Comm_free(&node);
  if (leaders != MPI_COMM_NULL) MPI_Comm_free(&leaders);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* what = argc > 1 ? argv[1] : "hello";
  if (strcmp(what, "hello") == 0) {
    hello();
  } else if (strcmp(what, "wait") == 0) { /* until something ends it; the last rank is not in the call */
    printf("ready\n");
    fflush(stdout);
    if (rank == ranks - 1)
      for (;;) pause();
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(what, "recv") == 0) { /* the last rank waits for rank 0, which waits for it */
    int number = 0;
    printf("ready\n");
    fflush(stdout);
    if (rank == 0 || rank == ranks - 1)
      MPI_Recv(&number, 1, MPI_INT, ranks - 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(what, "exit") == 0) { /* the last rank returns 7, after MPI_Finalize */
    MPI_Finalize();
    return rank == ranks - 1 ? 7 : 0;
  } else if (strcmp(what, "abort") == 0) {
    if (rank == ranks - 1) MPI_Abort(MPI_COMM_WORLD, 9);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(what, "spawn") == 0) {
    MPI_Comm children;
    MPI_Comm_spawn("true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, ranks - 1, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  } else if (strcmp(what, "kill") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == ranks - 1) raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
