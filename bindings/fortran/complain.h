#ifndef ASHLAR_FORTRAN_COMPLAIN_H
#define ASHLAR_FORTRAN_COMPLAIN_H
#include <mpi.h>

#pragma GCC visibility push(hidden)
/* Raises an error of class `class` whose string is the sentence, on the window, else on the communicator, else on
 * MPI_COMM_SELF. Returns the error code. */
int f_complain(MPI_Comm comm, MPI_Win win, int class, const char* format, ...) __attribute__((format(printf, 4, 5)));
#pragma GCC visibility pop

#endif
