/* Threads that spawn, and accept and connect, at the same time, each with a communicator of its own; and many children
 * at once: the argument says how many. */
#include <pthread.h>

#include "family.h"

enum { kThreads = 4 };

static char* program;

static MPI_Comm spawn(MPI_Comm comm, int processes) {
  char* arguments[] = {"child", NULL};
  MPI_Comm children = MPI_COMM_NULL;
  MUST(MPI_Comm_spawn(program, arguments, processes, MPI_INFO_NULL, 0, comm, &children, MPI_ERRCODES_IGNORE));
  return children;
}

static void* spawn_twice(void* own) {
  for (int i = 0; i < 2; i++) {
    MPI_Comm children = spawn(*(MPI_Comm*)own, 1);
    greet(children);
    MUST(MPI_Comm_disconnect(&children));
  }
  return NULL;
}

static void threads(void) {
  pthread_t running[kThreads];
  MPI_Comm own[kThreads];
  for (int i = 0; i < kThreads; i++) MUST(MPI_Comm_dup(MPI_COMM_WORLD, &own[i]));
  for (int i = 0; i < kThreads; i++) CHECK_EQ(pthread_create(&running[i], NULL, spawn_twice, &own[i]), 0);
  for (int i = 0; i < kThreads; i++) CHECK_EQ(pthread_join(running[i], NULL), 0);
  for (int i = 0; i < kThreads; i++) MUST(MPI_Comm_free(&own[i]));
}

/* All are there before the first is done with. */
static void many(int jobs) {
  MPI_Comm* const children = malloc((size_t)jobs * sizeof *children);
  for (int i = 0; i < jobs; i++) children[i] = spawn(MPI_COMM_SELF, 1);
  for (int i = 0; i < jobs; i++) greet(children[i]);
  for (int i = jobs; i-- > 0;) MUST(MPI_Comm_disconnect(&children[i]));
  free(children);
}

int main(int argc, char** argv) {
  MPI_Comm parent;
  int provided;
  MUST(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  MUST(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
  MUST(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
  MUST(MPI_Comm_size(MPI_COMM_WORLD, &check_size));
  program = argv[0];
  MUST(MPI_Comm_get_parent(&parent));
  if (parent != MPI_COMM_NULL) {
    greet(parent);
    MUST(MPI_Comm_disconnect(&parent));
    return check_end();
  }
  threads();
  if (check_rank == 0) many(argc > 1 ? atoi(argv[1]) : 8);
  return check_end();
}
