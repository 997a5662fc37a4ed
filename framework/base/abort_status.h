#pragma once

namespace ashlar {

/// The exit status of a job that MPI_Abort(comm, errorcode) ends: that of a main program which returns the code
/// (MPI-3.0, the section on MPI_Abort), but 1 where only the last eight bits of the code are 0: such a program does not
/// mean success.
constexpr int abort_status(int errorcode) {
  const int status = errorcode & 0xff;
  return status == 0 && errorcode != 0 ? 1 : status;
}

}  // namespace ashlar
