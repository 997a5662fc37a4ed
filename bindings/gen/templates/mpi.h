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

/* Fortran's TYPE(MPI_Status), which the standard spells in both ways. */
typedef struct MPI_F08_status {
  MPI_Fint MPI_SOURCE;
  MPI_Fint MPI_TAG;
  MPI_Fint MPI_ERROR;
  MPI_Fint MPI_INTERNAL[5];
} MPI_F08_status;
typedef MPI_F08_status MPI_F08_Status;

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

/* Handles and statuses of Fortran. These functions are not of the ABI, so this header defines them over those that are:
 * an object file that uses them asks the library for MPI_Comm_toint and its like. A library that defines them itself
 * says ASHLAR_MPI_H_NO_CONVERSIONS first. */
#ifndef ASHLAR_MPI_H_NO_CONVERSIONS
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
#define MPI_ABI_INLINE static inline
#elif defined(__GNUC__)
#define MPI_ABI_INLINE static __inline__
#else
#define MPI_ABI_INLINE static
#endif
@CONVERSIONS@
#undef MPI_ABI_INLINE
#endif

#ifdef __cplusplus
}
#endif

#endif /* MPI_H_ABI */
