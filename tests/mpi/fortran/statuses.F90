! Statuses and the constants that stand for none, handed from Fortran to C and back: C looks at what Fortran has, and writes what
! Fortran looks at.
subroutine with_header(wrong)
  implicit none
  include 'mpif.h'
  integer, intent(inout) :: wrong
  integer :: status(MPI_STATUS_SIZE), list(MPI_STATUS_SIZE, 2)
  external :: c_ignores, c_looks, c_writes
  call c_ignores(MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE, 1, wrong)
  call c_ignores(status, list, 0, wrong)
end subroutine with_header

program statuses
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  interface
    ! Whether C takes the two for MPI_F08_STATUS_IGNORE and MPI_F08_STATUSES_IGNORE.
    subroutine c_ignores08(status, list, expected, wrong) bind(C)
      import :: c_int, MPI_Status
      type(MPI_Status) :: status, list(*)
      integer(c_int), intent(in) :: expected
      integer(c_int), intent(inout) :: wrong
    end subroutine c_ignores08
    subroutine c_looks(status, old, source, tag, count, wrong) bind(C)
      import :: c_int, MPI_Status, MPI_STATUS_SIZE
      type(MPI_Status), intent(in) :: status
      integer(c_int), intent(in) :: old(MPI_STATUS_SIZE), source, tag, count
      integer(c_int), intent(inout) :: wrong
    end subroutine c_looks
    subroutine c_writes(status, old) bind(C)
      import :: c_int, MPI_Status, MPI_STATUS_SIZE
      type(MPI_Status), intent(out) :: status
      integer(c_int), intent(out) :: old(MPI_STATUS_SIZE)
    end subroutine c_writes
    subroutine with_header(wrong)
      integer, intent(inout) :: wrong
    end subroutine with_header
  end interface
  type(MPI_Status) :: status, list(2), back
  integer :: rank, old(MPI_STATUS_SIZE), count, wrong = 0
  logical :: flag
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call with_header(wrong)
  call see(wrong == 0, 'the constants of mpif.h in C')
  call c_ignores08(MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE, 1, wrong)
  call c_ignores08(status, list, 0, wrong)
  call see(wrong == 0, 'the constants of mpi_f08 in C')
  call MPI_Sendrecv([1, 2, 3], 3, MPI_INTEGER, rank, 7, old, 8, MPI_INTEGER, rank, 7, MPI_COMM_WORLD, status)
  status%MPI_ERROR = 77
  call MPI_Status_f082f(status, old)
  call see(old(MPI_SOURCE) == rank .and. old(MPI_TAG) == 7 .and. old(MPI_ERROR) == 77, 'MPI_Status_f082f')
  call c_looks(status, old, rank, 7, 3, wrong)
  call see(wrong == 0, 'statuses of Fortran in C')
  old = 0
  call c_writes(status, old)
  call MPI_Status_f2f08(old, back)
  call MPI_Get_count(status, MPI_INTEGER, count)
  call MPI_Test_cancelled(status, flag)
  call see(status%MPI_SOURCE == 11 .and. status%MPI_TAG == 12 .and. status%MPI_ERROR == 13 .and. count == 14 .and. flag, &
           'a status of C in mpi_f08')
  call MPI_Get_count(back, MPI_INTEGER, count)
  call MPI_Test_cancelled(back, flag)
  call see(back%MPI_SOURCE == 11 .and. back%MPI_TAG == 12 .and. back%MPI_ERROR == 13 .and. count == 14 .and. flag, &
           'a status of C in mpif.h')
  call MPI_Finalize()
  if (wrong /= 0) error stop
contains
#include "see.fh"
end program statuses
