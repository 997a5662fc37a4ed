! What the standard's examples show as wrong, one at a time: erroneous WHAT. Handlers return, so that the program prints what a
! call says and goes on where the standard lets it; erroneous.py runs it and reads that.
#include "method.fh"
program erroneous
  USE_MPI
  implicit none
  INCLUDE_MPI
  character(len=16) :: what
  integer :: rank, size, ierror, i
  real :: ten(10), two(2)
  integer :: numbers(10), sums(10), many(200000) = 1
  COMM_T :: made, own, other
  REQUEST_T :: request, requests(2)
  logical :: flag
  STATUS_T(status)
  DATATYPE_T :: found
#if METHOD == 8
  type(MPI_File) :: file
  type(MPI_Group) :: group
#define HANDLE(of) of%MPI_VAL
#else
  integer :: file, group
#define HANDLE(of) of
#endif
  call get_command_argument(1, what)
  call MPI_Init(ierror)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  ten = rank
  numbers = rank
  sums = -1
  select case (what)
  case ('types')  ! ten REALs are received as forty bytes
    if (rank == 0) then
      call MPI_Send(ten, 10, MPI_REAL, 1, 0, MPI_COMM_WORLD, ierror)
    else
      call MPI_Recv(ten, 40, MPI_BYTE, 0, 0, MPI_COMM_WORLD, status, ierror)
      call say('MPI_Recv', ierror)
    end if
  case ('any')  ! a receive from anyone takes the message that was meant for the next one
    if (rank == 0) then
      call MPI_Recv(numbers, 1, MPI_INTEGER, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, status, ierror)
      call say('MPI_Recv', ierror)
    else
      call MPI_Send(two, 1, MPI_REAL, 0, 0, MPI_COMM_WORLD, ierror)
    end if
  case ('receives')  ! both receive first
    call MPI_Recv(numbers, 10, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, status, ierror)
    call MPI_Send(sums, 10, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, ierror)
  case ('sends')  ! both send first, and need a buffer
    call MPI_Ssend(numbers, 10, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, ierror)
    call MPI_Recv(sums, 10, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, status, ierror)
  case ('bsend')  ! there is none
    call MPI_Bsend(numbers, 10, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, ierror)
    call say('MPI_Bsend', ierror)
  case ('order')  ! broadcasts in opposite orders
    do i = 0, 1
      call MPI_Bcast(numbers, 1, MPI_INTEGER, merge(i, 1 - i, rank == 0), MPI_COMM_WORLD, ierror)
      if (ierror /= MPI_SUCCESS) exit
    end do
    call say('MPI_Bcast', ierror)
  case ('barrier')  ! a barrier and a broadcast in opposite orders
    if (rank == 0) call MPI_Ibarrier(MPI_COMM_WORLD, request, ierror)
    call MPI_Bcast(numbers, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    call say('MPI_Bcast', ierror)
    if (rank /= 0) call MPI_Ibarrier(MPI_COMM_WORLD, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  case ('message')  ! one broadcasts before it sends, the other receives before it broadcasts
    if (rank == 0) then
      call MPI_Bcast(many, 200000, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
      call MPI_Send(numbers, 10, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, ierror)
    else
      call MPI_Recv(numbers, 10, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, status, ierror)
      call MPI_Bcast(many, 200000, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    end if
  case ('cycle')  ! broadcasts on communicators of 0 and 1, 1 and 2, 2 and 0, each rank receiving before it sends
    do i = 0, 2
      call MPI_Comm_split(MPI_COMM_WORLD, merge(1, MPI_UNDEFINED, rank == i .or. rank == mod(i + 1, 3)), &
                          merge(0, 1, rank == i), made, ierror)
      if (rank == i) own = made
      if (rank == mod(i + 1, 3)) other = made
    end do
    call MPI_Bcast(sums, 10, MPI_INTEGER, 0, other, ierror)
    call MPI_Bcast(numbers, 10, MPI_INTEGER, 0, own, ierror)
  case ('forms')  ! a nonblocking collective operation does not match a blocking one
    if (rank == 0) then
      call MPI_Ialltoall(numbers, 1, MPI_INTEGER, sums, 1, MPI_INTEGER, MPI_COMM_WORLD, request, ierror)
      call say('MPI_Ialltoall', ierror)
      if (ierror == MPI_SUCCESS) call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
      call say('MPI_Wait', ierror)
    else
      call MPI_Alltoall(numbers, 1, MPI_INTEGER, sums, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
      call say('MPI_Alltoall', ierror)
    end if
  case ('cancel')  ! a collective operation is not cancelled
    call MPI_Ibarrier(MPI_COMM_WORLD, request, ierror)
    call MPI_Cancel(request, ierror)
    call say('MPI_Cancel', ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call say('MPI_Wait', ierror)
  case ('alias')  ! one array as both operands
    call MPI_Allreduce(numbers, numbers, 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call say('MPI_Allreduce', ierror)
  case ('match')  ! what MPI_Type_match_size gives is not freed; there is no INTEGER of three bytes
    call MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, found, ierror)
    call MPI_Type_free(found, ierror)
    call say('MPI_Type_free', ierror)
    call MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 3, found, ierror)
    call say('MPI_Type_match_size', ierror)
  case ('elements')  ! the second element of an array is wrong
    call MPI_Comm_group(MPI_COMM_WORLD, group, ierror)
    numbers(1:3) = [0, 77, 0]
    call MPI_Group_incl(group, 3, numbers, group, ierror)
    call say('MPI_Group_incl', ierror)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, [1, -5], [.true., .true.], .true., made, ierror)
    call say('MPI_Cart_create', ierror)
    call MPI_Type_indexed(2, [1, -1], [0, 1], MPI_INTEGER, found, ierror)
    call say('MPI_Type_indexed', ierror)
    requests = MPI_REQUEST_NULL
    HANDLE(requests(2)) = 123456
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call say('MPI_Waitall', ierror)
    call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE, ierror)
    call say('MPI_Testall', ierror)
  case ('split')  ! a collective read between the halves of another one
    call MPI_File_open(MPI_COMM_WORLD, 'erroneous.data', MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
                       MPI_INFO_NULL, file, ierror)
    call MPI_File_write_at_all(file, int(40 * rank, MPI_OFFSET_KIND), numbers, 40, MPI_BYTE, MPI_STATUS_IGNORE, ierror)
    call MPI_File_read_at_all_begin(file, int(40 * rank, MPI_OFFSET_KIND), sums, 40, MPI_BYTE, ierror)
    call MPI_File_read_all(file, ten, 4, MPI_BYTE, MPI_STATUS_IGNORE, ierror)
    call say('MPI_File_read_all', ierror)
    call MPI_File_read_at_all_end(file, sums, MPI_STATUS_IGNORE, ierror)
    call say('MPI_File_read_at_all_end', ierror)
    if (all(sums == rank) .and. all(ten == rank)) print '(a)', 'nothing is lost'
    call MPI_File_close(file, ierror)
  end select
  call MPI_Finalize(ierror)
contains
  subroutine say(call, code)
    character(*), intent(in) :: call
    integer, intent(in) :: code
    character(len=MPI_MAX_ERROR_STRING) :: text
    integer :: class, length, error
    call MPI_Error_class(code, class, error)
    call MPI_Error_string(code, text, length, error)
    print '(a,i0,a,i0,2a)', call // ': class ', class, ', rank ', rank, ': ', text(:length)
    flush (6)
  end subroutine say
end program erroneous
