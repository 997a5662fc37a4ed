! Sections with gaps in calls of each kind, beside the same calls with contiguous copies. What lies between the elements of a
! section stays. What sections cannot do is refused with a sentence.
module section_calls
  use mpi_f08
  implicit none
  integer, parameter :: rows = 4, gap = -77
  integer :: rank, size, wrong = 0, handled = 0
contains
  subroutine see(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    wrong = wrong + 1
    print '(a,i0,2a)', 'rank ', rank, ': ', what
  end subroutine see

  ! Elements that are there and no others: `strided` is gap where `dense` has nothing.
  subroutine compare(strided, dense, what)
    integer, intent(in) :: strided(:, :), dense(:, :)
    character(*), intent(in) :: what
    integer :: expected(ubound(strided, 1), ubound(strided, 2))
    expected = gap
    expected(1::2, 1::2) = dense
    call see(all(strided == expected), what)
  end subroutine compare

  ! A table of `columns` columns of its own, and the section that has the same elements.
  subroutine fill(columns, dense, strided, add)
    integer, intent(in) :: columns
    integer, intent(in), optional :: add
    integer, allocatable, intent(out) :: dense(:, :), strided(:, :)
    integer :: i
    allocate (dense(rows, columns), strided(2 * rows, 2 * columns))
    dense = reshape([(1000 * rank + i, i = 1, rows * columns)], [rows, columns])
    if (present(add)) dense = dense + add
    strided = gap
    strided(1::2, 1::2) = dense
  end subroutine fill

  subroutine point_to_point()
    integer, allocatable :: a(:, :), s(:, :), b(:, :), r(:, :)
    integer :: next, before, position
    integer(MPI_ADDRESS_KIND) :: room(100)
    character :: packed(400)
    type(MPI_Request) :: requests(2)
    type(MPI_Message) :: message
    next = mod(rank + 1, size)
    before = mod(rank + size - 1, size)
    call fill(3, a, s)
    call fill(3, b, r)
    call MPI_Sendrecv_replace(b, 12, MPI_INTEGER, next, 0, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv_replace(r(1::2, 1::2), 12, MPI_INTEGER, next, 0, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call compare(r, b, 'MPI_Sendrecv_replace')
    call MPI_Buffer_attach(room, storage_size(room) / 8 * 100)
    call MPI_Bsend(s(1::2, 1::2), 12, MPI_INTEGER, next, 0, MPI_COMM_WORLD)
    r(1::2, 1::2) = 0
    call MPI_Mprobe(before, 0, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE)
    call MPI_Mrecv(r(1::2, 1::2), 12, MPI_INTEGER, message, MPI_STATUS_IGNORE)
    call compare(r, b, 'MPI_Bsend and MPI_Mrecv')
    call MPI_Buffer_detach_all()
    position = 0
    call MPI_Pack(s(1::2, 1::2), 12, MPI_INTEGER, packed, 400, position, MPI_COMM_WORLD)
    position = 0
    r(1::2, 1::2) = 0
    call MPI_Unpack(packed, 400, position, r(1::2, 1::2), 12, MPI_INTEGER, MPI_COMM_WORLD)
    call compare(r, a, 'MPI_Pack and MPI_Unpack')
    r(1::2, 1::2) = 0
    call MPI_Precv_init(r(1::2, 1::2), 3, 4_MPI_COUNT_KIND, MPI_INTEGER, before, 1, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
    call MPI_Psend_init(s(1::2, 1::2), 3, 4_MPI_COUNT_KIND, MPI_INTEGER, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2))
    call MPI_Startall(2, requests)
    call MPI_Pready_range(0, 2, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call compare(r, b, 'MPI_Psend_init')
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
  contains
    subroutine MPI_Buffer_detach_all()
      use, intrinsic :: iso_c_binding, only: c_ptr
      type(c_ptr) :: where
      integer :: bytes
      call MPI_Buffer_detach(where, bytes)
    end subroutine MPI_Buffer_detach_all
  end subroutine point_to_point

  ! Each rank has a column for each other one.
  subroutine collectives()
    integer, allocatable :: a(:, :), s(:, :), b(:, :), r(:, :), c(:, :), t(:, :)
    integer :: counts(size), displs(size), i
    type(MPI_Request) :: request
    type(MPI_Datatype) :: types(size)
    counts = rows - 1
    displs = [(rows * (size - i), i = 1, size)]
    call fill(size, a, s)
    call fill(size, b, r)
    call MPI_Bcast(b, rows * size, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call MPI_Bcast(r(1::2, 1::2), rows * size, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call compare(r, b, 'MPI_Bcast')
    call fill(1, c, t)
    call MPI_Gather(c, rows, MPI_INTEGER, b, rows, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call MPI_Gather(t(1::2, 1), rows, MPI_INTEGER, r(1::2, 1::2), rows, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call compare(r, b, 'MPI_Gather')
    call MPI_Allgather(c, rows, MPI_INTEGER, b, rows, MPI_INTEGER, MPI_COMM_WORLD)
    call MPI_Allgather(t(1::2, 1), rows, MPI_INTEGER, r(1::2, 1::2), rows, MPI_INTEGER, MPI_COMM_WORLD)
    call compare(r, b, 'MPI_Allgather')
    call MPI_Scatter(a, rows, MPI_INTEGER, c, rows, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call MPI_Scatter(s(1::2, 1::2), rows, MPI_INTEGER, t(1::2, 1), rows, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call compare(t, c, 'MPI_Scatter')
    call MPI_Gatherv(c, rows - 1, MPI_INTEGER, b, counts, displs, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call MPI_Igatherv(t(1::2, 1), rows - 1, MPI_INTEGER, r(1::2, 1::2), counts, displs, MPI_INTEGER, 0, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call compare(r, b, 'MPI_Igatherv')
    call MPI_Alltoallv(a, counts, displs, MPI_INTEGER, b, counts, displs, MPI_INTEGER, MPI_COMM_WORLD)
    call MPI_Alltoallv(s(1::2, 1::2), counts, displs, MPI_INTEGER, r(1::2, 1::2), counts, displs, MPI_INTEGER, MPI_COMM_WORLD)
    call compare(r, b, 'MPI_Alltoallv')
    types = MPI_INTEGER
    displs = displs * storage_size(i) / 8
    call MPI_Alltoallw(a, counts, displs, types, b, counts, displs, types, MPI_COMM_WORLD)
    call MPI_Alltoallw_init(s(1::2, 1::2), counts, displs, types, r(1::2, 1::2), counts, displs, types, MPI_COMM_WORLD, &
                            MPI_INFO_NULL, request)
    do i = 1, 2
      call MPI_Start(request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call compare(r, b, 'MPI_Alltoallw_init')
      s(1::2, 1::2) = s(1::2, 1::2) + 1
      a = a + 1
      if (i == 1) call MPI_Alltoallw(a, counts, displs, types, b, counts, displs, types, MPI_COMM_WORLD)
    end do
    call MPI_Request_free(request)
  end subroutine collectives

  subroutine reductions()
    integer, allocatable :: a(:, :), s(:, :), b(:, :), r(:, :), c(:, :), t(:, :)
    integer :: counts(size)
    type(MPI_Request) :: request
    call fill(size, a, s)
    call fill(size, b, r)
    call fill(1, c, t)
    call MPI_Allreduce(MPI_IN_PLACE, b, rows * size, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Allreduce(MPI_IN_PLACE, r(1::2, 1::2), rows * size, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call compare(r, b, 'MPI_Allreduce in place')
    call MPI_Scan(a, b, rows * size, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call MPI_Iscan(s(1::2, 1::2), r(1::2, 1::2), rows * size, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call compare(r, b, 'MPI_Iscan')
    call MPI_Reduce(a, b, rows * size, MPI_INTEGER, MPI_SUM, size - 1, MPI_COMM_WORLD)
    call MPI_Reduce(s(1::2, 1::2), r(1::2, 1::2), rows * size, MPI_INTEGER, MPI_SUM, size - 1, MPI_COMM_WORLD)
    call compare(r, b, 'MPI_Reduce')
    call MPI_Reduce_scatter_block(a, c, rows, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Reduce_scatter_block(s(1::2, 1::2), t(1::2, 1), rows, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call compare(t, c, 'MPI_Reduce_scatter_block')
    counts = rows
    call MPI_Reduce_scatter(a, c, counts, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD)
    call MPI_Ireduce_scatter(s(1::2, 1::2), t(1::2, 1), counts, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call compare(t, c, 'MPI_Ireduce_scatter')
    call MPI_Reduce_local(a, b, rows * size, MPI_INTEGER, MPI_SUM)
    call MPI_Reduce_local(s(1::2, 1::2), r(1::2, 1::2), rows * size, MPI_INTEGER, MPI_SUM)
    call compare(r, b, 'MPI_Reduce_local')
  end subroutine reductions

  subroutine neighbours()
    integer, allocatable :: a(:, :), s(:, :), b(:, :), r(:, :)
    type(MPI_Comm) :: ring
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.true.], .false., ring)
    call fill(2, a, s)
    call fill(2, b, r)
    call MPI_Neighbor_alltoall(a, rows, MPI_INTEGER, b, rows, MPI_INTEGER, ring)
    call MPI_Neighbor_alltoall(s(1::2, 1::2), rows, MPI_INTEGER, r(1::2, 1::2), rows, MPI_INTEGER, ring)
    call compare(r, b, 'MPI_Neighbor_alltoall')
    call MPI_Neighbor_allgather(a, rows, MPI_INTEGER, b, rows, MPI_INTEGER, ring)
    call MPI_Neighbor_allgather(s(1::2, 1), rows, MPI_INTEGER, r(1::2, 1::2), rows, MPI_INTEGER, ring)
    call compare(r, b, 'MPI_Neighbor_allgather')
    call MPI_Comm_free(ring)
  end subroutine neighbours

  subroutine one_sided()
    integer, allocatable :: a(:, :), s(:, :), b(:, :), r(:, :)
    integer, asynchronous :: memory(rows * 3)
    type(MPI_Win) :: window
    memory = 0
    call fill(3, a, s)
    call fill(3, b, r)
    call MPI_Win_create(memory, rows * 3 * int(storage_size(rank) / 8, MPI_ADDRESS_KIND), storage_size(rank) / 8, MPI_INFO_NULL, &
                        MPI_COMM_SELF, window)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window)
    call MPI_Put(s(1::2, 1::2), rows * 3, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, rows * 3, MPI_INTEGER, window)
    call MPI_Win_flush(0, window)
    call MPI_Accumulate(s(1::2, 1::2), rows * 3, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, rows * 3, MPI_INTEGER, MPI_SUM, window)
    call MPI_Win_flush(0, window)
    call MPI_Get(r(1::2, 1::2), rows * 3, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, rows * 3, MPI_INTEGER, window)
    call MPI_Win_unlock(0, window)
    call compare(r, 2 * a, 'MPI_Put, MPI_Accumulate and MPI_Get')
    call MPI_Win_free(window)
  end subroutine one_sided

  subroutine files()
    integer, allocatable :: a(:, :), s(:, :), b(:, :), r(:, :)
    integer(MPI_OFFSET_KIND) :: mine
    type(MPI_File) :: file
    type(MPI_Request) :: request
    call fill(3, a, s)
    call fill(3, b, r)
    call MPI_File_open(MPI_COMM_WORLD, 'section_calls.data', MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
                       MPI_INFO_NULL, file)
    mine = rank * rows * 3 * storage_size(rank) / 8
    call MPI_File_write_at_all_begin(file, mine, s(1::2, 1::2), rows * 3, MPI_INTEGER)
    call MPI_File_write_at_all_end(file, s(1::2, 1::2), MPI_STATUS_IGNORE)
    call MPI_File_read_at_all(file, mine, b, rows * 3, MPI_INTEGER, MPI_STATUS_IGNORE)
    call see(all(a == b), 'MPI_File_write_at_all_begin')
    r(1::2, 1::2) = 0
    call MPI_File_read_at_all_begin(file, mine, r(1::2, 1::2), rows * 3, MPI_INTEGER)
    call MPI_File_read_at_all_end(file, r(1::2, 1::2), MPI_STATUS_IGNORE)
    call compare(r, a, 'MPI_File_read_at_all_begin')
    r(1::2, 1::2) = 0
    call MPI_File_iread_at(file, mine, r(1::2, 1::2), rows * 3, MPI_INTEGER, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call compare(r, a, 'MPI_File_iread_at')
    call MPI_File_close(file)
  end subroutine files

  ! Transposed, of many dimensions, of strings, parts of strings, components.
  subroutine forms()
    type point
      sequence
      integer :: i
      real :: x
      integer :: j
    end type point
    integer :: table(3, 5), turned(5, 3), i
    integer, asynchronous :: many(2, 2, 2, 2, 2, 2, 2, 2, 4), few(128)
    character(5) :: names(10), others(10)
    character(2) :: parts(10)
    type(point) :: points(10)
    real :: x(10)
    type(MPI_Request) :: request
    table = reshape([(i, i = 1, 15)], [3, 5])
    call MPI_Sendrecv(transpose(table), 15, MPI_INTEGER, 0, 0, turned, 15, MPI_INTEGER, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call see(all(turned == transpose(table)), 'TRANSPOSE')
    many = gap
    few = [(i, i = 1, 128)]
    call MPI_Irecv(many(:, 2:1:-1, :, :, 1:1, :, :, :, 1:4:3), 128, MPI_INTEGER, 0, 0, MPI_COMM_SELF, request)
    call MPI_Send(few, 128, MPI_INTEGER, 0, 0, MPI_COMM_SELF)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call see(all(reshape(many(:, 2:1:-1, :, :, 1:1, :, :, :, 1:4:3), [128]) == few), 'nine dimensions')
    call see(all(many(:, :, :, :, 2, :, :, :, :) == gap) .and. all(many(:, :, :, :, :, :, :, :, 2:3) == gap), &
             'between elements of nine dimensions')
    names = [('name' // char(iachar('0') + i), i = 0, 9)]
    others = '-----'
    call MPI_Irecv(others(2:10:2), 25, MPI_CHARACTER, 0, 0, MPI_COMM_SELF, request)
    call MPI_Send(names(9:1:-2), 25, MPI_CHARACTER, 0, 0, MPI_COMM_SELF)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call see(all(others(2:10:2) == names(9:1:-2)) .and. all(others(1:9:2) == '-----'), 'strings')
    call MPI_Sendrecv(names(:)(4:5), 20, MPI_CHARACTER, 0, 0, parts, 20, MPI_CHARACTER, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call see(all(parts == names(:)(4:5)), 'parts of strings that are sent')
    call MPI_Sendrecv(parts, 19, MPI_CHARACTER, 0, 0, others(:)(1:2), 20, MPI_CHARACTER, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call see(all(others(1:9)(1:2) == parts(1:9)) .and. others(10)(1:2) == parts(10)(1:1) // 'a' .and. others(1)(3:) == '---', &
             'parts of strings that are received, the last one by half')
    points = [(point(i, -1.0, i), i = 1, 10)]
    x = [(0.5 * i, i = 1, 10)]
    call MPI_Sendrecv(x, 10, MPI_REAL, 0, 0, points%x, 10, MPI_REAL, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call see(all(points%x == x) .and. all(points%i == [(i, i = 1, 10)]) .and. all(points%j == points%i), 'components')
  end subroutine forms

  subroutine handler(comm, code)
    type(MPI_Comm) :: comm
    integer :: code
    if (comm == MPI_COMM_SELF) handled = handled + code / max(code, 1)
  end subroutine handler

  subroutine window_handler(window, code)
    type(MPI_Win) :: window
    integer :: code
    if (window /= MPI_WIN_NULL) handled = handled + code / max(code, 1)
  end subroutine window_handler

  ! The class of an error, its sentence, and the handler that was called.
  subroutine refused(code, sentence)
    integer, intent(in) :: code
    character(*), intent(in) :: sentence
    character(len=MPI_MAX_ERROR_STRING) :: text
    integer :: class, length
    call MPI_Error_class(code, class)
    call MPI_Error_string(code, text, length)
    call see(class == MPI_ERR_BUFFER .and. index(text, sentence) > 0 .and. handled == 1, sentence // ': ' // text(:length))
    handled = 0
  end subroutine refused

  ! The bytes of so many INTEGERs.
  function number(integers)
    integer, intent(in) :: integers
    character(:), allocatable :: number
    character(12) :: text
    write (text, '(i0)') integers * (storage_size(integers) / 8)
    number = trim(text)
  end function number

  subroutine refusals()
    integer, allocatable :: a(:, :), s(:, :)
    integer, asynchronous :: memory(100)
    type(MPI_Errhandler) :: of_comm, of_window
    type(MPI_Datatype) :: pair, spaced, early
    type(MPI_Win) :: window
    type(MPI_File) :: file
    integer :: code
    integer(MPI_ADDRESS_KIND) :: bytes
    bytes = storage_size(code) / 8
    memory = 5
    call fill(3, a, s)
    call MPI_Comm_create_errhandler(handler, of_comm)
    call MPI_Win_create_errhandler(window_handler, of_window)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, of_comm)
    call MPI_Type_contiguous(2, MPI_INTEGER, pair)
    call MPI_Type_create_resized(pair, 0_MPI_ADDRESS_KIND, 3 * bytes, spaced)
    call MPI_Type_commit(spaced)
    call MPI_Type_create_hindexed_block(1, 1, [-bytes], MPI_INTEGER, early)
    call MPI_Type_commit(early)
    call MPI_Send(s(1::2, 1::2), 13, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_SELF, code)
    call refused(code, 'MPI_Send: argument buf is a section of ' // &
                 number(12) // ' bytes, and its count and datatype ask for ' // number(13))
    call MPI_Allgather(a, 12, MPI_INTEGER, s(1:7:2, 1:3:2), 12, MPI_INTEGER, MPI_COMM_SELF, code)
    call refused(code, 'MPI_Allgather: argument recvbuf is a section of ' // &
                 number(8) // ' bytes, and its count and datatype ask for ' // number(12))
    call MPI_Allreduce(a, s(1:7:2, 1:3:2), 12, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, code)
    call refused(code, 'MPI_Allreduce: argument recvbuf is a section of ' // &
                 number(8) // ' bytes, and its count and datatype ask for ' // number(12))
    call MPI_Send(s(1::2, 1::2), 1, early, MPI_PROC_NULL, 0, MPI_COMM_SELF, code)
    call refused(code, 'MPI_Send: argument buf is a section with gaps, and its datatype has data before the address')
    call MPI_Win_create(s(1::2, 1::2), bytes, 1, MPI_INFO_NULL, MPI_COMM_SELF, window, code)
    call refused(code, 'MPI_Win_create: argument base is a section with gaps')
    call MPI_Comm_attach_buffer(MPI_COMM_SELF, s(1::2, 1::2), 48, code)
    call refused(code, 'MPI_Comm_attach_buffer: argument buffer is a section with gaps')
    call MPI_Win_create(memory, 100 * bytes, int(bytes), MPI_INFO_NULL, MPI_COMM_SELF, window)
    call MPI_Win_set_errhandler(window, of_window)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window)
    call MPI_Put(s(1::2, 1::2), 2, spaced, 0, 0_MPI_ADDRESS_KIND, 4, MPI_INTEGER, window, code)
    call refused(code, 'MPI_Put: argument origin_addr is a section with gaps, which this call cannot take with that datatype')
    call MPI_Put(s(1::2, 1::2), 13, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, 13, MPI_INTEGER, window, code)
    call refused(code, 'MPI_Put: argument origin_addr is a section of ' // number(12) // ' bytes')
    call MPI_Win_unlock(0, window)
    call MPI_Win_free(window)
    call MPI_File_open(MPI_COMM_SELF, 'section_calls.refused', MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
                       MPI_INFO_NULL, file)
    call MPI_File_read_at_all_begin(file, 0_MPI_OFFSET_KIND, s(1::2, 1::2), 2, spaced, code)
    call refused(code, 'MPI_File_read_at_all_begin: argument buf is a section with gaps')
    call MPI_File_close(file)
    call compare(s, a, 'a section after calls that were refused')
    call see(all(memory == 5), 'a window after calls that were refused')
  end subroutine refusals
end module section_calls

program test_section_calls
  use section_calls
  implicit none
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call point_to_point()
  call collectives()
  call reductions()
  call neighbours()
  call one_sided()
  call files()
  call forms()
  call refusals()
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
  if (wrong /= 0) error stop
end program test_section_calls
