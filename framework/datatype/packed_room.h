#pragma once
#include <mpi.h>

#include "framework/base/failure.h"
#include "framework/base/status.h"

namespace ashlar::datatype {

/// Whether `needed` bytes fit between `position` and the end of the buffer called `what`, of `size` bytes.
inline Status check_packed_room(const char* what, MPI_Count size, MPI_Count position, MPI_Count needed) {
  if (position < 0 || position > size)
    return fail(MPI_ERR_ARG, "pack.position",
                {{"argument", "position"}, {"value", position}, {"what", what}, {"size", size}});
  if (needed > size - position)
    return fail(MPI_ERR_TRUNCATE, "pack.no_room",
                {{"bytes_wanted", needed}, {"position", position}, {"what", what}, {"size", size}});
  return {};
}

}  // namespace ashlar::datatype
