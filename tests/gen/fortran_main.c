/* Starts MPI for the Fortran proof and does for it what the module does not have yet. */
#include <mpi.h>
#include <stdio.h>

int proof(int rank, int size);
int complete(int request);
int reduce_with(int op, int mine, int* sum);

int complete(int request) {
  MPI_Request handle = MPI_Request_fromint(request);
  return MPI_Wait(&handle, MPI_STATUS_IGNORE);
}

int reduce_with(int op, int mine, int* sum) {
  return MPI_Allreduce(&mine, sum, 1, MPI_INTEGER, MPI_Op_fromint(op), MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank, size, wrong, all_wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  wrong = proof(rank, size);
  if (MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS) all_wrong = wrong + 1;
  if (rank == 0) printf("%d mistakes on %d ranks\n", all_wrong, size);
  MPI_Finalize();
  return all_wrong != 0;
}
