! Windows and memory of MPI in Fortran: addresses as TYPE(C_PTR) and as INTEGERs, attributes, calls that return requests, atomic
! updates, epochs of each kind, memory that is attached later.
#include "method.fh"
program windows
  USE_MPI
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer, c_associated, c_loc
  implicit none
  INCLUDE_MPI
  integer, parameter :: address = MPI_ADDRESS_KIND
  integer :: rank, size, next, ierror, wrong = 0
  integer(address) :: bytes
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  next = mod(rank + 1, size)
  bytes = storage_size(rank) / 8
  call memory
  call allocated
  call shared
  call attached_later
  call epochs
  call MPI_Finalize(ierror)
  if (wrong /= 0) error stop
contains
#include "see.fh"

  ! In mpi the procedures that make memory take both kinds of address; with mpif.h there is no interface to choose by.
  subroutine memory
    type(c_ptr) :: where
    integer, pointer :: table(:, :)
#if METHOD != 8
    integer(address) :: number
#endif
#if METHOD == 77
    call MPI_Alloc_mem(20 * bytes, MPI_INFO_NULL, number, ierror)
    where = transfer(number, where)
#else
    call MPI_Alloc_mem(20 * bytes, MPI_INFO_NULL, where, ierror)
#endif
    call see(ierror == MPI_SUCCESS .and. c_associated(where), 'MPI_Alloc_mem')
    call c_f_pointer(where, table, [4, 5])
    table = rank
    call see(sum(table) == 20 * rank, 'memory of MPI')
    call MPI_Free_mem(table, ierror)
    call see(ierror == MPI_SUCCESS, 'MPI_Free_mem')
#if METHOD == 90
    call MPI_Alloc_mem(20 * bytes, MPI_INFO_NULL, number, ierror)
    call see(number /= 0, 'an address as an INTEGER')
    where = transfer(number, where)
    call c_f_pointer(where, table, [4, 5])
    call MPI_Free_mem(table, ierror)
#endif
  end subroutine memory

  subroutine allocated
    type(c_ptr) :: where
    integer, pointer, asynchronous :: mine(:)
    integer, asynchronous :: got(4), one, was
    REQUEST_T :: request
    WIN_T :: window
#if METHOD == 8
    call MPI_Win_allocate(6 * bytes, int(bytes), MPI_INFO_NULL, MPI_COMM_WORLD, where, window, ierror)
#else
    integer(address) :: number
    call MPI_Win_allocate(6 * bytes, int(bytes), MPI_INFO_NULL, MPI_COMM_WORLD, number, window, ierror)
    where = transfer(number, where)
