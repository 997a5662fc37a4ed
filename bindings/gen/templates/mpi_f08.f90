! The mpi_f08 module: what this version has of it. Generated; do not edit.
! Made by: python3 bindings/gen/generate.py --fortran DIR
module mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  private

  integer, parameter, public :: MPI_ADDRESS_KIND = c_intptr_t
  integer, parameter, public :: MPI_COUNT_KIND = c_int64_t
  integer, parameter, public :: MPI_OFFSET_KIND = c_int64_t
  logical, parameter, public :: MPI_SUBARRAYS_SUPPORTED = .true.
  logical, parameter, public :: MPI_ASYNC_PROTECTS_NONBLOCKING = .true.

@TYPES@

  type, bind(C), public :: MPI_Status
    integer(c_int) :: MPI_SOURCE, MPI_TAG, MPI_ERROR
    integer(c_int) :: MPI_internal(5)
  end type MPI_Status

  ! Only the addresses of these count.
  integer(c_int), bind(C, name="ashlar_f08_bottom"), public :: MPI_BOTTOM
  integer(c_int), bind(C, name="ashlar_f08_in_place"), public :: MPI_IN_PLACE

@CONSTANTS@

  abstract interface
@CALLBACKS@
  end interface

@GENERICS@

  interface
@GLUE@
  end interface

contains

@WRAPPERS@
end module mpi_f08
