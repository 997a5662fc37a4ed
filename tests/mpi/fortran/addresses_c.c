/* The C side of addresses.F90. */
#include <mpi.h>

int c_sends(int datatype);
int c_receives(int datatype);
int c_makes(void);
void c_sets(int number);
int c_has(int number);

static int numbers[5];
static double x;

static int rank(void) {
  int found = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &found);
  return found;
}

int c_sends(int datatype) { return MPI_Send(MPI_BOTTOM, 1, MPI_Type_f2c(datatype), rank(), 1, MPI_COMM_WORLD); }

int c_receives(int datatype) {
  return MPI_Recv(MPI_BOTTOM, 1, MPI_Type_f2c(datatype), rank(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int c_makes(void) {
  MPI_Datatype made, types[] = {MPI_INT, MPI_DOUBLE};
  MPI_Aint places[2];
  MPI_Get_address(numbers, &places[0]);
  MPI_Get_address(&x, &places[1]);
  MPI_Type_create_struct(2, (int[]){5, 1}, places, types, &made);
  MPI_Type_commit(&made);
  return MPI_Type_c2f(made);
}

void c_sets(int number) {
  for (int i = 0; i < 5; i++) numbers[i] = number;
  x = number;
}

int c_has(int number) {
  for (int i = 0; i < 5; i++)
    if (numbers[i] != number) return 0;
  return x == number;
}
