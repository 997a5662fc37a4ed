! The self-test of a flavour, with the module mpi_f08: handles, a status, no ierror.
program module_mpi_f08
  use mpi_f08
  implicit none
  type(MPI_Comm) :: copy
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  integer :: rank, count
  integer, asynchronous :: table(4, 5), part(2, 3)
  integer(kind=MPI_ADDRESS_KIND) :: lower, extent

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_dup(comm=MPI_COMM_SELF, newcomm=copy)
  if (copy == MPI_COMM_NULL) stop 1
  if (MPI_COMM_WORLD%MPI_VAL == copy%MPI_VAL) stop 2
  call MPI_Type_get_extent(MPI_INTEGER, lower, extent)
  if (extent /= storage_size(rank) / 8) stop 3

  table = 0
  part = reshape([1, 2, 3, 4, 5, 6], [2, 3])
  call MPI_Irecv(table, 20, MPI_INTEGER, 0, 9, copy, request)
  call MPI_Send(part, 6, MPI_INTEGER, 0, 9, copy)
  call MPI_Wait(request, status)
  if (status%MPI_SOURCE /= 0 .or. status%MPI_TAG /= 9) stop 4
  call MPI_Get_count(status, MPI_INTEGER, count)
  if (count /= 6 .or. any(table(:, 1) /= [1, 2, 3, 4]) .or. table(3, 2) /= 0) stop 5
  call MPI_Comm_free(copy)
  if (copy /= MPI_COMM_NULL) stop 6
  call MPI_Finalize()
end program module_mpi_f08
