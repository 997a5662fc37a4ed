! What the standard's examples of point-to-point communication in Fortran show; programs of our own. On 2 or more ranks.
#include "method.fh"
program examples_point_to_point
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: rank, size, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  if (size < 2) call wrong('this needs 2 ranks')
  call types_that_match
  call characters
  call two_kinds_of_buffers
  call order_of_buffered
  call matched_by_tag
  call exchange
  call MPI_Finalize(ierror)
contains
  subroutine wrong(what)
    character(*), intent(in) :: what
    print '(a,i0,2a)', 'rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine wrong

  ! Ten REALs into a buffer of fifteen; forty bytes into sixty.
  subroutine types_that_match
    real :: a(15)
    character(len=60) :: b
    STATUS_T(status)
    integer :: count, i
    a = -1.0
    if (rank == 0) then
      a(1:10) = [(real(i), i = 1, 10)]
      call MPI_Send(a, 10, MPI_REAL, 1, 1, MPI_COMM_WORLD, ierror)
      call MPI_Send(a, 40, MPI_BYTE, 1, 2, MPI_COMM_WORLD, ierror)
    else if (rank == 1) then
      call MPI_Recv(a, 15, MPI_REAL, 0, 1, MPI_COMM_WORLD, status, ierror)
      call MPI_Get_count(status, MPI_REAL, count, ierror)
      if (count /= 10 .or. any(a(1:10) /= [(real(i), i = 1, 10)]) .or. any(a(11:) /= -1.0)) call wrong('reals')
      b = repeat('.', 60)
      call MPI_Recv(b, 60, MPI_BYTE, 0, 2, MPI_COMM_WORLD, status, ierror)
      call MPI_Get_count(status, MPI_BYTE, count, ierror)
      if (count /= 40 .or. b(41:) /= repeat('.', 20)) call wrong('bytes')
      if (transfer(b(1:4), 1.0) /= 1.0 .and. storage_size(1.0) == 32) call wrong('what the bytes say')
    end if
  end subroutine types_that_match

  ! Five characters from the front of one string into the end of another.
  subroutine characters
    character(len=10) :: a
    STATUS_T(status)
    if (rank == 0) then
      a = 'abcdefghij'
      call MPI_Send(a, 5, MPI_CHARACTER, 1, 3, MPI_COMM_WORLD, ierror)
    else if (rank == 1) then
      a = '..........'
      call MPI_Recv(a(6:10), 5, MPI_CHARACTER, 0, 3, MPI_COMM_WORLD, status, ierror)
      if (a /= '.....abcde') call wrong('substrings: ' // a)
    end if
  end subroutine characters

  ! Two calls of one procedure with buffers of two types, in one program unit.
  subroutine two_kinds_of_buffers
    double precision :: d(2)
    integer :: i(3)
    STATUS_T(status)
    d = rank + 0.5d0
    i = rank
    if (rank == 0) then
      call MPI_Send(d, 2, MPI_DOUBLE_PRECISION, 1, 4, MPI_COMM_WORLD, ierror)
      call MPI_Send(i, 3, MPI_INTEGER, 1, 4, MPI_COMM_WORLD, ierror)
    else if (rank == 1) then
      call MPI_Recv(d, 2, MPI_DOUBLE_PRECISION, 0, 4, MPI_COMM_WORLD, status, ierror)
      call MPI_Recv(i, 3, MPI_INTEGER, 0, 4, MPI_COMM_WORLD, status, ierror)
      if (any(d /= 0.5d0) .or. any(i /= 0)) call wrong('two types')
    end if
  end subroutine two_kinds_of_buffers

  ! Two buffered messages arrive in the order in which they were sent.
  subroutine order_of_buffered
    integer :: buffer(1000), a, b, space
    STATUS_T(status)
    if (rank == 0) then
      space = storage_size(buffer) / 8 * 1000
      call MPI_Buffer_attach(buffer, space, ierror)
      call MPI_Bsend(1, 1, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, ierror)
      call MPI_Bsend(2, 1, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, ierror)
      call detach(space)
    else if (rank == 1) then
      call MPI_Recv(a, 1, MPI_INTEGER, 0, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierror)
      call MPI_Recv(b, 1, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, status, ierror)
      if (a /= 1 .or. b /= 2) call wrong('order of buffered messages')
    end if
  end subroutine order_of_buffered

  ! MPI_Buffer_detach gives the address in another way in mpi_f08.
  subroutine detach(space)
#if METHOD == 8
    use, intrinsic :: iso_c_binding, only: c_ptr, c_associated
    type(c_ptr) :: address
#else
    integer(kind=MPI_ADDRESS_KIND) :: address
#endif
    integer, intent(in) :: space
    integer :: given
    call MPI_Buffer_detach(address, given, ierror)
    if (given /= space) call wrong('size of the detached buffer')
#if METHOD == 8
    if (.not. c_associated(address)) call wrong('address of the detached buffer')
#endif
  end subroutine detach

  ! The receiver takes the second message first; the first is buffered, the second synchronous.
  subroutine matched_by_tag
    integer :: buffer(1000), a, b, given
    STATUS_T(status)
    if (rank == 0) then
      given = storage_size(buffer) / 8 * 1000
      call MPI_Buffer_attach(buffer, given, ierror)
      call MPI_Bsend(1, 1, MPI_INTEGER, 1, 6, MPI_COMM_WORLD, ierror)
      call MPI_Ssend(2, 1, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, ierror)
      call detach(given)
    else if (rank == 1) then
      call MPI_Recv(b, 1, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, status, ierror)
      call MPI_Recv(a, 1, MPI_INTEGER, 0, 6, MPI_COMM_WORLD, status, ierror)
      if (a /= 1 .or. b /= 2) call wrong('matching by tag')
    end if
  end subroutine matched_by_tag

  ! One sends and receives, the other receives and sends: it needs no buffering, so synchronous sends do.
  subroutine exchange
    integer :: got
    STATUS_T(status)
    if (rank > 1) return
    if (rank == 0) then
      call MPI_Ssend(10, 1, MPI_INTEGER, 1, 8, MPI_COMM_WORLD, ierror)
      call MPI_Recv(got, 1, MPI_INTEGER, 1, 8, MPI_COMM_WORLD, status, ierror)
    else
      call MPI_Recv(got, 1, MPI_INTEGER, 0, 8, MPI_COMM_WORLD, status, ierror)
      call MPI_Ssend(11, 1, MPI_INTEGER, 0, 8, MPI_COMM_WORLD, ierror)
    end if
    if (got /= 11 - rank) call wrong('exchange')
  end subroutine exchange
end program examples_point_to_point
