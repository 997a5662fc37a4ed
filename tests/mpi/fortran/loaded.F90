! What the objects of loaded.c call: one with mpif.h, whose special addresses are blocks of its own, one with the module mpi,
! which has those of the library. METHOD tells them apart.
#include "method.fh"
#if METHOD == 77
#define PROCEDURE object_with_header
#else
#define PROCEDURE object_with_module
#endif
subroutine PROCEDURE(wrong) bind(C)
  USE_MPI
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  INCLUDE_MPI
  integer(c_int), intent(out) :: wrong
  integer :: mine, got, codes, ierror, rank
  COMM_T :: world
  wrong = 1
  world = MPI_COMM_WORLD
  call MPI_Comm_rank(world, rank, ierror)
  mine = rank + 1
  got = -1
  codes = 0
  call MPI_Sendrecv(mine, 1, MPI_INTEGER, rank, 1, got, 1, MPI_INTEGER, rank, 1, world, MPI_STATUS_IGNORE, ierror)
  if (got /= mine) return
  call MPI_Allreduce(MPI_IN_PLACE, got, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_SELF, ierror)
  if (got /= mine) return
  wrong = 0
end subroutine PROCEDURE
