! The mpi_f08 module. Generated; do not edit. Made by: python3 bindings/gen/generate.py --fortran DIR
module mpi_f08
  use ashlar_fortran_types
  use, intrinsic :: iso_c_binding, only: c_ptr, c_double, c_size_t, c_char
  implicit none
  public
  private :: c_ptr, c_double, c_size_t, c_char, ashlar_int

  logical, parameter :: MPI_SUBARRAYS_SUPPORTED = @SUBARRAYS@

@HANDLES@

  type(MPI_Status), bind(C, name="ashlar_f4_status_ignore08") :: MPI_STATUS_IGNORE
  type(MPI_Status), bind(C, name="ashlar_f4_statuses_ignore08") :: MPI_STATUSES_IGNORE(1)

  abstract interface
@CALLBACKS@
  end interface

  interface
@PREDEFINED@
  end interface

  ! The standard's specific procedures: external, so that a tool can replace each.
  interface
@PROCEDURES@
  end interface

  ! What a tool calls then.
@PROFILING@

@GENERICS@
end module mpi_f08
