#pragma once
#include <string>

namespace ashlar::mpiexec {

/// The set of acceptable numbers of ranks that -soft names (MPI-5.0, 11.5): triplets first:last:step, or first:last, or
/// first alone, separated by commas; falling ones have a negative step. Finds its largest number from 1 to `most`, or 0
/// when it has none. False: it is no such list.
bool largest_of(const std::string& list, long most, long* found);

}  // namespace ashlar::mpiexec
