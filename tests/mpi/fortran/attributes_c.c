/* The C side of attributes.F90. */
#include <mpi.h>
#include <stddef.h>

static int variable = 4711;

/* 0 when C finds what Fortran set: an address of an MPI_Aint, or of an int. */
int c_sees_aint(const int* comm, const int* key, const MPI_Aint* expected);
int c_sees_int(const int* comm, const int* key, const int* expected);
void c_sets(const int* comm, const int* key, MPI_Aint* address);
void c_makes_keyval(int* key);

int c_sees_aint(const int* comm, const int* key, const MPI_Aint* expected) {
  MPI_Aint* found = NULL;
  int flag = 0;
  MPI_Comm_get_attr(MPI_Comm_fromint(*comm), *key, &found, &flag);
  return !(flag && *found == *expected);
}

int c_sees_int(const int* comm, const int* key, const int* expected) {
  int *found = NULL, flag = 0;
  MPI_Comm_get_attr(MPI_Comm_fromint(*comm), *key, &found, &flag);
  return !(flag && *found == *expected);
}

void c_sets(const int* comm, const int* key, MPI_Aint* address) {
  MPI_Comm_set_attr(MPI_Comm_fromint(*comm), *key, &variable);
  *address = (MPI_Aint)&variable;
}

void c_makes_keyval(int* key) { MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, NULL); }
