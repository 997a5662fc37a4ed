/* The first program: every rank says who and where it is; rank 0 adds up what the others sent. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);

  int rank, size, length;
  char host[MPI_MAX_PROCESSOR_NAME];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_processor_name(host, &length);
  printf("hello from rank %d of %d on %s\n", rank, size, host);

  int sum = 0;
  MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("the ranks add up to %d, and should to %d\n", sum, size * (size - 1) / 2);

  MPI_Finalize();
  return sum == (rank == 0 ? size * (size - 1) / 2 : 0) ? 0 : 1;
}
