! Units that use different methods in one program: handles and statuses go from one to the other.
subroutine with_header(comm, status, ierror)
  implicit none
  include 'mpif.h'
  integer :: comm, status(MPI_STATUS_SIZE), ierror, rank
  call MPI_Comm_rank(comm, rank, ierror)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, rank, 21, rank, 1, MPI_INTEGER, rank, 21, comm, status, ierror)
end subroutine with_header

! The module mpi has the types of mpi_f08.
subroutine with_module(comm, status, equal)
  use mpi
  implicit none
  type(MPI_Comm), intent(in) :: comm
  type(MPI_Status), intent(out) :: status
  logical, intent(out) :: equal
  type(MPI_Comm) :: other
  integer :: old(MPI_STATUS_SIZE), rank, ierror
  interface
    subroutine with_header(comm, status, ierror)
      import :: MPI_STATUS_SIZE
      integer :: comm, status(MPI_STATUS_SIZE), ierror
    end subroutine with_header
  end interface
  call with_header(comm%MPI_VAL, old, ierror)
  call MPI_Comm_rank(comm%MPI_VAL, rank, ierror)
  if (old(MPI_SOURCE) /= rank .or. old(MPI_TAG) /= 21) print '(a)', 'the status of mpif.h'
  call MPI_Status_f2f08(old, status, ierror)
  other%MPI_VAL = MPI_COMM_NULL
  equal = other == comm .or. .not. (other /= comm)
end subroutine with_module

program examples_handles
  use mpi_f08
  implicit none
  interface
    subroutine with_module(comm, status, equal)
      import :: MPI_Comm, MPI_Status
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Status), intent(out) :: status
      logical, intent(out) :: equal
    end subroutine with_module
  end interface
  type(MPI_Comm) :: copy
  type(MPI_Status) :: status
  integer :: old(MPI_STATUS_SIZE), rank, count
  logical :: equal
  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, copy)
  call MPI_Comm_rank(copy, rank)
  call with_module(copy, status, equal)
  if (equal) call wrong('handles that differ are equal')
  if (status%MPI_SOURCE /= rank .or. status%MPI_TAG /= 21) call wrong('a status from mpif.h through mpi')
  call MPI_Get_count(status, MPI_INTEGER, count)
  if (count /= 1) call wrong('what is hidden in a status')
  call MPI_Status_f082f(status, old)
  if (old(MPI_SOURCE) /= rank .or. old(MPI_TAG) /= 21) call wrong('a status back to INTEGERs')
  if (storage_size(copy) /= storage_size(rank)) call wrong('the size of a handle')
  call MPI_Comm_free(copy)
  call MPI_Finalize()
contains
  subroutine wrong(what)
    character(*), intent(in) :: what
    print '(a,i0,2a)', 'rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine wrong
end program examples_handles
