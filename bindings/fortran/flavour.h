#ifndef ASHLAR_FORTRAN_FLAVOUR_H
#define ASHLAR_FORTRAN_FLAVOUR_H

#pragma GCC visibility push(hidden)
/* Leaves with the MPI library what this compiler's types are (MPI-5.0, 20.4), unless they are there already. Sets *code
 * to MPI_ERR_ABI, and says why on standard error, where the types of another compiler's Fortran library are there. */
void f_register(int* code);
#pragma GCC visibility pop

#endif
