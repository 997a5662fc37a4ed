! Who is there, with the module mpi.
program hello
  use mpi
  implicit none
  integer :: rank, size, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  print '(a,i0,a,i0)', 'mpi: rank ', rank, ' of ', size
  call MPI_Finalize(ierror)
end program hello
