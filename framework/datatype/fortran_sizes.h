#pragma once
#include <mpi.h>

#include <cstdint>

#include "framework/datatype/basic.h"

namespace ashlar::datatype {

/// Bytes of Fortran's default kinds. They belong to a compiler and its flags (-fdefault-integer-8), so a Fortran
/// library registers them (MPI_Abi_set_fortran_info).
struct FortranSizes {
  int logical = 4, integer = 4, real = 4, double_precision = 8;
  bool operator==(const FortranSizes&) const = default;
};

/// Whether all of them are sizes that a kind has here.
bool possible(const FortranSizes& sizes);
FortranSizes fortran_sizes();  // those in force
/// Gives them to MPI_INTEGER, MPI_REAL, MPI_2INTEGER and the other datatypes of default kinds. Only while no datatype
/// can have been used: before MPI is initialised, under the lock that guards that. Set-up path.
void set_fortran_sizes(const FortranSizes& sizes);

/// The values of .TRUE. and .FALSE., which logical reductions of MPI_LOGICAL and its kin give from now on. Any thread.
void set_fortran_booleans(std::int64_t yes, std::int64_t no);

BasicRow& row_to_change(MPI_Datatype handle);
/// The object of the row becomes what the row says now, if it was made before.
void fit_predefined(const BasicRow& row);

}  // namespace ashlar::datatype
