/* mpi_fortran.h: what C programs with Fortran parts need besides mpi.h, which has MPI_Comm_c2f and its like.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Fint is C's int: the INTEGER of Fortran code that is compiled without -i8, -fdefault-integer-8 and the like.
 * Handles pass to and from 8-byte INTEGERs as well; for statuses use TYPE(MPI_Status) with BIND(C) or
 * MPI_Status_get_source. */
#ifndef ASHLAR_MPI_FORTRAN_H
#define ASHLAR_MPI_FORTRAN_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE of Fortran. They are in the Fortran library: a program that uses them is
 * linked by mpifort, or with it. */
extern MPI_Fint* MPI_F_STATUS_IGNORE;
extern MPI_Fint* MPI_F_STATUSES_IGNORE;
extern MPI_F08_status* MPI_F08_STATUS_IGNORE;
extern MPI_F08_status* MPI_F08_STATUSES_IGNORE;

#ifdef __cplusplus
}
#endif

#endif
