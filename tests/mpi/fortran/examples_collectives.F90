! What the standard's examples of collectives in Fortran show; programs of our own.
#include "method.fh"

! A reduction of the user: the larger number with its place, and at equal numbers the smaller place.
#if METHOD == 8
subroutine larger(invec, inoutvec, len, datatype)
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  type(c_ptr), value :: invec, inoutvec
  integer :: len
  type(MPI_Datatype) :: datatype
  double precision, pointer :: in(:, :), inout(:, :)
  integer :: i
  if (datatype == MPI_DATATYPE_NULL) return
  call c_f_pointer(invec, in, [2, len])
  call c_f_pointer(inoutvec, inout, [2, len])
#else
subroutine larger(in, inout, len, datatype)
  implicit none
  integer :: len, datatype
  double precision :: in(2, len), inout(2, len)
  integer :: i
  if (datatype == 0) return
#endif
  do i = 1, len
    if (in(1, i) > inout(1, i) .or. (in(1, i) == inout(1, i) .and. in(2, i) < inout(2, i))) inout(:, i) = in(:, i)
  end do
end subroutine larger

program examples_collectives
  USE_MPI
  implicit none
  INCLUDE_MPI
#if METHOD == 8
  procedure(MPI_User_function) :: larger
#else
  external :: larger
#endif
  integer :: rank, size, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call dot_product_of_parts
  call vector_times_matrix
  call place_of_the_largest
  call own_operation
  call logicals
  call blocks_of_different_lengths
  call in_place
  call overlapping_nonblocking
  call order_on_a_copy
  call barrier_and_messages
  call pairs_in_a_ring
  call grid_that_is_skewed
  call MPI_Finalize(ierror)
