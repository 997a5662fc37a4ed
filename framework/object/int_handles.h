#pragma once
#include <mpi.h>

#include <cstdint>

#include "framework/base/arena.h"
#include "framework/object/handle.h"

/// Handles as integers (MPI_Comm_toint and its kin; Fortran's handles): a predefined handle is its value, any other its
/// place in the arena. No table, nothing to free; every value has an answer, and resolve() accepts the good ones only.
namespace ashlar {

template <class Handle>
int handle_to_int(Handle handle) {
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  if (bits < kPredefinedLimit) return static_cast<int>(bits);
  return static_cast<int>(kPredefinedLimit) + Arena::number_of(handle);
}

template <class Handle>
Handle handle_from_int(int number) {
  if (number >= 0 && number < static_cast<int>(kPredefinedLimit))
    return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(number));
  return reinterpret_cast<Handle>(Arena::at(number - static_cast<int>(kPredefinedLimit)));
}

}  // namespace ashlar
