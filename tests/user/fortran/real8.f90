! 8-byte REALs by a flag of the compiler, which are MPI's DOUBLE PRECISION in a library that was not compiled with that flag.
program real8
  use mpi_f08
  implicit none
  real :: mine(2), sum(4)
  integer :: size
  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  mine = [1.0, 0.25]
  sum = -1.0
  call MPI_Allreduce(mine, sum, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
  if (storage_size(mine) /= 64 .or. any(sum(1:2) /= size * mine) .or. any(sum(3:4) /= -1.0)) error stop
end program real8
