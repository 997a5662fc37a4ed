#pragma once
#include "framework/base/failure.h"

namespace ashlar::datatype {

/// Runs a constructor's body; out of memory becomes MPI_ERR_NO_MEM, so that no exception leaves the room.
template <class Body>
Status guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "a datatype"}});
  }
}

}  // namespace ashlar::datatype