#endif
    call c_f_pointer(where, mine, [6])
    call attributes(window, transfer(where, bytes), 6 * bytes, int(bytes), MPI_WIN_FLAVOR_ALLOCATE)
    mine = 100 * rank + [1, 2, 3, 4, 5, 6]
    call MPI_Win_lock_all(MPI_MODE_NOCHECK, window, ierror)
    call MPI_Win_sync(window, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Rget(got, 4, MPI_INTEGER, next, 2_address, 4, MPI_INTEGER, window, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call see(all(got == 100 * next + [3, 4, 5, 6]) .and. request == MPI_REQUEST_NULL, 'MPI_Rget')
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    got = 7
    call MPI_Rput(got, 2, MPI_INTEGER, next, 0_address, 2, MPI_INTEGER, window, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call MPI_Win_flush(next, window, ierror)
    call MPI_Raccumulate(got, 2, MPI_INTEGER, next, 1_address, 2, MPI_INTEGER, MPI_SUM, window, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call MPI_Win_flush_local(next, window, ierror)
    call MPI_Win_flush(next, window, ierror)
    call MPI_Rget_accumulate(got, 0, MPI_INTEGER, got, 4, MPI_INTEGER, next, 0_address, 4, MPI_INTEGER, MPI_NO_OP, window, &
                             request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call see(all(got == [7, 14, 100 * next + 10, 100 * next + 4]), 'MPI_Rput, MPI_Raccumulate and MPI_Rget_accumulate')
    one = 1
    call MPI_Fetch_and_op(one, was, MPI_INTEGER, 0, 5_address, MPI_SUM, window, ierror)
    call MPI_Win_flush_all(window, ierror)
    call see(was >= 6 .and. was < 6 + size, 'MPI_Fetch_and_op')
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    got(1) = -5
    call MPI_Compare_and_swap(got, 6 + size, was, MPI_INTEGER, 0, 5_address, window, ierror)
    call MPI_Win_flush_local_all(window, ierror)
    call MPI_Win_flush(0, window, ierror)
    call see(was == 6 + size .or. was == -5, 'MPI_Compare_and_swap')
    call MPI_Win_unlock_all(window, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    if (rank == 0) call see(mine(6) == -5, 'what atomic updates made')
    call MPI_Win_free(window, ierror)
    call see(window == MPI_WIN_NULL, 'the handle of a freed window')
  end subroutine allocated

  subroutine attributes(window, base, length, unit, flavor)
    WIN_T, intent(in) :: window
    integer(address), intent(in) :: base, length
    integer, intent(in) :: unit, flavor
    GROUP_T :: group
    integer(address) :: value
    integer :: many
    logical :: flag
    character(len=MPI_MAX_OBJECT_NAME) :: name
    call MPI_Win_get_attr(window, MPI_WIN_BASE, value, flag, ierror)
    call see(flag .and. value == base, 'MPI_WIN_BASE')
    call MPI_Win_get_attr(window, MPI_WIN_SIZE, value, flag, ierror)
    call see(flag .and. value == length, 'MPI_WIN_SIZE')
    call MPI_Win_get_attr(window, MPI_WIN_DISP_UNIT, value, flag, ierror)
    call see(flag .and. value == unit, 'MPI_WIN_DISP_UNIT')
    call MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, value, flag, ierror)
    call see(flag .and. value == flavor, 'MPI_WIN_CREATE_FLAVOR')
    call MPI_Win_get_attr(window, MPI_WIN_MODEL, value, flag, ierror)
    call see(flag .and. (value == MPI_WIN_UNIFIED .or. value == MPI_WIN_SEPARATE), 'MPI_WIN_MODEL')
    call MPI_Win_get_group(window, group, ierror)
    call MPI_Group_size(group, many, ierror)
    call MPI_Group_free(group, ierror)
    call see(many == size, 'the group of a window')
    call MPI_Win_set_name(window, 'our window  ', ierror)
    name = repeat('#', len(name))
    call MPI_Win_get_name(window, name, many, ierror)
    call see(many == 10 .and. name == 'our window', 'the name of a window')
  end subroutine attributes

  ! Of the memory of another rank the address and the size are asked for.
  subroutine shared
    type(c_ptr) :: where
    integer, pointer, asynchronous :: mine(:), others(:)
    integer(address) :: length
    integer :: unit
    WIN_T :: window
    COMM_T :: node
    integer :: here, many
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node, ierror)
    call MPI_Comm_rank(node, here, ierror)
    call MPI_Comm_size(node, many, ierror)
#if METHOD == 77
    call allocate_shared(node, here, length, window)
    where = transfer(length, where)
#else
    call MPI_Win_allocate_shared((here + 1) * bytes, int(bytes), MPI_INFO_NULL, node, where, window, ierror)
#endif
    call c_f_pointer(where, mine, [here + 1])
    call MPI_Win_fence(0, window, ierror)
    mine = 10 * here
    call MPI_Win_fence(0, window, ierror)
#if METHOD == 77
    call query_shared(window, mod(here + 1, many), length, unit, where)
#else
    call MPI_Win_shared_query(window, mod(here + 1, many), length, unit, where, ierror)
#endif
    call see(length == bytes * (mod(here + 1, many) + 1) .and. unit == bytes, 'the size of the memory of another rank')
    call c_f_pointer(where, others, [mod(here + 1, many) + 1])
    call see(all(others == 10 * mod(here + 1, many)), 'the memory of another rank')
    call MPI_Win_fence(0, window, ierror)
    call MPI_Win_free(window, ierror)
    call MPI_Comm_free(node, ierror)
  end subroutine shared

#if METHOD == 77
  subroutine allocate_shared(node, here, where, window)
    integer, intent(in) :: node, here
    integer(address), intent(out) :: where
    integer, intent(out) :: window
    call MPI_Win_allocate_shared((here + 1) * bytes, int(bytes), MPI_INFO_NULL, node, where, window, ierror)
  end subroutine allocate_shared

  subroutine query_shared(window, of, length, unit, where)
    integer, intent(in) :: window, of
    integer(address), intent(out) :: length
    integer, intent(out) :: unit
    type(c_ptr), intent(out) :: where
    integer(address) :: number
    call MPI_Win_shared_query(window, of, length, unit, number, ierror)
    where = transfer(number, where)
  end subroutine query_shared
#endif

  ! Displacements are addresses of the target there.
  subroutine attached_later
    integer, asynchronous :: table(5), put, got
    integer(address) :: here, there
    WIN_T :: window
    table = rank
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, window, ierror)
    call MPI_Win_attach(window, table, 5 * bytes, ierror)
    call MPI_Get_address(table(2), here, ierror)
    there = 0
    call MPI_Sendrecv(here, 1, MPI_AINT, mod(rank + size - 1, size), 1, there, 1, MPI_AINT, next, 1, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, ierror)
    call MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window, ierror)
    put = rank + 50
    call MPI_Put(put, 1, MPI_INTEGER, next, MPI_Aint_add(there, bytes), 1, MPI_INTEGER, window, ierror)
    call MPI_Win_flush(next, window, ierror)
    call MPI_Get(got, 1, MPI_INTEGER, next, there, 1, MPI_INTEGER, window, ierror)
    call MPI_Win_unlock(next, window, ierror)
    call see(got == next, 'MPI_Get of memory that was attached')
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window, ierror)
    call MPI_F_sync_reg(table)
    call see(table(3) == mod(rank + size - 1, size) + 50, 'MPI_Put into memory that was attached')
    call MPI_Win_unlock(rank, window, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Win_detach(window, table, ierror)
    call see(ierror == MPI_SUCCESS, 'MPI_Win_detach')
    call MPI_Win_free(window, ierror)
  end subroutine attached_later

  subroutine epochs
    integer, asynchronous :: table(3), put(2)
    GROUP_T :: all, from, to
    WIN_T :: window
    logical :: flag
    integer :: before
    before = mod(rank + size - 1, size)
    table = -1
    call MPI_Win_create(table, 3 * bytes, int(bytes), MPI_INFO_NULL, MPI_COMM_WORLD, window, ierror)
    call MPI_Win_get_group(window, all, ierror)
    call MPI_Group_incl(all, 1, [before], from, ierror)
    call MPI_Group_incl(all, 1, [next], to, ierror)
    call MPI_Win_post(from, 0, window, ierror)
    call MPI_Win_start(to, 0, window, ierror)
    put = rank + 1
    call MPI_Accumulate(put, 2, MPI_INTEGER, next, 1_address, 2, MPI_INTEGER, MPI_REPLACE, window, ierror)
    call MPI_Win_complete(window, ierror)
    flag = .false.
    do while (.not. flag)
      call MPI_Win_test(window, flag, ierror)
    end do
    call MPI_F_sync_reg(table)
    call see(all_equal(table, [-1, before + 1, before + 1]), 'MPI_Win_post and MPI_Win_test')
    call MPI_Group_free(all, ierror)
    call MPI_Group_free(from, ierror)
    call MPI_Group_free(to, ierror)
    call see(to == MPI_GROUP_NULL, 'the handle of a freed group')
    call MPI_Win_free(window, ierror)
  end subroutine epochs

  logical function all_equal(a, b)
    integer, intent(in) :: a(:), b(:)
    all_equal = all(a == b)
  end function all_equal
end program windows
