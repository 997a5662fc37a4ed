! The self-test of a flavour with descriptors: sections of arrays in a receive that is not complete when it returns.
program sections
  use mpi_f08
  implicit none
  integer, asynchronous :: table(4, 5), part(2, 3)
  type(MPI_Request) :: request
  call MPI_Init()
  if (.not. MPI_SUBARRAYS_SUPPORTED) stop 1
  table = 0
  part = reshape([1, 2, 3, 4, 5, 6], [2, 3])
  call MPI_Irecv(table(1:3:2, 5:1:-2), 6, MPI_INTEGER, 0, 9, MPI_COMM_SELF, request)
  call MPI_Send(part, 6, MPI_INTEGER, 0, 9, MPI_COMM_SELF)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  if (any(table(1:3:2, 5) /= [1, 2]) .or. any(table(1:3:2, 1) /= [5, 6])) stop 2
  if (sum(table) /= 21) stop 3
  call MPI_Finalize()
end program sections
