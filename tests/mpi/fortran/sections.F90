! Random sections against a naive copy: every way that a section can reach MPI, with the elements that must not change.
!   sections SEED
module sections
  use mpi_f08
  implicit none
  integer, parameter :: n1 = 7, n2 = 6, n3 = 5
  integer, parameter :: untouched = -77
  integer :: rank, size, wrong = 0
contains
  integer function uniform(low, high)
    integer, intent(in) :: low, high
    real :: x
    call random_number(x)
    uniform = low + int(x * (high - low + 1))
    uniform = min(uniform, high)
  end function uniform

  ! A triplet within 1..n, forward or backward.
  subroutine triplet(n, first, last, step)
    integer, intent(in) :: n
    integer, intent(out) :: first, last, step
    step = uniform(1, 3)
    first = uniform(1, n)
    last = uniform(first, n)
    if (uniform(0, 1) == 1) then
      step = -step
      call swap(first, last)
    end if
  end subroutine triplet

  subroutine swap(a, b)
    integer, intent(inout) :: a, b
    integer :: c
    c = a
    a = b
    b = c
  end subroutine swap

  subroutine see(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    wrong = wrong + 1
    if (wrong < 20) print '(a, i0, 2a)', 'rank ', rank, ': ', what
  end subroutine see

  ! Sends a prefix of one section into a prefix of another, in each way of completing.
  subroutine exchange(from, into, how)
    integer, intent(in) :: from(:, :, :), how
    integer, intent(inout), asynchronous :: into(:, :, :)
    integer, allocatable :: sent(:)
    integer :: count, room, received, shape_of_into(3)
    type(MPI_Request) :: send, recv
    type(MPI_Status) :: status
    integer, allocatable :: before(:), after(:)
    sent = reshape(from, [product(shape(from))])
    room = product(shape(into))
    count = uniform(0, min(product(shape(from)), room))
    shape_of_into = shape(into)
    before = reshape(into, [room])
    select case (how)
    case (0)
      call MPI_Sendrecv(from, count, MPI_INTEGER, rank, 1, into, room, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, status)
    case (1)
      call MPI_Irecv(into, room, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, recv)
      call MPI_Isend(from, count, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, send)
      call MPI_Wait(recv, status)
      call MPI_Wait(send, MPI_STATUS_IGNORE)
    case (2)
      call MPI_Recv_init(into, room, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, recv)
      call MPI_Send_init(from, int(count, MPI_COUNT_KIND), MPI_INTEGER, rank, 1, MPI_COMM_WORLD, send)
      call MPI_Start(recv)
      call MPI_Start(send)
      call MPI_Wait(recv, status)
      call MPI_Wait(send, MPI_STATUS_IGNORE)
      call MPI_Request_free(recv)
      call MPI_Request_free(send)
    end select
    call MPI_Get_count(status, MPI_INTEGER, received)
    call see(received == count, 'the count of what was received')
    after = reshape(into, [room])
    call see(all(after(:count) == sent(:count)), 'elements that were sent')
    call see(all(after(count + 1:) == before(count + 1:)), 'elements behind those that were sent')
    call see(all(shape(into) == shape_of_into) .and. lbound(into, 1) == 1, 'bounds of the section')
  end subroutine exchange

  ! The same with a derived datatype over the section: two of three elements, so that a copy has to be made.
  subroutine derived(from, into, how)
    integer, intent(in) :: from(:, :, :), how
    integer, intent(inout), asynchronous :: into(:, :, :)
    integer, allocatable :: sent(:), before(:), after(:)
    integer :: count, i
    type(MPI_Datatype) :: pair, spaced
    type(MPI_Request) :: recv
    call MPI_Type_contiguous(2, MPI_INTEGER, pair)
    call MPI_Type_create_resized(pair, 0_MPI_ADDRESS_KIND, 3_MPI_ADDRESS_KIND * storage_size(how) / 8, spaced)
    call MPI_Type_commit(spaced)
    sent = reshape(from, [product(shape(from))])
    before = reshape(into, [product(shape(into))])
    count = min(ubound(sent, 1), ubound(before, 1)) / 3
    if (how == 0) then
      call MPI_Sendrecv(from, count, spaced, rank, 1, into, count, spaced, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    else
      call MPI_Irecv(into, count, spaced, rank, 1, MPI_COMM_WORLD, recv)
      call MPI_Send(from, count, spaced, rank, 1, MPI_COMM_WORLD)
      call MPI_Wait(recv, MPI_STATUS_IGNORE)
    end if
    after = reshape(into, [product(shape(into))])
    do i = 0, count - 1
      call see(all(after(3 * i + 1:3 * i + 2) == sent(3 * i + 1:3 * i + 2)), 'elements of a derived datatype')
      call see(after(3 * i + 3) == before(3 * i + 3), 'gaps of a derived datatype')
    end do
    call see(all(after(3 * count + 1:) == before(3 * count + 1:)), 'elements behind a derived datatype')
    call MPI_Type_free(pair)
    call MPI_Type_free(spaced)
  end subroutine derived

  ! Operands of two layouts, blocking, nonblocking and persistent.
  subroutine reduce(from, into, how)
    integer, intent(in) :: from(:, :, :), how
    integer, intent(inout), asynchronous :: into(:, :, :)
    integer, allocatable :: mine(:), before(:), after(:), expected(:)
    integer :: count
    type(MPI_Request) :: request
    mine = reshape(from, [product(shape(from))])
    before = reshape(into, [product(shape(into))])
    count = min(ubound(mine, 1), ubound(before, 1))
    call MPI_Allreduce(MPI_IN_PLACE, count, 1, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD)
    allocate(expected(count))
    call MPI_Allreduce(mine, expected, count, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    select case (how)
    case (0)
      call MPI_Allreduce(from, into, count, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    case (1)
      call MPI_Iallreduce(from, into, count, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
    case (2)
      call MPI_Allreduce_init(from, into, count, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request)
      call MPI_Start(request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call MPI_Request_free(request)
    end select
    after = reshape(into, [product(shape(into))])
    call see(all(after(:count) == expected), 'a reduction')
    call see(all(after(count + 1:) == before(count + 1:)), 'elements behind a reduction')
  end subroutine reduce

  ! Blocks of collectives: one column, a part of one, or several for each rank.
  subroutine blocks(how)
    integer, intent(in) :: how
    integer, allocatable :: all_of(:, :), mine(:, :), flat(:), expected(:)
    integer :: rows, columns, each, i
    type(MPI_Request) :: request
    rows = 2 + mod(how, 3)
    columns = size * (1 + how / 3)
    allocate(all_of(2 * rows, 2 * columns), mine(2 * rows, 2 * columns))
    all_of = untouched
    mine = untouched
    each = rows * columns / size
    if (how == 1) each = each - 1
    flat = [(1000 * rank + how + 10 * i, i = 1, rows * columns)]
    mine(1:2 * rows:2, 2:2 * columns:2) = reshape(flat, [rows, columns])
    flat = reshape(mine(1:2 * rows:2, 2:2 * columns:2), [rows * columns])
    allocate(expected(each * size))
    call MPI_Alltoall(flat, each, MPI_INTEGER, expected, each, MPI_INTEGER, MPI_COMM_WORLD)
    if (how == 2) then
      call MPI_Ialltoall(mine(1:2 * rows:2, 2:2 * columns:2), each, MPI_INTEGER, all_of(2:2 * rows:2, 1:2 * columns:2), each, &
                         MPI_INTEGER, MPI_COMM_WORLD, request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
    else
      call MPI_Alltoall(mine(1:2 * rows:2, 2:2 * columns:2), each, MPI_INTEGER, all_of(2:2 * rows:2, 1:2 * columns:2), each, &
                        MPI_INTEGER, MPI_COMM_WORLD)
    end if
    flat = reshape(all_of(2:2 * rows:2, 1:2 * columns:2), [rows * columns])
    call see(all(flat(:each * size) == expected), 'blocks of MPI_Alltoall')
    call see(all(flat(each * size + 1:) == untouched), 'elements behind the blocks of MPI_Alltoall')
    all_of(2:2 * rows:2, 1:2 * columns:2) = untouched
    call see(all(all_of == untouched), 'elements between the blocks of MPI_Alltoall')
  end subroutine blocks
end module sections

program random_sections
  use sections
  implicit none
  integer :: a(n1, n2, n3), b(n1, n2, n3)
  integer :: f(3), l(3), s(3), g(3), m(3), t(3), turn, i, seed_size, turns
  integer, allocatable :: seed(:)
  character(len=16) :: word
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  turns = 300
  call random_seed(size=seed_size)
  allocate(seed(seed_size), source=4711)
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) seed(1)
  end if
  call random_seed(put=seed)
  do turn = 1, turns
    a = reshape([(turn + 1000 * rank + i, i = 1, n1 * n2 * n3)], [n1, n2, n3])
    b = untouched
    do i = 1, 3
      call triplet(ubound(a, i), f(i), l(i), s(i))
      call triplet(ubound(a, i), g(i), m(i), t(i))
    end do
    call one(a(f(1):l(1):s(1), f(2):l(2):s(2), f(3):l(3):s(3)), b(g(1):m(1):t(1), g(2):m(2):t(2), g(3):m(3):t(3)), mod(turn, 9))
    b(g(1):m(1):t(1), g(2):m(2):t(2), g(3):m(3):t(3)) = untouched
    call see(all(b == untouched), 'elements between those of a section')
  end do
  do turn = 0, 5
    call blocks(turn)
  end do
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0 .and. wrong > 0) print '(i0, a, i0)', wrong, ' mistakes, seed ', seed(1)
  call MPI_Finalize()
  if (wrong /= 0) error stop
contains
  subroutine one(from, into, how)
    integer, intent(in) :: from(:, :, :), how
    integer, intent(inout), asynchronous :: into(:, :, :)
    select case (how)
    case (0:2)
      call exchange(from, into, how)
    case (3:5)
      call reduce(from, into, how - 3)
    case default
      call derived(from, into, min(how - 6, 1))
    end select
  end subroutine one
end program random_sections
