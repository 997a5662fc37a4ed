/* The C part of mixed.f90: the sum of the ranks of a communicator that Fortran names. */
#include <mpi.h>

int sum_in_c(int comm);

int sum_in_c(int comm) {
  int rank, total = -1;
  MPI_Comm_rank(MPI_Comm_f2c(comm), &rank);
  MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, MPI_Comm_f2c(comm));
  return total;
}
