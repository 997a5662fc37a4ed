#pragma once
#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "framework/base/arena.h"
#include "framework/object/handle.h"

/// Handles as integers (MPI_Comm_toint and its kin; Fortran's handles): a predefined handle is its value, any other its
/// place in the arena. No table, nothing to free; every value has an answer, and resolve() accepts the good ones only.
namespace ashlar {

/// The rule, for layers that convert handles themselves (MPI_Abi_get_info, "ashlar_handle_step"): from kPredefinedLimit
/// on the handle with number n + 1 is so many bytes behind the one with number n.
inline constexpr std::size_t kHandleStep = 64;  // what Arena::number_of counts in

template <class Handle>
int handle_to_int(Handle handle) {
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  if (bits < kPredefinedLimit) return static_cast<int>(bits);
  // What handle_from_int() made of a number that is no handle's becomes that number again: both wrap.
  return static_cast<int>(static_cast<unsigned>(kPredefinedLimit) + static_cast<unsigned>(Arena::number_of(handle)));
}

template <class Handle>
Handle handle_from_int(int number) {
  if (number >= 0 && number < static_cast<int>(kPredefinedLimit))
    return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(number));
  const unsigned behind = static_cast<unsigned>(number) - static_cast<unsigned>(kPredefinedLimit);
  return reinterpret_cast<Handle>(Arena::at(static_cast<int>(behind)));
}

}  // namespace ashlar
