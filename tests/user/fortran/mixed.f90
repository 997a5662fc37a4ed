! A Fortran program with a part in C: each side uses MPI, and they share a communicator.
program mixed
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  interface
    integer(c_int) function sum_in_c(comm) bind(C)
      import :: c_int
      integer(c_int), value :: comm
    end function sum_in_c
  end interface
  integer :: rank, total
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (sum_in_c(int(MPI_COMM_WORLD%MPI_VAL, c_int)) /= total) stop 1
  call MPI_Finalize()
end program mixed
