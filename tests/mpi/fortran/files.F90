! Files in Fortran: views of arrays that are spread over the ranks, shared and individual pointers, collectives in two halves,
! what is asked about a file.
#include "method.fh"
program files
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, parameter :: offset = MPI_OFFSET_KIND
  integer :: rank, size, ierror, wrong = 0, bytes
  character(len=40) :: name
  FILE_T :: file
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  bytes = storage_size(rank) / 8
  call choose_name
  call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierror)
  call see(ierror == MPI_SUCCESS, 'MPI_File_open with blanks behind the name')
  call spread_over_ranks
  call slices
  call halves
  call shared_pointer
  call in_order
  call individual
  call nonblocking
  call questions
  call MPI_File_close(file, ierror)
  call see(file == MPI_FILE_NULL, 'the handle of a closed file')
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  if (rank == 0) call MPI_File_delete(name, MPI_INFO_NULL, ierror)
  call see(ierror == MPI_SUCCESS, 'MPI_File_delete')
  call not_there
  call MPI_Finalize(ierror)
  if (wrong /= 0) error stop
contains
#include "see.fh"

  subroutine choose_name
    integer(selected_int_kind(18)) :: clock ! of a finer clock: other runs of the test may begin in the same millisecond
    call system_clock(clock)
    write (name, '(a,i0)') 'ashlar-files-', clock
    call MPI_Bcast(name, len(name), MPI_CHARACTER, 0, MPI_COMM_WORLD, ierror)
  end subroutine choose_name

  ! An array of 7 x 6, in blocks of 2 x 1 that go round the ranks of a grid, in Fortran's order.
  subroutine spread_over_ranks
    integer, parameter :: rows = 7, columns = 6
    integer :: dims(2), gsizes(2), distribution(2), block(2), whole(rows, columns), i, j, many, row, column
    integer, allocatable :: mine(:)
    DATATYPE_T :: filetype
    STATUS_T(status)
    dims = 0
    call MPI_Dims_create(size, 2, dims, ierror)
    gsizes = [rows, columns]
    distribution = MPI_DISTRIBUTE_CYCLIC
    block = [2, MPI_DISTRIBUTE_DFLT_DARG]
    call MPI_Type_create_darray(size, rank, 2, gsizes, distribution, block, dims, MPI_ORDER_FORTRAN, MPI_INTEGER, filetype, ierror)
    call see(ierror == MPI_SUCCESS, 'MPI_Type_create_darray')
    call MPI_Type_commit(filetype, ierror)
    allocate (mine(rows * columns))
    many = 0
    row = rank / dims(2) ! ranks of the grid are in C's order, whatever the order of the array
    column = mod(rank, dims(2))
    do j = 1, columns
      do i = 1, rows
        if (mod((i - 1) / 2, dims(1)) /= row .or. mod(j - 1, dims(2)) /= column) cycle
        many = many + 1
        mine(many) = 100 * i + j
      end do
    end do
    call MPI_File_set_view(file, 0_offset, MPI_INTEGER, filetype, 'native', MPI_INFO_NULL, ierror)
    call MPI_File_write_all(file, mine, many, MPI_INTEGER, status, ierror)
    call MPI_Get_count(status, MPI_INTEGER, i, ierror)
    call see(i == many, 'the count of MPI_File_write_all')
    call MPI_File_set_view(file, 0_offset, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierror)
    whole = -1
    call MPI_File_read_at_all(file, 0_offset, whole, rows * columns, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call see(all(whole == reshape([((100 * i + j, i = 1, rows), j = 1, columns)], [rows, columns])), 'an array that was spread')
    call MPI_Type_free(filetype, ierror)
  end subroutine spread_over_ranks

  ! Each rank has a column of an array of 3 rows.
  subroutine slices
    integer :: mine(3), whole(3, size), i
    DATATYPE_T :: filetype
    call MPI_Type_create_subarray(2, [3, size], [3, 1], [0, rank], MPI_ORDER_FORTRAN, MPI_INTEGER, filetype, ierror)
    call MPI_Type_commit(filetype, ierror)
    call MPI_File_set_view(file, 0_offset, MPI_INTEGER, filetype, 'native', MPI_INFO_NULL, ierror)
    mine = rank * 10 + [1, 2, 3]
    call MPI_File_write_all(file, mine, 3, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call MPI_File_set_view(file, 0_offset, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierror)
    call MPI_File_read_at_all(file, 0_offset, whole, 3 * size, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    do i = 1, size
      call see(all(whole(:, i) == (i - 1) * 10 + [1, 2, 3]), 'columns of MPI_Type_create_subarray')
    end do
    call MPI_Type_free(filetype, ierror)
  end subroutine slices

  subroutine halves
    integer, asynchronous :: out(2), in(2)
    integer :: count
    STATUS_T(status)
    call MPI_File_set_view(file, int(2 * bytes * rank, offset), MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierror)
    out = [rank, -rank]
    in = 7
    call MPI_File_write_all_begin(file, out, 2, MPI_INTEGER, ierror)
    call MPI_File_write_all_end(file, out, status, ierror)
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    call see(count == 2, 'the status of MPI_File_write_all_end')
    call MPI_File_seek(file, 0_offset, MPI_SEEK_SET, ierror)
    call MPI_File_read_all_begin(file, in, 2, MPI_INTEGER, ierror)
    call MPI_File_read_all_end(file, in, MPI_STATUS_IGNORE, ierror)
    call MPI_F_sync_reg(in)
    call see(all(in == out), 'MPI_File_read_all_begin')
    call MPI_File_set_view(file, 0_offset, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierror)
    call MPI_File_write_ordered_begin(file, out, 2, MPI_INTEGER, ierror)
    call MPI_File_write_ordered_end(file, out, status, ierror)
    call MPI_File_seek_shared(file, 0_offset, MPI_SEEK_SET, ierror)
    in = 7
    call MPI_File_read_ordered_begin(file, in, 2, MPI_INTEGER, ierror)
    call MPI_File_read_ordered_end(file, in, status, ierror)
    call MPI_F_sync_reg(in)
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    call see(count == 2 .and. all(in == out), 'MPI_File_read_ordered_begin')
  end subroutine halves

  ! In whatever order: each writes once, and all is there once.
  subroutine shared_pointer
    integer, asynchronous :: all(size), more
    integer(offset) :: where
    REQUEST_T :: request
    integer :: i
    call MPI_File_seek_shared(file, 0_offset, MPI_SEEK_SET, ierror)
    call MPI_File_write_shared(file, rank, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_File_get_position_shared(file, where, ierror)
    call see(where == size, 'MPI_File_get_position_shared')
    call MPI_File_read_at_all(file, 0_offset, all, size, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    do i = 0, size - 1
      call see(count(all == i) == 1, 'what was written with the shared pointer')
    end do
    more = rank + 1000
    call MPI_File_iwrite_shared(file, more, 1, MPI_INTEGER, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_File_seek_shared(file, int(-size, offset), MPI_SEEK_CUR, ierror)
    call MPI_File_iread_shared(file, more, 1, MPI_INTEGER, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call see(more >= 1000 .and. more < 1000 + size, 'what was read with the shared pointer')
    call MPI_File_seek_shared(file, 0_offset, MPI_SEEK_SET, ierror)
    call MPI_File_read_shared(file, more, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call see(more >= 0 .and. more < size, 'MPI_File_read_shared')
  end subroutine shared_pointer

  subroutine in_order
    integer, asynchronous :: mine(3), got(3)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_File_seek_shared(file, 0_offset, MPI_SEEK_SET, ierror)
    mine = rank
    call MPI_File_write_ordered(file, mine, mod(rank, 3) + 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call MPI_File_seek_shared(file, 0_offset, MPI_SEEK_SET, ierror)
    got = -1
    call MPI_File_read_ordered(file, got, mod(rank, 3) + 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call see(all(got(1:mod(rank, 3) + 1) == rank), 'MPI_File_read_ordered')
  end subroutine in_order

  subroutine individual
    integer(offset) :: where, place
    integer :: got
    call MPI_File_set_view(file, int(bytes, offset), MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierror)
    call MPI_File_seek(file, int(10 + rank, offset), MPI_SEEK_SET, ierror)
    call MPI_File_write(file, rank * 3, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call MPI_File_get_position(file, where, ierror)
    call see(where == 11 + rank, 'MPI_File_get_position')
    call MPI_File_get_byte_offset(file, where, place, ierror)
    call see(place == (12 + rank) * bytes, 'MPI_File_get_byte_offset')
    call MPI_File_seek(file, -1_offset, MPI_SEEK_CUR, ierror)
    call MPI_File_read(file, got, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call see(got == rank * 3, 'MPI_File_read')
  end subroutine individual

  subroutine nonblocking
    integer, asynchronous :: out, in
    REQUEST_T :: request
    STATUS_T(status)
    integer :: count
    out = rank + 70
    call MPI_File_set_view(file, 0_offset, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierror)
    call MPI_File_iwrite_at_all(file, int(rank, offset), out, 1, MPI_INTEGER, request, ierror)
    call MPI_Wait(request, status, ierror)
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    call see(count == 1, 'MPI_File_iwrite_at_all')
    call MPI_File_seek(file, int(rank, offset), MPI_SEEK_SET, ierror)
    in = -1
    call MPI_File_iread_all(file, in, 1, MPI_INTEGER, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call see(in == out, 'MPI_File_iread_all')
    in = -1
    call MPI_File_iread_at(file, int(rank, offset), in, 1, MPI_INTEGER, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call see(in == out, 'MPI_File_iread_at')
  end subroutine nonblocking

  subroutine questions
    integer(offset) :: length, displacement
    integer(MPI_ADDRESS_KIND) :: extent
    integer :: mode, many
    logical :: flag
    character(len=MPI_MAX_DATAREP_STRING) :: representation
    DATATYPE_T :: etype, filetype
    GROUP_T :: group
    INFO_T :: info
    call MPI_File_set_view(file, 8_offset, MPI_INTEGER, MPI_INTEGER, 'native  ', MPI_INFO_NULL, ierror)
    representation = repeat('#', len(representation))
    call MPI_File_get_view(file, displacement, etype, filetype, representation, ierror)
    call see(displacement == 8 .and. representation == 'native', 'MPI_File_get_view')
    call see(etype == MPI_INTEGER .and. filetype == MPI_INTEGER, 'the types of MPI_File_get_view')
    call MPI_File_get_amode(file, mode, ierror)
    call see(mode == MPI_MODE_CREATE + MPI_MODE_RDWR, 'MPI_File_get_amode')
    call MPI_File_get_group(file, group, ierror)
    call MPI_Group_size(group, many, ierror)
    call MPI_Group_free(group, ierror)
    call see(many == size, 'MPI_File_get_group')
    call MPI_File_get_atomicity(file, flag, ierror)
    call see(.not. flag, 'MPI_File_get_atomicity')
    call MPI_File_set_atomicity(file, .true., ierror)
    call MPI_File_get_atomicity(file, flag, ierror)
    call see(flag, 'MPI_File_set_atomicity')
    call MPI_File_set_size(file, 12345_offset, ierror)
    call MPI_File_get_size(file, length, ierror)
    call see(length == 12345, 'MPI_File_get_size')
    call MPI_File_preallocate(file, 20000_offset, ierror)
    call MPI_File_get_size(file, length, ierror)
    call see(length == 20000, 'MPI_File_preallocate')
    call MPI_File_get_type_extent(file, MPI_INTEGER, extent, ierror)
    call see(extent == bytes, 'MPI_File_get_type_extent')
    call MPI_File_get_info(file, info, ierror)
    call see(info /= MPI_INFO_NULL, 'MPI_File_get_info')
    call MPI_Info_free(info, ierror)
    call MPI_File_sync(file, ierror)
    call see(ierror == MPI_SUCCESS, 'MPI_File_sync')
  end subroutine questions

  ! Files return errors unless they are told otherwise; the handler of files that are not open yet is that of MPI_FILE_NULL.
  subroutine not_there
    integer :: class, error
    ERRHANDLER_T :: handler
    FILE_T :: none
    call MPI_File_get_errhandler(MPI_FILE_NULL, handler, ierror)
    call see(handler == MPI_ERRORS_RETURN, 'the handler of MPI_FILE_NULL')
    call MPI_File_open(MPI_COMM_SELF, '/no/such/folder/at all', MPI_MODE_RDONLY, MPI_INFO_NULL, none, ierror)
    call MPI_Error_class(ierror, class, error)
    call see(class == MPI_ERR_NO_SUCH_FILE, 'a file that is not there')
    call MPI_File_delete('no-such-file', MPI_INFO_NULL, ierror)
    call MPI_Error_class(ierror, class, error)
    call see(class == MPI_ERR_NO_SUCH_FILE, 'a file that is not there is deleted')
  end subroutine not_there
end program files
