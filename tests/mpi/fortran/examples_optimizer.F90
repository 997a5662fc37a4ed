! Buffers that a compiler would keep in registers or move code across, each with a cure that the standard names. Compiled with
! optimization; docs/fortran.md says what happens without the cures. On 2 or more ranks.
#include "method.fh"
module halo
  implicit none
  integer :: of_a_module
end module halo

program examples_optimizer
  use halo
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, parameter :: address = MPI_ADDRESS_KIND
  integer :: rank, size, ierror, next, before
  external :: touch
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  next = mod(rank + 1, size)
  before = mod(rank + size - 1, size)
  call receive_asynchronous
  call receive_sync_reg
  call receive_touched
  call receive_into_module
  call send_then_overwrite
  call receive_bottom
  call send_bottom
  call overlap
  call window
  call MPI_Finalize(ierror)
contains
  subroutine wrong(what)
    character(*), intent(in) :: what
    print '(a,i0,2a)', 'rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine wrong

  subroutine send_rank(request)
    REQUEST_T, intent(out) :: request
    integer, asynchronous, save :: mine
    mine = rank + 1000
    call MPI_Isend(mine, 1, MPI_INTEGER, next, 1, MPI_COMM_WORLD, request, ierror)
  end subroutine send_rank

  ! The value is read before and after waiting; the call that waits does not name it.
  subroutine receive_asynchronous
    integer, asynchronous :: buffer
    integer :: sum
    REQUEST_T :: requests(2)
    buffer = -1
    call MPI_Irecv(buffer, 1, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1), ierror)
    call send_rank(requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    sum = buffer
    if (sum /= before + 1000) call wrong('ASYNCHRONOUS')
  end subroutine receive_asynchronous

  subroutine receive_sync_reg
    integer :: buffer
    REQUEST_T :: requests(2)
    buffer = -1
    call MPI_Irecv(buffer, 1, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1), ierror)
    call send_rank(requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call MPI_F_sync_reg(buffer)
    if (buffer /= before + 1000) call wrong('MPI_F_sync_reg')
  end subroutine receive_sync_reg

  subroutine receive_touched
    integer :: buffer
    REQUEST_T :: requests(2)
    buffer = -1
    call MPI_Irecv(buffer, 1, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1), ierror)
    call send_rank(requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call touch(buffer)
    if (buffer /= before + 1000) call wrong('a procedure of the user')
  end subroutine receive_touched

  subroutine receive_into_module
    REQUEST_T :: requests(2)
    of_a_module = -1
    call MPI_Irecv(of_a_module, 1, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1), ierror)
    call send_rank(requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    if (of_a_module /= before + 1000) call wrong('a variable of a module')
  end subroutine receive_into_module

  ! The buffer is written again after waiting: that must not move before.
  subroutine send_then_overwrite
    integer, asynchronous :: buffer
    integer :: got, i
    REQUEST_T :: request
    do i = 1, 100
      buffer = i
      call MPI_Isend(buffer, 1, MPI_INTEGER, next, 2, MPI_COMM_WORLD, request, ierror)
      call MPI_Recv(got, 1, MPI_INTEGER, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
      buffer = -i
      if (got /= i) call wrong('overwritten after waiting')
    end do
  end subroutine send_then_overwrite

  subroutine bottom_type(where, kind)
    integer(address), intent(in) :: where
    DATATYPE_T, intent(out) :: kind
    call MPI_Type_create_hindexed(1, [1], [where], MPI_INTEGER, kind, ierror)
    call MPI_Type_commit(kind, ierror)
  end subroutine bottom_type

  ! A variable that is known by its address alone.
  subroutine receive_bottom
    integer :: buffer
    integer(address) :: where
    DATATYPE_T :: kind
    REQUEST_T :: request
    call MPI_Get_address(buffer, where, ierror)
    call bottom_type(where, kind)
    call send_rank(request)
    buffer = -1
    call MPI_F_sync_reg(buffer)
    call MPI_Recv(MPI_BOTTOM, 1, kind, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call MPI_F_sync_reg(buffer)
    if (buffer /= before + 1000) call wrong('received at MPI_BOTTOM')
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call MPI_Type_free(kind, ierror)
  end subroutine receive_bottom

  subroutine send_bottom
    integer :: buffer, got
    integer(address) :: where
    DATATYPE_T :: kind
    REQUEST_T :: request
    call MPI_Irecv(of_a_module, 1, MPI_INTEGER, before, 3, MPI_COMM_WORLD, request, ierror)
    call MPI_Get_address(buffer, where, ierror)
    call bottom_type(where, kind)
    buffer = 77
    call MPI_F_sync_reg(buffer)
    call MPI_Send(MPI_BOTTOM, 1, kind, next, 3, MPI_COMM_WORLD, ierror)
    call MPI_F_sync_reg(buffer)
    buffer = 78
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    got = of_a_module
    if (got /= 77) call wrong('sent from MPI_BOTTOM')
    call MPI_Type_free(kind, ierror)
  end subroutine send_bottom

  ! The inner part is computed while the border arrives.
  subroutine overlap
    real, asynchronous :: table(100, 20), border(100)
    integer :: i, j
    REQUEST_T :: requests(2)
    table = rank
    border = rank + 0.5
    call MPI_Irecv(table(1, 1), 100, MPI_REAL, before, 4, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(border, 100, MPI_REAL, next, 4, MPI_COMM_WORLD, requests(2), ierror)
    do j = 2, 20
      do i = 1, 100
        table(i, j) = table(i, j) + 1.0
      end do
    end do
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    do i = 1, 100
      if (table(i, 1) /= before + 0.5 .or. table(i, 2) /= rank + 1.0) call wrong('overlap')
    end do
  end subroutine overlap

  ! One-sided: the target does not name what others write; the origin does not name what it puts before the fence.
  subroutine window
    integer, asynchronous :: buff, bbbb
#if METHOD == 8
    type(MPI_Win) :: win
#else
    integer :: win
#endif
    integer(address) :: bytes
    bytes = storage_size(buff) / 8
    buff = -1
    call MPI_Win_create(buff, bytes, storage_size(buff) / 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    bbbb = rank + 5
    call MPI_F_sync_reg(bbbb)
    call MPI_Put(bbbb, 1, MPI_INTEGER, next, 0_address, 1, MPI_INTEGER, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    call MPI_F_sync_reg(bbbb)
    call MPI_F_sync_reg(buff)
    if (buff /= before + 5) call wrong('a window')
    call MPI_Win_free(win, ierror)
  end subroutine window
end program examples_optimizer
