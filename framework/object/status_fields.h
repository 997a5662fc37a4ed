#pragma once
#include <mpi.h>

#include <cstdint>
#include <cstring>

/// What the library keeps in the five words of MPI_Status that the ABI leaves to it.
///   [0..1] received bytes, 64 bits    [2] cancelled flag    [3..4] unused, zero
namespace ashlar {

inline void set_bytes(MPI_Status& status, MPI_Count bytes) {
  std::memcpy(&status.MPI_internal[0], &bytes, sizeof bytes);
}
inline MPI_Count bytes_of(const MPI_Status& status) {
  MPI_Count bytes;
  std::memcpy(&bytes, &status.MPI_internal[0], sizeof bytes);
  return bytes;
}
inline void set_cancelled(MPI_Status& status, bool flag) { status.MPI_internal[2] = flag; }
inline bool cancelled_of(const MPI_Status& status) { return status.MPI_internal[2] != 0; }

/// Fills `status` unless the caller ignores it. MPI_ERROR stays as it is: only the array forms of completion set it.
inline void fill_status(MPI_Status* status, int source, int tag, MPI_Count bytes, bool cancelled = false) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  set_bytes(*status, bytes);
  set_cancelled(*status, cancelled);
  status->MPI_internal[3] = status->MPI_internal[4] = 0;
}
/// The empty status of MPI-5.0, 3.7.3: of an operation that is null, inactive, or with MPI_PROC_NULL's source.
inline void fill_empty_status(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  fill_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  status->MPI_ERROR = MPI_SUCCESS;
}

}  // namespace ashlar
