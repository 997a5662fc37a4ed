! Requests in arrays: indices that count from one, statuses, requests that are asked about and not freed, messages that are taken
! out of the queue, partitions, requests of collectives that are started again and again.
#include "method.fh"
program requests
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: rank, size, next, before, ierror, wrong = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  next = mod(rank + 1, size)
  before = mod(rank + size - 1, size)
  call indices
  call questions
  call some_and_any
  call null_requests
  call matched
  call partitions
  call persistent_collectives
  call both_directions
  call cancelled
  call MPI_Finalize(ierror)
  if (wrong /= 0) error stop
contains
#include "see.fh"

  subroutine indices
    integer, asynchronous :: got(4)
    integer :: index, count, which(4), i
    logical :: flag
    REQUEST_T :: list(4)
    STATUSES_T(statuses, 4)
    STATUS_T(status)
    got = -1
    list = MPI_REQUEST_NULL
    do i = 2, 4
      call MPI_Irecv(got(i), 1, MPI_INTEGER, rank, i, MPI_COMM_WORLD, list(i), ierror)
    end do
    call MPI_Testany(4, list, index, flag, status, ierror)
    call see(.not. flag .and. index == MPI_UNDEFINED, 'MPI_Testany of receives that are not complete')
    call MPI_Testsome(4, list, count, which, statuses, ierror)
    call see(count == 0, 'MPI_Testsome of receives that are not complete')
    call MPI_Testall(4, list, flag, statuses, ierror)
    call see(.not. flag, 'MPI_Testall of receives that are not complete')
    call MPI_Send(33, 1, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, ierror)
    call MPI_Waitany(4, list, index, status, ierror)
    call see(index == 3 .and. TAG_OF(status) == 3 .and. got(3) == 33, 'MPI_Waitany')
    call MPI_Send(22, 1, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, ierror)
    flag = .false.
    do while (.not. flag)
      call MPI_Testany(4, list, index, flag, status, ierror)
    end do
    call see(index == 2 .and. TAG_OF(status) == 2 .and. got(2) == 22, 'MPI_Testany')
    call MPI_Send(44, 1, MPI_INTEGER, rank, 4, MPI_COMM_WORLD, ierror)
    which = -7
    call MPI_Waitsome(4, list, count, which, statuses, ierror)
    call see(count == 1 .and. which(1) == 4 .and. SOURCE_AT(statuses, 1) == rank .and. all(which(2:) == -7), 'MPI_Waitsome')
    call MPI_Waitsome(4, list, count, which, MPI_STATUSES_IGNORE, ierror)
    call see(count == MPI_UNDEFINED, 'MPI_Waitsome of null requests')
  end subroutine indices

  ! Asked about, a request stays as it is.
  subroutine questions
    integer, asynchronous :: got
    logical :: flag
    REQUEST_T :: request
    STATUS_T(status)
    call MPI_Irecv(got, 1, MPI_INTEGER, rank, 6, MPI_COMM_WORLD, request, ierror)
    flag = .true.
    call MPI_Request_get_status(request, flag, MPI_STATUS_IGNORE, ierror)
    call see(.not. flag, 'MPI_Request_get_status of a receive that is not complete')
    call MPI_Send(5, 1, MPI_INTEGER, rank, 6, MPI_COMM_WORLD, ierror)
    do while (.not. flag)
      call MPI_Request_get_status(request, flag, status, ierror)
    end do
    call see(request /= MPI_REQUEST_NULL .and. TAG_OF(status) == 6, 'MPI_Request_get_status')
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call see(request == MPI_REQUEST_NULL .and. got == 5, 'MPI_Wait after it')
  end subroutine questions

  subroutine some_and_any
    integer, asynchronous :: got(3)
    integer :: index, count, which(3), i
    logical :: flag
    REQUEST_T :: list(3)
    STATUSES_T(statuses, 3)
    STATUS_T(status)
    do i = 1, 3
      call MPI_Irecv(got(i), 1, MPI_INTEGER, rank, i, MPI_COMM_WORLD, list(i), ierror)
    end do
    call MPI_Send(2, 1, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, ierror)
    flag = .false.
    do while (.not. flag)
      call MPI_Request_get_status_any(3, list, index, flag, status, ierror)
    end do
    call see(index == 2 .and. TAG_OF(status) == 2 .and. list(2) /= MPI_REQUEST_NULL, 'MPI_Request_get_status_any')
    call MPI_Request_get_status_some(3, list, count, which, statuses, ierror)
    call see(count == 1 .and. which(1) == 2 .and. SOURCE_AT(statuses, 1) == rank, 'MPI_Request_get_status_some')
    call MPI_Request_get_status_all(3, list, flag, MPI_STATUSES_IGNORE, ierror)
    call see(.not. flag, 'MPI_Request_get_status_all of some')
    call MPI_Send(1, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, ierror)
    call MPI_Send(3, 1, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, ierror)
    do while (.not. flag)
      call MPI_Request_get_status_all(3, list, flag, statuses, ierror)
    end do
    call see(SOURCE_AT(statuses, 3) == rank, 'MPI_Request_get_status_all')
    call MPI_Waitall(3, list, MPI_STATUSES_IGNORE, ierror)
    call see(all(got == [1, 2, 3]), 'MPI_Waitall after it')
  end subroutine some_and_any

  ! The empty status: no source, no tag, nothing received.
  subroutine null_requests
    REQUEST_T :: request
    STATUS_T(status)
    integer :: count
    logical :: flag
    request = MPI_REQUEST_NULL
    call MPI_Wait(request, status, ierror)
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    call see(SOURCE_OF(status) == MPI_ANY_SOURCE .and. TAG_OF(status) == MPI_ANY_TAG .and. count == 0, 'an empty status')
    call MPI_Test(request, flag, status, ierror)
    call see(flag, 'MPI_Test of no request')
    call MPI_Recv(count, 1, MPI_INTEGER, MPI_PROC_NULL, 5, MPI_COMM_WORLD, status, ierror)
    call see(SOURCE_OF(status) == MPI_PROC_NULL .and. TAG_OF(status) == MPI_ANY_TAG, 'the status of MPI_PROC_NULL')
  end subroutine null_requests

  subroutine matched
    integer, asynchronous :: got
    logical :: flag
    MESSAGE_T :: message
    REQUEST_T :: request
    STATUS_T(status)
    call MPI_Improbe(rank, 9, MPI_COMM_WORLD, flag, message, MPI_STATUS_IGNORE, ierror)
    call see(.not. flag, 'MPI_Improbe of nothing')
    call MPI_Isend(rank, 1, MPI_INTEGER, next, 9, MPI_COMM_WORLD, request, ierror)
    call MPI_Mprobe(before, 9, MPI_COMM_WORLD, message, status, ierror)
    call see(SOURCE_OF(status) == before .and. message /= MPI_MESSAGE_NULL, 'MPI_Mprobe')
    call MPI_Mrecv(got, 1, MPI_INTEGER, message, status, ierror)
    call see(got == before .and. message == MPI_MESSAGE_NULL, 'MPI_Mrecv')
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call MPI_Mprobe(MPI_PROC_NULL, 9, MPI_COMM_WORLD, message, status, ierror)
    call see(message == MPI_MESSAGE_NO_PROC, 'MPI_MESSAGE_NO_PROC')
    call MPI_Imrecv(got, 1, MPI_INTEGER, message, request, ierror)
    call MPI_Wait(request, status, ierror)
    call see(SOURCE_OF(status) == MPI_PROC_NULL .and. message == MPI_MESSAGE_NULL, 'MPI_Imrecv of MPI_MESSAGE_NO_PROC')
  end subroutine matched

  ! Partitions count from zero, elements of a list from one.
  subroutine partitions
    integer, asynchronous :: out(6), in(6)
    integer :: i
    logical :: flag
    REQUEST_T :: list(2)
    call MPI_Psend_init(out, 3, 2_MPI_COUNT_KIND, MPI_INTEGER, next, 2, MPI_COMM_WORLD, MPI_INFO_NULL, list(1), ierror)
    call MPI_Precv_init(in, 3, 2_MPI_COUNT_KIND, MPI_INTEGER, before, 2, MPI_COMM_WORLD, MPI_INFO_NULL, list(2), ierror)
    in = -1
    call MPI_Startall(2, list, ierror)
    out = [(10 * rank + i, i = 1, 6)]
    call MPI_Pready(2, list(1), ierror)
    call MPI_Pready_list(2, [0, 1], list(1), ierror)
    flag = .false.
    do while (.not. flag)
      call MPI_Parrived(list(2), 1, flag, ierror)
    end do
    call MPI_Waitall(2, list, MPI_STATUSES_IGNORE, ierror)
    call see(all(in == [(10 * before + i, i = 1, 6)]), 'partitions')
    call MPI_Request_free(list(1), ierror)
    call MPI_Request_free(list(2), ierror)
  end subroutine partitions

  subroutine persistent_collectives
    integer, asynchronous :: mine, sum, every(size), root
    integer :: i
    REQUEST_T :: list(4)
    call MPI_Allreduce_init(mine, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, list(1), ierror)
    call MPI_Allgather_init(mine, 1, MPI_INTEGER, every, 1, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, list(2), ierror)
    call MPI_Bcast_init(root, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, list(3), ierror)
    call MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, list(4), ierror)
    do i = 1, 3
      mine = i + rank
      root = merge(i, -1, rank == 0)
      call MPI_Startall(4, list, ierror)
      call MPI_Waitall(4, list, MPI_STATUSES_IGNORE, ierror)
      call see(sum == i * size + size * (size - 1) / 2 .and. root == i, 'a collective that was started again')
      call see(every(size) == i + size - 1 .and. every(1) == i, 'MPI_Allgather_init')
    end do
    do i = 1, 4
      call MPI_Request_free(list(i), ierror)
    end do
  end subroutine persistent_collectives

  subroutine both_directions
    integer, asynchronous :: got, same
    REQUEST_T :: request
    STATUS_T(status)
    call MPI_Isendrecv(rank, 1, MPI_INTEGER, next, 11, got, 1, MPI_INTEGER, before, 11, MPI_COMM_WORLD, request, ierror)
    call MPI_Wait(request, status, ierror)
    call see(got == before .and. SOURCE_OF(status) == before, 'MPI_Isendrecv')
    same = 7 * rank
    call MPI_Isendrecv_replace(same, 1, MPI_INTEGER, next, 12, before, 12, MPI_COMM_WORLD, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call see(same == 7 * before, 'MPI_Isendrecv_replace')
  end subroutine both_directions

  subroutine cancelled
    integer, asynchronous :: got
    integer :: many
    logical :: flag
    REQUEST_T :: request
    STATUS_T(status)
    call MPI_Irecv(got, 1, MPI_INTEGER, rank, 13, MPI_COMM_WORLD, request, ierror)
    call MPI_Cancel(request, ierror)
    call MPI_Wait(request, status, ierror)
    call MPI_Test_cancelled(status, flag, ierror)
    call see(flag, 'MPI_Test_cancelled')
    call MPI_Status_set_cancelled(status, .false., ierror)
    call MPI_Test_cancelled(status, flag, ierror)
    call see(.not. flag, 'MPI_Status_set_cancelled')
    call MPI_Status_set_elements(status, MPI_INTEGER, 12, ierror)
    call MPI_Get_elements(status, MPI_INTEGER, many, ierror)
    call see(many == 12, 'MPI_Status_set_elements')
  end subroutine cancelled
end program requests
