/* An allreduce on all ranks, in the world model or, as "settings sessions", of a session; prints "sum N" on rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static MPI_Comm of_session(MPI_Session* session) {
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session);
  MPI_Group_from_session_pset(*session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "settings", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  return comm;
}

int main(int argc, char** argv) {
  const int sessions = argc > 1 && strcmp(argv[1], "sessions") == 0;
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  int rank, sum = 0;
  if (sessions) {
    comm = of_session(&session);
  } else {
    MPI_Init(&argc, &argv);
    comm = MPI_COMM_WORLD;
  }
  MPI_Comm_rank(comm, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (rank == 0) printf("sum %d\n", sum);
  if (sessions) {
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
  } else {
    MPI_Finalize();
  }
  return 0;
}
