! Memory that is named by its address: datatypes of absolute addresses that one language makes and the other sends from MPI_BOTTOM;
! sections without gaps, which are passed as they are; a scalar that is handed down to a procedure which starts a receive.
#include "method.fh"
module sides
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  interface
    ! C sends from MPI_BOTTOM or receives there, with a datatype of Fortran's, to or from the calling process.
    integer(c_int) function c_sends(datatype) bind(C)
      import :: c_int
      integer(c_int), value :: datatype
    end function c_sends
    integer(c_int) function c_receives(datatype) bind(C)
      import :: c_int
      integer(c_int), value :: datatype
    end function c_receives
    ! A datatype of the addresses of five int and a double of C's, which are set and looked at.
    integer(c_int) function c_makes() bind(C)
      import :: c_int
    end function c_makes
    subroutine c_sets(number) bind(C)
      import :: c_int
      integer(c_int), value :: number
    end subroutine c_sets
    integer(c_int) function c_has(number) bind(C)
      import :: c_int
      integer(c_int), value :: number
    end function c_has
  end interface
end module sides

program addresses
  USE_MPI
  use, intrinsic :: iso_c_binding, only: c_double, c_int
  use sides
  implicit none
  INCLUDE_MPI
#if METHOD == 8
#define NUMBER_OF(handle) int(handle%MPI_VAL, c_int)
#else
#define NUMBER_OF(handle) int(handle, c_int)
#endif
  integer :: rank, ierror, wrong = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call made_in_fortran
  call made_in_c
  call without_gaps
  call scalar_handed_down
  call MPI_Finalize(ierror)
  if (wrong /= 0) error stop
contains
#include "see.fh"

  ! Five INTEGERs and a DOUBLE PRECISION that lie apart, as one datatype.
  subroutine type_of(numbers, x, made)
    integer(c_int), asynchronous :: numbers(5)
    real(c_double), asynchronous :: x
    DATATYPE_T, intent(out) :: made
    DATATYPE_T :: types(2)
    integer(MPI_ADDRESS_KIND) :: places(2)
    call MPI_Get_address(numbers, places(1), ierror)
    call MPI_Get_address(x, places(2), ierror)
    types(1) = MPI_INTEGER4
    types(2) = MPI_REAL8
    call MPI_Type_create_struct(2, [5, 1], places, types, made, ierror)
    call MPI_Type_commit(made, ierror)
  end subroutine type_of

  subroutine made_in_fortran
    integer(c_int), asynchronous :: numbers(5), others(5)
    real(c_double), asynchronous :: x, other
    DATATYPE_T :: from, into
    REQUEST_T :: request
    integer :: i
    call type_of(numbers, x, from)
    call type_of(others, other, into)
    numbers = [(int(10 * i + rank, c_int), i = 1, 5)]
    x = 0.5_c_double + rank
    others = -1
    other = -1
    call MPI_Irecv(MPI_BOTTOM, 1, into, rank, 1, MPI_COMM_WORLD, request, ierror)
    call see(c_sends(NUMBER_OF(from)) == MPI_SUCCESS, 'C sends with a datatype of Fortran''s')
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call see(all(others == numbers) .and. other == x, 'what C sent from MPI_BOTTOM')
    others = -1
    other = -1
    call MPI_Isend(MPI_BOTTOM, 1, from, rank, 1, MPI_COMM_WORLD, request, ierror)
    call see(c_receives(NUMBER_OF(into)) == MPI_SUCCESS, 'C receives with a datatype of Fortran''s')
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call see(all(others == numbers) .and. other == x, 'what C received at MPI_BOTTOM')
    call MPI_Type_free(from, ierror)
    call MPI_Type_free(into, ierror)
  end subroutine made_in_fortran

  subroutine made_in_c
    integer(c_int), asynchronous :: numbers(5)
    real(c_double), asynchronous :: x
    DATATYPE_T :: in_c, here
    REQUEST_T :: request
#if METHOD == 8
    in_c%MPI_VAL = c_makes()
#else
    in_c = c_makes()
#endif
    call type_of(numbers, x, here)
    numbers = -1
    x = -1
    call c_sets(int(7 + rank, c_int))
    call MPI_Irecv(MPI_BOTTOM, 1, here, rank, 2, MPI_COMM_WORLD, request, ierror)
    call MPI_Send(MPI_BOTTOM, 1, in_c, rank, 2, MPI_COMM_WORLD, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call see(all(numbers == 7 + rank) .and. x == 7 + rank, 'C''s memory, sent by Fortran')
    numbers = 90
    x = 90
    call MPI_Sendrecv(MPI_BOTTOM, 1, here, rank, 2, MPI_BOTTOM, 1, in_c, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call see(c_has(90_c_int) == 1, 'C''s memory, received by Fortran')
    call MPI_Type_free(in_c, ierror)
    call MPI_Type_free(here, ierror)
  end subroutine made_in_c

  ! Simple sections, as the standard calls them: no method may pass a copy, as a nonblocking call would go on with that.
  subroutine without_gaps
    integer :: line(8), table(6, 4), box(6, 4, 3), i
    integer(MPI_ADDRESS_KIND) :: sections(5), elements(5)
    character(12), parameter :: names(5) = ['a(1:n)      ', 'a(:, n)     ', 'a(1:n, n)   ', 'a(:, 1:n, 1)', 'a(:, :, 1:n)']
    call MPI_Get_address(line(1:5), sections(1), ierror)
    call MPI_Get_address(line(1), elements(1), ierror)
    call MPI_Get_address(table(:, 3), sections(2), ierror)
    call MPI_Get_address(table(1, 3), elements(2), ierror)
    call MPI_Get_address(table(2:5, 2), sections(3), ierror)
    call MPI_Get_address(table(2, 2), elements(3), ierror)
    call MPI_Get_address(box(:, 2:3, 1), sections(4), ierror)
    call MPI_Get_address(box(1, 2, 1), elements(4), ierror)
    call MPI_Get_address(box(:, :, 2:3), sections(5), ierror)
    call MPI_Get_address(box(1, 1, 2), elements(5), ierror)
    do i = 1, 5
      call see(sections(i) == elements(i), 'a copy was passed for '//names(i))
    end do
  end subroutine without_gaps

  subroutine scalar_handed_down
    integer, asynchronous :: one, row(4)
    REQUEST_T :: requests(2)
    one = -1
    row = -1
    call start(one, requests(1), 3)
    call start(row(3), requests(2), 4)
    call MPI_Send(rank + 40, 1, MPI_INTEGER, rank, 4, MPI_COMM_WORLD, ierror)
    call MPI_Send(rank + 30, 1, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, ierror)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call see(one == rank + 30, 'a scalar that was handed down')
    call see(all(row == [-1, -1, rank + 40, -1]), 'an element that was handed down')
  end subroutine scalar_handed_down

  subroutine start(a, request, tag)
    integer, asynchronous :: a
    REQUEST_T, intent(out) :: request
    integer, intent(in) :: tag
    call MPI_Irecv(a, 1, MPI_INTEGER, rank, tag, MPI_COMM_WORLD, request, ierror)
  end subroutine start
end program addresses
