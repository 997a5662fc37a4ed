/* mpi_removed.h: names of MPI-1 that later versions of the standard removed, for programs that still use them.
 * SPDX-License-Identifier: BSD-3-Clause
 * Generated; do not edit. Made by: python3 bindings/gen/generate.py --removed include/mpi_removed.h
 * They are not part of the standard ABI: a program that uses them runs with this library only. */
#ifndef ASHLAR_MPI_REMOVED_H
#define ASHLAR_MPI_REMOVED_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef MPI_Comm_errhandler_function MPI_Handler_function;

/* Constants */
@CONSTANTS@

/* Functions */
@PROTOTYPES@

/* The same functions under their profiling names */
@PROFILING@

#ifdef __cplusplus
}
#endif

#endif /* ASHLAR_MPI_REMOVED_H */
