#pragma once
#include <mpi.h>

#include "framework/datatype/data_view.h"

namespace ashlar::datatype {

/// A part of a buffer that was converted to "external32", or from it: whole elements.
struct ExternalPart {
  MPI_Count elements = 0;
  MPI_Count packed = 0;    // their bytes in memory
  MPI_Count external = 0;  // and in the external form
};

/// Converts the elements of `view` from element `first` on, as many as `room` bytes hold. O(depth parts) to begin
/// anywhere. The datatype is committed. Any thread. Never blocks.
ExternalPart pack_external_part(const DataView& view, MPI_Count first, void* to, MPI_Count room);
/// The reverse, as many as the `bytes` bytes have.
ExternalPart unpack_external_part(const DataView& view, MPI_Count first, const void* from, MPI_Count bytes);

}  // namespace ashlar::datatype
