! A tool in C sees each call of the program once, and none that the Fortran library makes for it: for sections as datatypes, new
! and kept, and as copies, and for a section that is refused.
module tool_counters
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  integer(c_int), bind(C, name='tool_all') :: all_calls
  integer(c_int), bind(C, name='tool_sends') :: sends
  integer(c_int), bind(C, name='tool_waits') :: waits
  integer(c_int), bind(C, name='tool_reductions') :: reductions
end module tool_counters

program tool
  use mpi_f08
  use tool_counters
  implicit none
  integer, asynchronous :: table(6, 6)
  integer :: i, code
  type(MPI_Request) :: request
  call MPI_Init()
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  table = 1
  all_calls = 0
  do i = 1, 3
    call MPI_Send(table(1:5:2, 1:5:2), 9, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_SELF)
    call MPI_Isend(table(1:5:2, 1:5:2), 7, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_SELF, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Ssend(table(2, :), 6_MPI_COUNT_KIND, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_SELF)
    call MPI_Iallreduce(table(1, :), table(:, 6), 6, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
  end do
  call MPI_Send(table(1:5:2, 1:5:2), 10, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_SELF, code)
  if (sends /= 9 .or. waits /= 6 .or. reductions /= 3 .or. all_calls /= 18 .or. code == MPI_SUCCESS) then
    print '(a, 5(1x, i0))', 'the tool saw', sends, waits, reductions, all_calls, code
    error stop
  end if
  call MPI_Finalize()
  if (all_calls /= 18) error stop 'the tool saw what MPI_Finalize does'
end program tool
