// What fortran_calls.F90 does, in C.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  int data[4] = {0};
  if (argc < 3) return 2;
  const int times = atoi(argv[2]), receive = strcmp(argv[1], "receive") == 0, section = strcmp(argv[1], "section") == 0;
  MPI_Datatype row;
  MPI_Init(&argc, &argv);
  MPI_Type_vector(2, 1, 2, MPI_INT, &row);
  MPI_Type_commit(&row);
  if (receive) {
    for (int i = 0; i < times; ++i) {
      MPI_Request request;
      MPI_Irecv(data, 2, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  } else if (section) {
    for (int i = 0; i < times; ++i) MPI_Send(data, 1, row, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  } else {
    for (int i = 0; i < times; ++i) MPI_Send(data, 2, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  }
  MPI_Type_free(&row);
  return MPI_Finalize();
}
