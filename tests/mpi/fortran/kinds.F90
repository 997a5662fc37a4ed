! Types of Fortran's kinds: by precision and range, by size, what they are made of; and how large a variable is.
#include "method.fh"
program kinds
  USE_MPI
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  implicit none
  INCLUDE_MPI
  integer :: rank, ierror, wrong = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call integers
  call reals
  call no_such_kind
  call by_size
  call constituents
  call sizes_of_variables
  call MPI_Finalize(ierror)
  if (wrong /= 0) error stop
contains
#include "see.fh"

  integer function size_of(datatype) result(many)
    DATATYPE_T, intent(in) :: datatype
    call MPI_Type_size(datatype, many, ierror)
  end function size_of

  ! The same question gives the same handle, which is not freed.
  subroutine integers
    integer, parameter :: ranges(4) = [2, 4, 9, 18]
    integer(kind=selected_int_kind(18)) :: sent(2), got(2)
    DATATYPE_T :: made, again
    integer :: i, bytes
    do i = 1, 4
      call MPI_Type_create_f90_integer(ranges(i), made, ierror)
      call MPI_Type_create_f90_integer(ranges(i), again, ierror)
      bytes = 2**(i - 1)
      call see(made == again .and. size_of(made) == bytes, 'MPI_Type_create_f90_integer')
    end do
    sent = [2_int64**40, -7_int64]
    got = 0
    call MPI_Sendrecv(sent, 2, made, 0, 1, got, 2, made, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
    call see(all(got == sent), 'a message of INTEGERs with a range')
    call MPI_Allreduce(sent, got, 2, made, MPI_SUM, MPI_COMM_SELF, ierror)
    call see(ierror == MPI_SUCCESS .and. all(got == sent), 'a reduction of INTEGERs with a range')
  end subroutine integers

  ! What the compiler chooses for a precision is what the datatype is for; either may be left open.
  subroutine reals
    integer, parameter :: p6 = selected_real_kind(6), p15 = selected_real_kind(15, 300), wide = selected_real_kind(18)
    integer, parameter :: usable = merge(wide, p15, wide > 0)
    real(p6) :: x
    real(p15) :: y
    real(usable) :: z(2), sum(2)
    complex(usable) :: c(2), d(2)
    DATATYPE_T :: made
    call MPI_Type_create_f90_real(6, MPI_UNDEFINED, made, ierror)
    call see(size_of(made) == storage_size(x) / 8, 'REAL of 6 digits')
    call MPI_Type_create_f90_real(15, 300, made, ierror)
    call see(size_of(made) == storage_size(y) / 8, 'REAL of 15 digits')
    call MPI_Type_create_f90_real(MPI_UNDEFINED, 300, made, ierror)
    call see(size_of(made) == storage_size(y) / 8, 'REAL with a range')
    call MPI_Type_create_f90_complex(15, 300, made, ierror)
    call see(size_of(made) == 2 * (storage_size(y) / 8), 'COMPLEX of 15 digits')
    if (wide < 0) return
    call MPI_Type_create_f90_real(18, MPI_UNDEFINED, made, ierror)
    z = [1, 2] / 3.0_usable
    sum = 0
    call MPI_Sendrecv(z, 2, made, 0, 1, sum, 2, made, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
    call see(ierror == MPI_SUCCESS .and. all(sum == z), 'REAL of 18 digits')
    sum = 0
    call MPI_Allreduce(z, sum, 2, made, MPI_SUM, MPI_COMM_SELF, ierror)
    call see(ierror == MPI_SUCCESS .and. all(sum == z), 'a reduction of 18 digits')
    call MPI_Type_create_f90_complex(18, MPI_UNDEFINED, made, ierror)
    c = cmplx(z, -z, usable)
    d = 0
    call MPI_Sendrecv(c, 2, made, 0, 1, d, 2, made, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
    call see(ierror == MPI_SUCCESS .and. all(d == c), 'COMPLEX of 18 digits')
  end subroutine reals

  subroutine no_such_kind
    DATATYPE_T :: made
    integer :: class, error
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, error)
    call MPI_Type_create_f90_integer(100, made, ierror)
    call MPI_Error_class(ierror, class, error)
    call see(class == MPI_ERR_ARG, 'an INTEGER of 100 digits')
    call MPI_Type_create_f90_real(1000, MPI_UNDEFINED, made, ierror)
    call MPI_Error_class(ierror, class, error)
    call see(class == MPI_ERR_ARG, 'a REAL of 1000 digits')
    call MPI_Type_create_f90_integer(9, made, ierror)
    call MPI_Type_free(made, ierror)
    call see(ierror /= MPI_SUCCESS, 'a type of Fortran that is freed')
  end subroutine no_such_kind

  subroutine by_size
    DATATYPE_T :: made
    integer(int8) :: i8
    integer(int16) :: i16
    real(real32) :: r32
    real(real64) :: r64
    complex(real64) :: c64
    call MPI_Type_match_size(MPI_TYPECLASS_INTEGER, storage_size(i8) / 8, made, ierror)
    call see(made == MPI_INTEGER1, 'MPI_INTEGER1')
    call MPI_Type_match_size(MPI_TYPECLASS_INTEGER, storage_size(i16) / 8, made, ierror)
    call see(made == MPI_INTEGER2, 'MPI_INTEGER2')
    call MPI_Type_match_size(MPI_TYPECLASS_REAL, storage_size(r32) / 8, made, ierror)
    call see(made == MPI_REAL4, 'MPI_REAL4')
    call MPI_Type_match_size(MPI_TYPECLASS_REAL, storage_size(r64) / 8, made, ierror)
    call see(made == MPI_REAL8, 'MPI_REAL8')
    call MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, storage_size(c64) / 8, made, ierror)
    call see(made == MPI_COMPLEX16, 'MPI_COMPLEX16')
  end subroutine by_size

  ! What a type was made of comes back: kinds of Fortran, and a section with its order.
  subroutine constituents
    DATATYPE_T :: made, types(1)
    integer :: integers, addresses, datatypes, combiner, numbers(12)
    integer(MPI_ADDRESS_KIND) :: places(2)
    call MPI_Type_create_f90_real(15, 300, made, ierror)
    call MPI_Type_get_envelope(made, integers, addresses, datatypes, combiner, ierror)
    call see(integers == 2 .and. addresses == 0 .and. datatypes == 0 .and. combiner == MPI_COMBINER_F90_REAL, 'an envelope')
    call MPI_Type_get_contents(made, 2, 0, 0, numbers, places, types, ierror)
    call see(all(numbers(1:2) == [15, 300]), 'what a type of Fortran was made of')
    call MPI_Type_create_subarray(2, [6, 5], [2, 3], [1, 0], MPI_ORDER_FORTRAN, MPI_REAL, made, ierror)
    call MPI_Type_get_envelope(made, integers, addresses, datatypes, combiner, ierror)
    call see(integers == 8 .and. datatypes == 1 .and. combiner == MPI_COMBINER_SUBARRAY, 'the envelope of a section')
    numbers = -7
    call MPI_Type_get_contents(made, integers, 0, 1, numbers, places, types, ierror)
    call see(all(numbers(1:8) == [2, 6, 5, 2, 3, 1, 0, MPI_ORDER_FORTRAN]) .and. all(numbers(9:) == -7), 'numbers of a section')
    call see(types(1) == MPI_REAL, 'the type of a section')
    call MPI_Type_free(made, ierror)
    call MPI_Type_create_hindexed(2, [1, 2], [0_MPI_ADDRESS_KIND, 2_MPI_ADDRESS_KIND**33], MPI_REAL, made, ierror)
    call MPI_Type_get_contents(made, 3, 2, 1, numbers, places, types, ierror)
    call see(all(numbers(1:3) == [2, 1, 2]) .and. places(2) == 2_MPI_ADDRESS_KIND**33, 'addresses of a type')
    call MPI_Type_free(made, ierror)
  end subroutine constituents

  ! One element counts, whatever the shape.
  subroutine sizes_of_variables
    integer(int32) :: table(3, 4)
    real(real64) :: x
    complex(real32) :: c
    logical :: l
    integer :: bytes
    call MPI_Sizeof(table, bytes, ierror)
    call see(bytes == 4, 'MPI_Sizeof of an array')
    call MPI_Sizeof(table(1:3:2, 2:4), bytes, ierror)
    call see(bytes == 4, 'MPI_Sizeof of a section')
    call MPI_Sizeof(x, bytes, ierror)
    call see(bytes == 8, 'MPI_Sizeof of a REAL')
    call MPI_Sizeof(c, bytes, ierror)
    call see(bytes == 8, 'MPI_Sizeof of a COMPLEX')
    call MPI_Sizeof(l, bytes, ierror)
    call see(bytes == storage_size(l) / 8, 'MPI_Sizeof of a LOGICAL')
    call PMPI_Sizeof(size=bytes, x=x, ierror=ierror)
    call see(bytes == 8 .and. ierror == MPI_SUCCESS, 'PMPI_Sizeof')
  end subroutine sizes_of_variables
end program kinds
