! Handles as INTEGERs: those that Fortran makes are C's, and the reverse, for many objects at a time; what is no handle is
! refused. With the argument "c" C starts MPI.
program handles
  use mpi
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  interface
    subroutine c_starts() bind(C)
    end subroutine c_starts
    subroutine c_makes(comm, datatype, request, buffer) bind(C)
      import :: c_int
      integer(c_int), intent(out) :: comm, datatype, request
      integer(c_int), asynchronous :: buffer
    end subroutine c_makes
    integer(c_int) function c_knows(comm, datatype, group, request) bind(C)
      import :: c_int
      integer(c_int), intent(in) :: comm, datatype, group, request
    end function c_knows
  end interface
  integer, parameter :: many = 50, none(5) = [-1, 4096 - 1, 4096 + 2**20 - 1, huge(0), -huge(0) - 1]
  integer, asynchronous :: values(many)
  integer :: comms(many), types(many), groups(many), requests(many)
  integer :: i, class, code, ierror, result, size, wrong
  logical :: flag
  character(len=8) :: how
  wrong = 0
  call get_command_argument(1, how)
  if (how == 'c') then
    call c_starts()
  else
    call MPI_Init(ierror)
  end if
  do i = 1, many
    call MPI_Comm_dup(MPI_COMM_SELF, comms(i), ierror)
    call MPI_Type_contiguous(i, MPI_INTEGER, types(i), ierror)
    call MPI_Comm_group(comms(i), groups(i), ierror)
    call MPI_Irecv(values(i), 1, MPI_INTEGER, 0, i, comms(i), requests(i), ierror)
    call see(c_knows(comms(i), types(i), groups(i), requests(i)) == 0, 'C knows the handles of Fortran')
  end do
  do i = many, 1, -1
    call MPI_Send(7 * i, 1, MPI_INTEGER, 0, i, comms(i), ierror)
    call MPI_Wait(requests(i), MPI_STATUS_IGNORE, ierror)
    call see(requests(i) == MPI_REQUEST_NULL .and. values(i) == 7 * i, 'a request that is complete')
    call MPI_Type_free(types(i), ierror)
    call MPI_Group_free(groups(i), ierror)
    call MPI_Comm_free(comms(i), ierror)
  end do
  do i = 1, many
    call c_makes(comms(i), types(i), requests(i), values(i))
    call MPI_Comm_compare(comms(i), MPI_COMM_SELF, result, ierror)
    call see(result == MPI_CONGRUENT, 'a communicator of C')
    call MPI_Type_size(types(i), size, ierror)
    call see(size == 12, 'a datatype of C')
  end do
  do i = 1, many
    call MPI_Start(requests(i), ierror)
    call MPI_Test(requests(i), flag, MPI_STATUS_IGNORE, ierror)
    call see(.not. flag, 'a persistent request of C that is not complete')
    call MPI_Send(-i, 1, MPI_INTEGER, 0, 0, comms(i), ierror)
    call MPI_Wait(requests(i), MPI_STATUS_IGNORE, ierror)
    call see(requests(i) /= MPI_REQUEST_NULL .and. values(i) == -i, 'a persistent request of C')
    call MPI_Request_free(requests(i), ierror)
    call MPI_Type_free(types(i), ierror)
    call MPI_Comm_free(comms(i), ierror)
  end do
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierror)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
  call MPI_Comm_dup(MPI_COMM_SELF, comms(1), ierror)
  call MPI_Type_contiguous(2, MPI_INTEGER, types(1), ierror)
  call MPI_Type_commit(types(1), ierror)
  call MPI_Send(values, 1, types(1), MPI_PROC_NULL, 0, comms(1), code)
  call see(code == MPI_SUCCESS, 'a datatype and a communicator of the program')
  do i = 1, ubound(none, 1)
    result = none(i)
    call MPI_Comm_size(result, size, code)
    call MPI_Error_class(code, class, ierror)
    call see(class == MPI_ERR_COMM, 'what is no communicator')
    call MPI_Wait(result, MPI_STATUS_IGNORE, code)
    call MPI_Error_class(code, class, ierror)
    call see(class == MPI_ERR_REQUEST, 'what is no request')
    call MPI_Send(values, 1, none(i), 0, 0, MPI_COMM_SELF, code)
    call MPI_Error_class(code, class, ierror)
    call see(class == MPI_ERR_TYPE, 'what is no datatype')
    call MPI_Send(values, 1, none(i), 0, 0, comms(1), code)
    call MPI_Error_class(code, class, ierror)
    call see(class == MPI_ERR_TYPE, 'what is no datatype, on a communicator of the program')
    call MPI_Send(values, 1, types(1), 0, 0, none(i), code)
    call MPI_Error_class(code, class, ierror)
    call see(class == MPI_ERR_COMM, 'what is no communicator, with a datatype of the program')
  end do
  call MPI_Type_free(types(1), ierror)
  call MPI_Comm_free(comms(1), ierror)
  call MPI_Finalize(ierror)
  if (wrong /= 0) error stop
contains
  subroutine see(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    print '(a)', 'wrong: '//what
    wrong = wrong + 1
  end subroutine see
end program handles
