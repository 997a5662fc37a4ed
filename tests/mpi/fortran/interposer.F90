! A tool in Fortran replaces specific procedures by the standard's names and calls PMPI_ below them.
module counters
  implicit none
  integer :: sends = 0, ranks = 0, old_barriers = 0
end module counters

subroutine MPI_Isend_f08ts(buf, count, datatype, dest, tag, comm, request, ierror)
  use mpi_f08, only: MPI_Datatype, MPI_Comm, MPI_Request, PMPI_Isend
  use counters
  implicit none
  type(*), dimension(..), intent(in), asynchronous :: buf
  integer, intent(in) :: count, dest, tag
  type(MPI_Datatype), intent(in) :: datatype
  type(MPI_Comm), intent(in) :: comm
  type(MPI_Request), intent(out) :: request
  integer, optional, intent(out) :: ierror
  sends = sends + 1
  call PMPI_Isend(buf, count, datatype, dest, tag, comm, request, ierror)
end subroutine MPI_Isend_f08ts

subroutine MPI_Comm_rank_f08(comm, rank, ierror)
  use mpi_f08, only: MPI_Comm, PMPI_Comm_rank
  use counters
  implicit none
  type(MPI_Comm), intent(in) :: comm
  integer, intent(out) :: rank
  integer, optional, intent(out) :: ierror
  ranks = ranks + 1
  call PMPI_Comm_rank(comm, rank, ierror)
end subroutine MPI_Comm_rank_f08

! The name in mpi and mpif.h.
subroutine MPI_Barrier(comm, ierror)
  use counters
  implicit none
  integer, intent(in) :: comm
  integer, intent(out) :: ierror
  external :: PMPI_Barrier
  old_barriers = old_barriers + 1
  call PMPI_Barrier(comm, ierror)
end subroutine MPI_Barrier

subroutine old_style()
  use mpi
  implicit none
  integer :: ierror
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
end subroutine old_style

program interposer
  use mpi_f08
  use counters
  implicit none
  integer :: rank, other, got(3), data(6)
  type(MPI_Request) :: request
  external :: old_style
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  data = [1, 2, 3, 4, 5, 6]
  call MPI_Isend(data(1:6:2), 3, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, request)
  call MPI_Recv(got, 3, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call PMPI_Comm_rank(MPI_COMM_WORLD, other)
  call MPI_Barrier(MPI_COMM_WORLD)
  call old_style()
  call MPI_Finalize()
  if (sends == 1 .and. ranks == 1 .and. old_barriers == 1 .and. all(got == [1, 3, 5]) .and. other == rank) stop
  print '(a, 3(1x, i0))', 'calls that the tool saw:', sends, ranks, old_barriers
  error stop
end program interposer
