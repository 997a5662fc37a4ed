! The self-test of a flavour, with the module mpi: keyword arguments, buffers of several types, a request.
program module_mpi
  use mpi
  implicit none
  integer :: ierror, rank, request, status(MPI_STATUS_SIZE), total
  integer, asynchronous :: got
  real :: row(6), column(3)
  real(kind=kind(1d0)) :: before

  call MPI_Init(ierror)
  call MPI_Comm_rank(comm=MPI_COMM_WORLD, rank=rank, ierror=ierror)
  if (ierror /= MPI_SUCCESS) stop 1
  before = MPI_Wtime()
  if (MPI_Wtime() < before) stop 2

  got = -1
  call MPI_Irecv(got, 1, MPI_INTEGER, rank, 5, MPI_COMM_WORLD, request, ierror)
  call MPI_Send(rank + 100, 1, MPI_INTEGER, rank, 5, MPI_COMM_WORLD, ierror)
  call MPI_Wait(request, status, ierror)
  if (got /= rank + 100) stop 3
  if (request /= MPI_REQUEST_NULL) stop 4

  row = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
  call MPI_Sendrecv(row(1:6:2), 3, MPI_REAL, rank, 6, column, 3, MPI_REAL, rank, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  if (any(column /= [1.0, 3.0, 5.0])) stop 5
  call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, ierror)
  if (total /= 1) stop 6
  call MPI_Finalize(ierror)
end program module_mpi
