! What modules mpi and mpi_f08 share: kinds, numbers, handle types, statuses, special addresses. Generated; do not edit.
! Made by: python3 bindings/gen/generate.py --fortran DIR
module ashlar_fortran_types
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_intptr_t, c_char, c_null_char
  implicit none
  public
  private :: c_int, c_int64_t, c_intptr_t, c_char, c_null_char

  ! The compiler's default INTEGER as a kind of C: the one line that differs between the sizes.
  integer, parameter :: ashlar_int = c_int

  integer, parameter :: MPI_ADDRESS_KIND = c_intptr_t
  integer, parameter :: MPI_COUNT_KIND = c_int64_t
  integer, parameter :: MPI_OFFSET_KIND = c_int64_t
  integer, parameter :: MPI_INTEGER_KIND = ashlar_int
  integer, parameter :: MPI_STATUS_SIZE = 8
  integer, parameter :: MPI_SOURCE = 1
  integer, parameter :: MPI_TAG = 2
  integer, parameter :: MPI_ERROR = 3
  logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = .TRUE.
  integer(MPI_OFFSET_KIND), parameter :: MPI_DISPLACEMENT_CURRENT = -1

@NUMBERS@

@TYPES@

  type, bind(C) :: MPI_Status
    integer(ashlar_int) :: MPI_SOURCE, MPI_TAG, MPI_ERROR
    integer(ashlar_int) :: MPI_INTERNAL(5)
  end type MPI_Status

  ! Only the addresses of these count. They are the COMMON blocks of mpif.h, under the name that the compiler gives those: C has
  ! one address to compare with.
  integer(ashlar_int), bind(C, name="ashlar_f4_c_bottom_"), target :: MPI_BOTTOM
  integer(ashlar_int), bind(C, name="ashlar_f4_c_in_place_") :: MPI_IN_PLACE
  integer(ashlar_int), bind(C, name="ashlar_f4_c_buffer_automatic_"), target :: MPI_BUFFER_AUTOMATIC
  integer(ashlar_int), bind(C, name="ashlar_f4_c_errcodes_ignore_") :: MPI_ERRCODES_IGNORE(1)
  integer(ashlar_int), bind(C, name="ashlar_f4_c_unweighted_") :: MPI_UNWEIGHTED(1)
  integer(ashlar_int), bind(C, name="ashlar_f4_c_weights_empty_") :: MPI_WEIGHTS_EMPTY(1)
  character(kind=c_char), bind(C, name="ashlar_f4_c_argv_null_") :: MPI_ARGV_NULL(1)
  character(kind=c_char), bind(C, name="ashlar_f4_c_argvs_null_") :: MPI_ARGVS_NULL(1, 1)

  interface operator(==)
@EQUAL@
  end interface
  interface operator(/=)
@UNEQUAL@
  end interface
@PRIVATE@

!sizeof
contains

@COMPARISONS@
end module ashlar_fortran_types
