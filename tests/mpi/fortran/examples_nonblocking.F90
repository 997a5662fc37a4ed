! What the standard's examples of nonblocking and persistent communication in Fortran show; programs of our own. On 3 or more ranks.
#include "method.fh"
program examples_nonblocking
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: rank, size, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  if (size < 3) call wrong('this needs 3 ranks')
  call nonblocking
  call request_free
  call progress
  call server_waitany
  call server_waitsome
  call probe_then_receive
  call persistent
  call MPI_Finalize(ierror)
contains
  subroutine wrong(what)
    character(*), intent(in) :: what
    print '(a,i0,2a)', 'rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine wrong

  ! Computation between starting and waiting; two sends of one tag are received in order.
  subroutine nonblocking
    integer, asynchronous :: a, b
    REQUEST_T :: requests(2)
    STATUSES_T(statuses, 2)
    if (rank == 0) then
      a = 1
      b = 2
      call MPI_Isend(a, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, requests(1), ierror)
      call MPI_Isend(b, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, requests(2), ierror)
    else if (rank == 1) then
      a = -1
      b = -1
      call MPI_Irecv(a, 1, MPI_INTEGER, 0, MPI_ANY_TAG, MPI_COMM_WORLD, requests(1), ierror)
      call MPI_Irecv(b, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, requests(2), ierror)
    else
      return
    end if
    call MPI_Waitall(2, requests, statuses, ierror)
    if (any([a, b] /= [1, 2])) call wrong('order of two nonblocking receives')
    if (rank == 1) then
      if (SOURCE_AT(statuses, 2) /= 0) call wrong('the second status')
    end if
    if (requests(1) /= MPI_REQUEST_NULL .or. requests(2) /= MPI_REQUEST_NULL) call wrong('requests after waiting')
  end subroutine nonblocking

  ! Sends whose requests are freed at once: the answer says that the buffer is free again.
  subroutine request_free
    integer, asynchronous :: out, in
    integer :: i, peer
    REQUEST_T :: request
    if (rank > 1) return
    peer = 1 - rank
    do i = 1, 20
      out = i
      call MPI_Irecv(in, 1, MPI_INTEGER, peer, 9, MPI_COMM_WORLD, request, ierror)
      if (rank == 1) call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
      call answer(out, peer)
      if (rank == 0) call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
      if (in /= i) call wrong('a freed send')
    end do
  end subroutine request_free

  subroutine answer(out, peer)
    integer, asynchronous :: out
    integer, intent(in) :: peer
    REQUEST_T :: freed
    call MPI_Isend(out, 1, MPI_INTEGER, peer, 9, MPI_COMM_WORLD, freed, ierror)
    call MPI_Request_free(freed, ierror)
    if (freed /= MPI_REQUEST_NULL) call wrong('the handle of a freed request')
  end subroutine answer

  ! A synchronous send meets a receive that was started and is not waited for yet.
  subroutine progress
    integer, asynchronous :: a
    integer :: b
    REQUEST_T :: request
    STATUS_T(status)
    if (rank == 0) then
      call MPI_Ssend(1, 1, MPI_INTEGER, 1, 10, MPI_COMM_WORLD, ierror)
      call MPI_Send(2, 1, MPI_INTEGER, 1, 11, MPI_COMM_WORLD, ierror)
    else if (rank == 1) then
      call MPI_Irecv(a, 1, MPI_INTEGER, 0, 10, MPI_COMM_WORLD, request, ierror)
      call MPI_Recv(b, 1, MPI_INTEGER, 0, 11, MPI_COMM_WORLD, status, ierror)
      call MPI_Wait(request, status, ierror)
      if (a /= 1 .or. b /= 2) call wrong('progress')
    end if
  end subroutine progress

  ! A server takes what comes, one at a time. Indices count from 1.
  subroutine server_waitany
    integer, asynchronous :: got(0:size)
    integer :: i, index, sum
    REQUEST_T :: requests(size - 1)
    STATUS_T(status)
    if (rank > 0) then
      call MPI_Send(rank, 1, MPI_INTEGER, 0, 12, MPI_COMM_WORLD, ierror)
      return
    end if
    do i = 1, size - 1
      call MPI_Irecv(got(i), 1, MPI_INTEGER, i, 12, MPI_COMM_WORLD, requests(i), ierror)
    end do
    sum = 0
    do i = 1, size - 1
      call MPI_Waitany(size - 1, requests, index, status, ierror)
      if (index < 1 .or. index > size - 1) call wrong('index of MPI_Waitany')
      if (SOURCE_OF(status) /= index .or. TAG_OF(status) /= 12 .or. got(index) /= index) call wrong('MPI_Waitany')
      sum = sum + index
    end do
    if (sum /= size * (size - 1) / 2) call wrong('not every client was served')
    call MPI_Waitany(size - 1, requests, index, status, ierror)
    if (index /= MPI_UNDEFINED) call wrong('MPI_Waitany of null requests')
  end subroutine server_waitany

  ! The same with all that have come at a time.
  subroutine server_waitsome
    integer, asynchronous :: got(size)
    integer :: i, served, many, indices(size)
    REQUEST_T :: requests(size - 1)
    STATUSES_T(statuses, size)
    if (rank > 0) then
      call MPI_Send(10 * rank, 1, MPI_INTEGER, 0, 13, MPI_COMM_WORLD, ierror)
      return
    end if
    do i = 1, size - 1
      call MPI_Irecv(got(i), 1, MPI_INTEGER, i, 13, MPI_COMM_WORLD, requests(i), ierror)
    end do
    served = 0
    do while (served < size - 1)
      call MPI_Waitsome(size - 1, requests, many, indices, statuses, ierror)
      do i = 1, many
        if (indices(i) < 1 .or. indices(i) > size - 1) call wrong('indices of MPI_Waitsome')
        if (got(indices(i)) /= 10 * indices(i)) call wrong('MPI_Waitsome')
      end do
      served = served + many
    end do
    if (served /= size - 1) call wrong('MPI_Waitsome counts')
  end subroutine server_waitsome

  ! Two senders of different types: the receiver asks first what comes.
  subroutine probe_then_receive
    integer :: i, whole
    real :: number
    STATUS_T(status)
    if (rank == 1) call MPI_Send(7, 1, MPI_INTEGER, 0, 14, MPI_COMM_WORLD, ierror)
    if (rank == 2) call MPI_Send(0.5, 1, MPI_REAL, 0, 14, MPI_COMM_WORLD, ierror)
    if (rank /= 0) return
    do i = 1, 2
      call MPI_Probe(MPI_ANY_SOURCE, 14, MPI_COMM_WORLD, status, ierror)
      if (SOURCE_OF(status) == 1) then
        call MPI_Recv(whole, 1, MPI_INTEGER, 1, 14, MPI_COMM_WORLD, status, ierror)
        if (whole /= 7) call wrong('the INTEGER that was probed')
      else
        call MPI_Recv(number, 1, MPI_REAL, 2, 14, MPI_COMM_WORLD, status, ierror)
        if (number /= 0.5) call wrong('the REAL that was probed')
      end if
    end do
  end subroutine probe_then_receive

  ! Create, start and complete as often as wanted, free.
  subroutine persistent
    integer, asynchronous :: out, in
    integer :: i
    REQUEST_T :: requests(2)
    call MPI_Send_init(out, 1, MPI_INTEGER, mod(rank + 1, size), 15, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Recv_init(in, 1, MPI_INTEGER, mod(rank + size - 1, size), 15, MPI_COMM_WORLD, requests(2), ierror)
    do i = 1, 5
      out = 100 * i + rank
      call MPI_Startall(2, requests, ierror)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
      if (in /= 100 * i + mod(rank + size - 1, size)) call wrong('persistent')
    end do
    call MPI_Request_free(requests(1), ierror)
    call MPI_Request_free(requests(2), ierror)
  end subroutine persistent
end program examples_nonblocking
