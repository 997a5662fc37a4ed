! Sections of more shapes than the library keeps datatypes for, again and again, from one thread or from two: what arrives, and
! what must not change. Many have their count and first distance in common.
!   section_shapes [threads]
module section_shapes
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: n = 9, turns = 3
  type(MPI_Comm) :: comms(2)
  integer :: wrong(2) = 0
contains
  subroutine see(thread, right, what)
    integer, intent(in) :: thread
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    wrong(thread) = wrong(thread) + 1
    if (wrong(thread) < 5) print '(a,i0,2a)', 'thread ', thread, ': ', what
  end subroutine see

  ! `into` becomes what `from` holds, by a message.
  subroutine carry(me, from, into)
    integer, intent(in) :: me, from(:, :)
    integer, intent(inout), asynchronous :: into(:, :)
    integer, asynchronous :: row(size(from))
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: received
    row = -1
    call MPI_Irecv(row, size(row), MPI_INTEGER, 0, 1, comms(me), request)
    call MPI_Send(from, size(from), MPI_INTEGER, 0, 1, comms(me))
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call see(me, all(row == reshape(from, [size(from)])), 'what a section sent')
    call MPI_Isend(row, size(row), MPI_INTEGER, 0, 2, comms(me), request)
    call MPI_Recv(into, size(row), MPI_INTEGER, 0, 2, comms(me), status)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Get_count(status, MPI_INTEGER, received)
    call see(me, received == size(row), 'the count of what a section received')
  end subroutine carry

  subroutine compare(me, x, y, what)
    integer, intent(in) :: me, x(:, :, :), y(:, :, :)
    character(*), intent(in) :: what
    call see(me, all(x == y), what)
  end subroutine compare

  subroutine shapes(me)
    integer, intent(in) :: me
    integer, asynchronous :: a(n, n, n), b(n, n, n)
    integer :: expected(n, n, n), i, j, k, step, turn
    a = reshape([(me * 10000 + i, i = 1, n**3)], [n, n, n])
    do turn = 1, turns
      do k = 1, n
        do j = 1, n
          do step = 1, 3
            b = 0
            expected = 0
            ! The same count and first distance for all that follow, but for the last.
            select case (mod(j + step, 3))
            case (0)
              call carry(me, a(1:2, 1:n:max(1, j - 1), k), b(1:2, 1:n:max(1, j - 1), k))
              expected(1:2, 1:n:max(1, j - 1), k) = a(1:2, 1:n:max(1, j - 1), k)
            case (1)
              call carry(me, a(1:2, j, 1:n:step), b(1:2, j, 1:n:step))
              expected(1:2, j, 1:n:step) = a(1:2, j, 1:n:step)
            case default
              call carry(me, a(n:j:-step, k, 1:k), b(n:j:-step, k, 1:k))
              expected(n:j:-step, k, 1:k) = a(n:j:-step, k, 1:k)
            end select
            call compare(me, b, expected, 'what a section received')
          end do
        end do
      end do
    end do
  end subroutine shapes

  subroutine body(number) bind(c)
    integer(c_int), value :: number
    call shapes(int(number))
  end subroutine body
end module section_shapes

program test_section_shapes
  use section_shapes
  implicit none
  interface
    integer(c_int) function on_two_threads(body) bind(c)
      import :: c_int, c_funptr
      type(c_funptr), value :: body
    end function on_two_threads
  end interface
  integer :: provided
  call MPI_Init_thread(merge(MPI_THREAD_MULTIPLE, MPI_THREAD_SINGLE, command_argument_count() > 0), provided)
  call MPI_Comm_dup(MPI_COMM_SELF, comms(1))
  call MPI_Comm_dup(MPI_COMM_SELF, comms(2))
  if (command_argument_count() > 0) then
    call see(1, provided == MPI_THREAD_MULTIPLE, 'MPI_THREAD_MULTIPLE')
    call see(1, on_two_threads(c_funloc(body)) == 1, 'two threads')
  else
    call shapes(1)
  end if
  call MPI_Comm_free(comms(1))
  call MPI_Comm_free(comms(2))
  call MPI_Finalize()
  if (any(wrong /= 0)) error stop
end program test_section_shapes
