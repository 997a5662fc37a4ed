/* A program for a profiling library to watch: the calls it makes are known. */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank, value = 1, sum, data[10] = {0};
  MPI_Comm comm, part;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; i++) {
    MPI_Request request;
    MPI_Irecv(data, 10, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_SELF, &request);
    MPI_Send(data, 10, MPI_INT, 0, i, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Pcontrol(0);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Pcontrol(1, "more", 2.0);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
  /* These communicate inside the library, which no tool may see. */
  MPI_Comm_split(comm, 0, -rank, &part);
  MPI_Barrier(part);
  MPI_Comm_free(&part);
  MPI_Comm_free(&comm);
  (void)MPI_Wtime();
  MPI_Finalize();
  return 0;
}
