#ifndef ASHLAR_FORTRAN_FLAVOUR_H
#define ASHLAR_FORTRAN_FLAVOUR_H

#pragma GCC visibility push(hidden)
/* Leaves with the MPI library what this compiler's types are (MPI-5.0, 20.4), unless they are there already. Sets *code
 * to MPI_ERR_ABI, and says why on standard error, where the types of another compiler's Fortran library are there.
 * The standard allows this before MPI starts, and Ashlar MPI makes its datatypes then; others may end the program. */
enum f_when { F_BEFORE_START, F_AFTER_START };
void f_register(enum f_when, int* code);
/* Whether the library below is Ashlar MPI. */
int f_over_ashlar(void);
#pragma GCC visibility pop

#endif
