#pragma once
#include <mpi.h>

#include "framework/base/status.h"

namespace ashlar::datatype {

/// Whether `needed` bytes fit between `position` and the end of the buffer called `what`, of `size` bytes.
inline Status check_packed_room(const char* what, MPI_Count size, MPI_Count position, MPI_Count needed) {
  if (position < 0 || position > size)
    return Status::fail(MPI_ERR_ARG, "argument position is %lld, which is outside the %s of %lld bytes",
                        static_cast<long long>(position), what, static_cast<long long>(size));
  if (needed > size - position)
    return Status::fail(
        MPI_ERR_TRUNCATE, "%lld bytes do not fit between position %lld and the end of the %s (%lld bytes)",
        static_cast<long long>(needed), static_cast<long long>(position), what, static_cast<long long>(size));
  return {};
}

}  // namespace ashlar::datatype
