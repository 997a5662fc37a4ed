// One allreduce; prints what came of it on rank 0, or the error's text: what coll_rounds.py looks at.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, length;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int sum = 0;
  const int code = MPI_Allreduce(&(int){rank + 1}, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Error_string(code, text, &length);
  if (rank == 0 && code == MPI_SUCCESS) printf("sum %d\n", sum);
  if (rank == 0 && code != MPI_SUCCESS) printf("%s\n", text);
  MPI_Finalize();
  return 0;
}
