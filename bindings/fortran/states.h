#ifndef ASHLAR_FORTRAN_STATES_H
#define ASHLAR_FORTRAN_STATES_H
/* Callbacks whose state finds the Fortran procedures: generalized requests and data representations. */
#include "callbacks.h"
#include "characters.h"

#pragma GCC visibility push(hidden)
struct f_grequest {
  f_procedure *query, *release, *cancel;
  MPI_Aint state;
};
int f_grequest_query(void*, MPI_Status*);
int f_grequest_free(void*); /* and frees the state */
int f_grequest_cancel(void*, int);

struct f_datarep {
  f_procedure *read, *write, *extent;
  MPI_Aint state;
};
int f_datarep_read(void*, MPI_Datatype, int, void*, MPI_Offset, void*);
int f_datarep_write(void*, MPI_Datatype, int, void*, MPI_Offset, void*);
int f_datarep_read_c(void*, MPI_Datatype, MPI_Count, void*, MPI_Offset, void*);
int f_datarep_write_c(void*, MPI_Datatype, MPI_Count, void*, MPI_Offset, void*);
int f_datarep_extent(MPI_Datatype, MPI_Aint*, void*);
#pragma GCC visibility pop

#endif
