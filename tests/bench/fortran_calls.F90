! Calls that fortran.py counts: WHAT in turn, with METHOD 77 (mpif.h), 90 (mpi) or 8 (mpi_f08). The partner is MPI_PROC_NULL, so
! that nothing depends on another process.
program fortran_calls
#if METHOD == 8
  use mpi_f08
#define NO_ERROR
#elif METHOD == 90
  use mpi
#define NO_ERROR , ierror
#endif
  implicit none
#if METHOD == 77
  include 'mpif.h'
#define NO_ERROR , ierror
#endif
  integer :: ierror, i, times, vector(2), table(2, 2)
#if METHOD == 8
  type(MPI_Request) :: request
#else
  integer :: request
#endif
  character(len=16) :: what, number
  call get_command_argument(1, what)
  call get_command_argument(2, number)
  read (number, *) times
  vector = 0
  table = 0
  call MPI_Init(ierror)
  select case (what)
  case ('send')
    do i = 1, times
      call MPI_Send(vector, 2, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD NO_ERROR)
    end do
  case ('receive')
    do i = 1, times
      call MPI_Irecv(vector, 2, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, request NO_ERROR)
      call MPI_Wait(request, MPI_STATUS_IGNORE NO_ERROR)
    end do
  case ('table')
    do i = 1, times
      call MPI_Send(table, 4, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD NO_ERROR)
    end do
  case ('section')
    do i = 1, times
      call MPI_Send(table(1:1, :), 2, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD NO_ERROR)
    end do
  end select
  call MPI_Finalize(ierror)
end program fortran_calls
