/* mpi.h: the MPI 5.0 standard C interface in its standard ABI, version 1.0.
 * SPDX-License-Identifier: BSD-3-Clause
 * Generated; do not edit. Made by: python3 bindings/gen/generate.py --header include/mpi.h
 * A program compiled with this header runs with every library that implements the standard ABI. */
#ifndef MPI_H_ABI
#define MPI_H_ABI

/* Warning options of the including program do not concern this header. */
#if defined(__GNUC__) && !defined(ASHLAR_MPI_H_SHOW_WARNINGS)
#pragma GCC system_header
#endif

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Integer types */
typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;
typedef int MPI_Fint;

/* Handles: predefined ones are small constants, all others are opaque pointers. */
@HANDLES@

typedef struct MPI_Status {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int MPI_internal[5];
} MPI_Status;

/* Enumerations of the tools interface */
@ENUMS@

/* Functions that the program supplies */
@CALLBACKS@

/* Constants */
@CONSTANTS@

/* Functions */
@PROTOTYPES@

/* The same functions under their profiling names */
@PROFILING@

#ifdef __cplusplus
}
#endif

#endif /* MPI_H_ABI */
