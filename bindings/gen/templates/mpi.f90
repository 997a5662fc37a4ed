! The mpi module. Generated; do not edit. Made by: python3 bindings/gen/generate.py --fortran DIR
module mpi
  use ashlar_fortran_types
  use, intrinsic :: iso_c_binding, only: c_ptr, c_double
  implicit none
  public
  private :: c_ptr, c_double, ashlar_int

  logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .false.

@HANDLES@

  integer(ashlar_int), bind(C, name="ashlar_f4_c_status_ignore_") :: MPI_STATUS_IGNORE(MPI_STATUS_SIZE)
  integer(ashlar_int), bind(C, name="ashlar_f4_c_statuses_ignore_") :: MPI_STATUSES_IGNORE(MPI_STATUS_SIZE, 1)

  interface
@PREDEFINED@
  end interface

  interface
@PROCEDURES@
  end interface

@PROFILING@

@OVERLOADS@
end module mpi
