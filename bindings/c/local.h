#pragma once
#include <mpi.h>

#include <cstdint>

/// Calls so small that they live in the bindings.
namespace ashlar::bindings {

// Unsigned arithmetic: MPI_Aint holds addresses, and addresses wrap.
inline MPI_Aint aint_add(MPI_Aint base, MPI_Aint displacement) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(displacement));
}
inline MPI_Aint aint_diff(MPI_Aint a, MPI_Aint b) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(a) - static_cast<std::uintptr_t>(b));
}

}  // namespace ashlar::bindings