contains
  subroutine wrong(what)
    character(*), intent(in) :: what
    print '(a,i0,2a)', 'rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine wrong

  subroutine dot_product_of_parts
    real :: a(4), b(4), part, whole
    a = rank + 1
    b = 2.0
    part = sum(a * b)
    whole = -1.0
    call MPI_Reduce(part, whole, 1, MPI_REAL, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
    if (rank == 0 .and. whole /= 4.0 * size * (size + 1)) call wrong('a dot product')
    if (rank /= 0 .and. whole /= -1.0) call wrong('a result away from the root')
  end subroutine dot_product_of_parts

  subroutine vector_times_matrix
    real :: a(3), b(3, 5), parts(5), c(5)
    integer :: j
    a = 1.0
    do j = 1, 5
      b(:, j) = j + rank
    end do
    do j = 1, 5
      parts(j) = sum(a * b(:, j))
    end do
    call MPI_Allreduce(parts, c, 5, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierror)
    do j = 1, 5
      if (c(j) /= 3.0 * (j * size + size * (size - 1) / 2)) call wrong('a vector times a matrix')
    end do
  end subroutine vector_times_matrix

  subroutine place_of_the_largest
    double precision :: in(2, 30), out(2, 30)
    integer :: i
    do i = 1, 30
      in(1, i) = mod(i + rank, size)
      in(2, i) = rank
    end do
    call MPI_Allreduce(in, out, 30, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD, ierror)
    do i = 1, 30
      if (out(1, i) /= size - 1 .or. mod(i + int(out(2, i)), size) /= size - 1) call wrong('MPI_MAXLOC')
    end do
  end subroutine place_of_the_largest

  subroutine own_operation
    double precision :: in(2, 7), out(2, 7)
    DATATYPE_T :: pair
    OP_T :: op
    logical :: commutes
    in(1, :) = 5
    in(2, :) = rank
    call MPI_Type_contiguous(2, MPI_DOUBLE_PRECISION, pair, ierror)
    call MPI_Type_commit(pair, ierror)
    call MPI_Op_create(larger, .true., op, ierror)
    call MPI_Op_commutative(op, commutes, ierror)
    if (.not. commutes) call wrong('MPI_Op_commutative')
    call MPI_Allreduce(in, out, 7, pair, op, MPI_COMM_WORLD, ierror)
    if (any(out(1, :) /= 5) .or. any(out(2, :) /= 0)) call wrong('a reduction of the user')
    call MPI_Op_free(op, ierror)
    if (op /= MPI_OP_NULL) call wrong('the handle of a freed operation')
    call MPI_Type_free(pair, ierror)
  end subroutine own_operation

  subroutine logicals
    logical :: mine(3), all(3), any_one(3), odd(3)
    mine = [.true., rank == 0, .false.]
    call MPI_Allreduce(mine, all, 3, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierror)
    call MPI_Allreduce(mine, any_one, 3, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierror)
    call MPI_Allreduce(mine, odd, 3, MPI_LOGICAL, MPI_LXOR, MPI_COMM_WORLD, ierror)
    if (.not. all(1) .or. (all(2) .neqv. size == 1) .or. all(3)) call wrong('MPI_LAND')
    if (.not. any_one(1) .or. .not. any_one(2) .or. any_one(3)) call wrong('MPI_LOR')
    if ((odd(1) .neqv. mod(size, 2) == 1) .or. .not. odd(2) .or. odd(3)) call wrong('MPI_LXOR')
  end subroutine logicals

  subroutine blocks_of_different_lengths
    integer :: counts(size), starts(size), mine(rank + 1), all(size * (size + 1) / 2), i, at
    counts = [(i, i = 1, size)]
    starts = [(i * (i - 1) / 2, i = 1, size)]
    mine = rank
    all = -1
    call MPI_Allgatherv(mine, rank + 1, MPI_INTEGER, all, counts, starts, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    at = 0
    do i = 1, size
      if (any(all(at + 1:at + i) /= i - 1)) call wrong('MPI_Allgatherv')
      at = at + i
    end do
  end subroutine blocks_of_different_lengths

  subroutine in_place
    integer :: a(2), all(size), i
    a = [rank, 1]
    call MPI_Allreduce(MPI_IN_PLACE, a, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    if (a(1) /= size * (size - 1) / 2 .or. a(2) /= size) call wrong('MPI_IN_PLACE of MPI_Allreduce')
    all = -1
    all(rank + 1) = rank
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    if (any(all /= [(i, i = 0, size - 1)])) call wrong('MPI_IN_PLACE of MPI_Allgather')
  end subroutine in_place

  ! Three broadcasts and a barrier at once, beside a point-to-point message; waited for in another order.
  subroutine overlapping_nonblocking
    integer, asynchronous :: a(3)
    integer :: i
    REQUEST_T :: requests(4)
    a = -1
    if (rank == 0) a = [1, 2, 3]
    do i = 1, 3
      call MPI_Ibcast(a(i), 1, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(i), ierror)
    end do
    call MPI_Ibarrier(MPI_COMM_WORLD, requests(4), ierror)
    call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierror)
    if (a(2) /= 2) call wrong('the second broadcast')
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
    if (any(a /= [1, 2, 3])) call wrong('three broadcasts')
  end subroutine overlapping_nonblocking

  ! On one communicator all start collectives in one order; on a copy of it the order is free.
  subroutine order_on_a_copy
    integer :: a
    COMM_T :: copy
    REQUEST_T :: request
    call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierror)
    a = merge(5, -1, rank == 0)
    if (rank == 0) call MPI_Ibarrier(copy, request, ierror)
    call MPI_Bcast(a, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    if (rank /= 0) call MPI_Ibarrier(copy, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    if (a /= 5) call wrong('a broadcast beside a barrier')
    call MPI_Comm_free(copy, ierror)
  end subroutine order_on_a_copy

  ! A barrier goes on while its rank waits for a message; and is waited for together with one.
  subroutine barrier_and_messages
    integer, asynchronous :: got
    REQUEST_T :: requests(2)
    if (size == 1) return
    call MPI_Ibarrier(MPI_COMM_WORLD, requests(1), ierror)
    if (rank == 0) then
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
      call MPI_Send(8, 1, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, ierror)
    else
      if (rank == 1) call MPI_Recv(got, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
    end if
    got = -1
    if (rank == 0) then
      call MPI_Irecv(got, 1, MPI_INTEGER, 1, 2, MPI_COMM_WORLD, requests(2), ierror)
      call MPI_Ibarrier(MPI_COMM_WORLD, requests(1), ierror)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
      if (got /= 9) call wrong('a message and a barrier that are waited for together')
    else
      if (rank == 1) call MPI_Ssend(9, 1, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, ierror)
      call MPI_Ibarrier(MPI_COMM_WORLD, requests(1), ierror)
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
    end if
  end subroutine barrier_and_messages

  ! Communicators of 0 and 1, 1 and 2, 2 and 0: what blocking calls would wait for in a ring, nonblocking ones do.
  subroutine pairs_in_a_ring
    integer, asynchronous :: sums(2)
    integer :: i, many
    COMM_T :: pairs(2), made
    REQUEST_T :: requests(2)
    if (size < 3) return
    many = 0
    do i = 0, 2
      call MPI_Comm_split(MPI_COMM_WORLD, merge(1, MPI_UNDEFINED, rank == i .or. rank == mod(i + 1, 3)), 0, made, ierror)
      if (made == MPI_COMM_NULL) cycle
      many = many + 1
      pairs(many) = made
    end do
    if (many == 0) return
    if (rank == 0) pairs = pairs(2:1:-1)
    do i = 1, 2
      call MPI_Iallreduce(rank, sums(i), 1, MPI_INTEGER, MPI_SUM, pairs(i), requests(i), ierror)
    end do
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    if (sum(sums) /= 3 + rank) call wrong('reductions in a ring of pairs')
    do i = 1, 2
      call MPI_Comm_free(pairs(i), ierror)
    end do
  end subroutine pairs_in_a_ring

  ! A periodic grid whose columns are shifted by their number.
  subroutine grid_that_is_skewed
    integer :: dims(2), coords(2), from, to, moved
    logical :: periods(2), around(2)
    integer :: shape(2), here(2)
    COMM_T :: grid
    dims = 0
    call MPI_Dims_create(size, 2, dims, ierror)
    periods = .true.
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., grid, ierror)
    call MPI_Cart_coords(grid, rank, 2, coords, ierror)
    call MPI_Cart_get(grid, 2, shape, around, here, ierror)
    if (any(shape /= dims) .or. .not. all(around) .or. any(here /= coords)) call wrong('MPI_Cart_get')
    call MPI_Cart_shift(grid, 0, coords(2), from, to, ierror)
    moved = rank
    call MPI_Sendrecv_replace(moved, 1, MPI_INTEGER, to, 1, from, 1, grid, MPI_STATUS_IGNORE, ierror)
    if (moved /= from) call wrong('a skewed grid')
    call MPI_Comm_free(grid, ierror)
  end subroutine grid_that_is_skewed
end program examples_collectives
