#pragma once
#include <mpi.h>

#include <cstring>

/// The fields of an MPI_Status that the ABI leaves to the library: [0..1] bytes received, [2] cancelled.
namespace ashlar::progress {

inline void set_bytes(MPI_Status& status, MPI_Count bytes) { std::memcpy(status.MPI_internal, &bytes, sizeof bytes); }
inline MPI_Count bytes_of(const MPI_Status& status) {
  MPI_Count bytes;
  std::memcpy(&bytes, status.MPI_internal, sizeof bytes);
  return bytes;
}
inline void set_cancelled(MPI_Status& status, bool cancelled) { status.MPI_internal[2] = cancelled; }
inline bool cancelled(const MPI_Status& status) { return status.MPI_internal[2] != 0; }

/// All fields but MPI_ERROR, which calls that complete one operation must leave alone (MPI-5.0, 3.2.5).
inline void fill(MPI_Status* status, int source, int tag, MPI_Count bytes, bool cancelled = false) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  set_bytes(*status, bytes);
  set_cancelled(*status, cancelled);
}
/// The empty status of null and inactive requests (MPI-5.0, 3.7.3); it includes MPI_ERROR.
inline void fill_empty(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  status->MPI_ERROR = MPI_SUCCESS;
}
/// What a receive from MPI_PROC_NULL gives.
inline void fill_proc_null(MPI_Status* status) { fill(status, MPI_PROC_NULL, MPI_ANY_TAG, 0); }

}  // namespace ashlar::progress
