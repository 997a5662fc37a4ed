! The standard's example of MPI_ALLOC_MEM: memory that an array has through a pointer as many compilers had them before Fortran 90.
#include "method.fh"
program cray_pointer
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: rank, ierror, wrong = 0
  real :: a
  integer(MPI_ADDRESS_KIND) :: bytes
  pointer (p, a(100, 100))
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  bytes = 100 * 100 * (storage_size(1.0) / 8)
  call MPI_Alloc_mem(bytes, MPI_INFO_NULL, p, ierror)
  a = 0.0
  a(3, 5) = 2.71
  a(100, 100) = 1.0
  call MPI_Allreduce(MPI_IN_PLACE, a, size(a), MPI_REAL, MPI_MAX, MPI_COMM_WORLD, ierror)
  call see(a(3, 5) == 2.71 .and. abs(sum(a) - 3.71) < 1e-5, 'an array in memory of MPI_Alloc_mem')
  call MPI_Free_mem(a, ierror)
  call see(ierror == MPI_SUCCESS, 'MPI_Free_mem')
  call MPI_Finalize(ierror)
  if (wrong /= 0) error stop
contains
#include "see.fh"
end program cray_pointer
