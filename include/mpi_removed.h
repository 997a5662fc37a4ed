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
/* bounds of a datatype */
#define MPI_LB ((MPI_Datatype)0x00000f01)
#define MPI_UB ((MPI_Datatype)0x00000f02)

/* Functions */
int MPI_Address(const void* location, MPI_Aint* address);
int MPI_Errhandler_create(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler);
int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler);
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler);
int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint* extent);
int MPI_Type_hindexed(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype* newtype);
int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype* newtype);
int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint* displacement);
int MPI_Type_struct(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
    const MPI_Datatype array_of_types[], MPI_Datatype* newtype);
int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint* displacement);

/* The same functions under their profiling names */
int PMPI_Address(const void* location, MPI_Aint* address);
int PMPI_Errhandler_create(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler);
int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler);
int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler);
int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint* extent);
int PMPI_Type_hindexed(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype* newtype);
int PMPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype* newtype);
int PMPI_Type_lb(MPI_Datatype datatype, MPI_Aint* displacement);
int PMPI_Type_struct(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
    const MPI_Datatype array_of_types[], MPI_Datatype* newtype);
int PMPI_Type_ub(MPI_Datatype datatype, MPI_Aint* displacement);

#ifdef __cplusplus
}
#endif

#endif /* ASHLAR_MPI_REMOVED_H */
