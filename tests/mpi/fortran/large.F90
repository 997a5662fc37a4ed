! Counts of MPI_COUNT_KIND in mpi_f08, under the same generic names: messages, collectives with arrays of counts, datatypes whose
! numbers no INTEGER of 4 bytes holds.
module negatives
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
contains
  ! In the file stands the negative.
  subroutine read_negative(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer(MPI_COUNT_KIND) :: count
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    integer, pointer :: user(:), file(:)
    call c_f_pointer(userbuf, user, [position + count])
    call c_f_pointer(filebuf, file, [count])
    user(position + 1:) = -file
    ierror = merge(MPI_SUCCESS, MPI_ERR_CONVERSION, datatype == MPI_INTEGER .and. extra_state == 81)
  end subroutine read_negative

  subroutine write_negative(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer(MPI_COUNT_KIND) :: count
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    integer, pointer :: user(:), file(:)
    call c_f_pointer(userbuf, user, [position + count])
    call c_f_pointer(filebuf, file, [count])
    file = -user(position + 1:)
    ierror = merge(MPI_SUCCESS, MPI_ERR_CONVERSION, datatype == MPI_INTEGER .and. extra_state == 81)
  end subroutine write_negative

  subroutine extent_in_file(datatype, extent, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(MPI_ADDRESS_KIND) :: extent, extra_state
    integer :: ierror
    extent = storage_size(ierror) / 8
    ierror = merge(MPI_SUCCESS, MPI_ERR_TYPE, datatype == MPI_INTEGER .and. extra_state == 81)
  end subroutine extent_in_file
end module negatives

program large
  use negatives
  implicit none
  integer, parameter :: ck = MPI_COUNT_KIND, ak = MPI_ADDRESS_KIND
  integer(ck), parameter :: many = 3_ck * 2_ck**30
  integer :: rank, size, ierror, wrong = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call messages
  call collectives
  call neighbours
  call datatypes
  call packing
  call windows
  call files
  call statuses
  call MPI_Finalize()
  if (wrong /= 0) error stop
contains
#include "see.fh"

  subroutine messages
    integer, asynchronous :: got(3), sent(3)
    integer(ck) :: n
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    sent = [1, 2, 3] + rank
    call MPI_Irecv(got, 3_ck, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, request)
    call MPI_Send(sent, 2_ck, MPI_INTEGER, rank, 1, MPI_COMM_WORLD)
    call MPI_Wait(request, status)
    call MPI_Get_count(status, MPI_INTEGER, n)
    call see(n == 2 .and. all(got(1:2) == sent(1:2)), 'MPI_Send and MPI_Irecv')
    call MPI_Get_elements(status, MPI_INTEGER, n)
    call see(n == 2, 'MPI_Get_elements')
    call MPI_Get_elements_x(status, MPI_INTEGER, n)
    call see(n == 2, 'MPI_Get_elements_x')
    got = 0
    call MPI_Sendrecv(sent, 3_ck, MPI_INTEGER, rank, 1, got, 3_ck, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call see(all(got == sent), 'MPI_Sendrecv')
  end subroutine messages

  subroutine collectives
    integer, asynchronous :: mine(size), all_of(size), sums(size)
    integer(ck) :: counts(size)
    integer(ak) :: displs(size)
    integer :: i
    type(MPI_Request) :: request
    type(MPI_Datatype) :: types(size)
    counts = 1
    displs = [(int(size - i, ak), i = 1, size)]
    call MPI_Allgatherv([rank], 1_ck, MPI_INTEGER, all_of, counts, displs, MPI_INTEGER, MPI_COMM_WORLD)
    call see(all(all_of == [(i, i = size - 1, 0, -1)]), 'MPI_Allgatherv')
    mine = [(100 * rank + i, i = 0, size - 1)]
    call MPI_Ialltoallv(mine, counts, displs, MPI_INTEGER, all_of, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call see(all(all_of == [(100 * (size - i) + size - 1 - rank, i = 1, size)]), 'MPI_Ialltoallv')
    displs = displs * (storage_size(i) / 8)
    types = MPI_INTEGER
    all_of = -1
    call MPI_Alltoallw(mine, counts, displs, types, all_of, counts, displs, types, MPI_COMM_WORLD)
    call see(all(all_of == [(100 * (size - i) + size - 1 - rank, i = 1, size)]), 'MPI_Alltoallw')
    call MPI_Ireduce_scatter(mine, sums, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call see(sums(1) == 50 * size * (size - 1) + size * rank, 'MPI_Ireduce_scatter')
    call MPI_Exscan([1], sums, 1_ck, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call see(rank == 0 .or. sums(1) == rank, 'MPI_Exscan')
  end subroutine collectives

  subroutine neighbours
    integer, asynchronous :: mine, got(2)
    integer(ck) :: counts(2)
    integer(ak) :: displs(2)
    integer :: expected(2)
    type(MPI_Comm) :: ring
    type(MPI_Request) :: request
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.true.], .false., ring)
    counts = 1
    displs = [1, 0]
    expected = [mod(rank + 1, size), mod(rank + size - 1, size)]
    mine = rank
    call MPI_Ineighbor_allgatherv(mine, 1_ck, MPI_INTEGER, got, counts, displs, MPI_INTEGER, ring, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call see(all(got == expected), 'MPI_Ineighbor_allgatherv')
    call MPI_Comm_free(ring)
  end subroutine neighbours

  subroutine datatypes
    type(MPI_Datatype) :: made, old(1), types(1)
    integer(ck) :: bytes, lower, extent, integers, addresses, counts, types_many, numbers(4), big(4)
    integer(ak) :: places(4)
    integer :: combiner, few(4), size_of
    call MPI_Type_contiguous(many, MPI_BYTE, made)
    call MPI_Type_size(made, bytes)
    call see(bytes == many, 'MPI_Type_size')
    call MPI_Type_size_x(made, bytes)
    call see(bytes == many, 'MPI_Type_size_x')
    if (storage_size(size_of) == 32) then
      call MPI_Type_size(made, size_of)
      call see(size_of == MPI_UNDEFINED, 'a size that INTEGER does not hold')
    end if
    call MPI_Type_get_envelope(made, integers, addresses, counts, types_many, combiner)
    call see(combiner == MPI_COMBINER_CONTIGUOUS .and. integers == 0 .and. counts == 1 .and. types_many == 1, 'an envelope')
    call MPI_Type_get_contents(made, 0_ck, 0_ck, 1_ck, 1_ck, few, places, big, types)
    call see(big(1) == many .and. types(1) == MPI_BYTE, 'what a large type is made of')
    call MPI_Type_free(made)
    call MPI_Type_vector(2_ck, 1_ck, many, MPI_BYTE, made)
    call MPI_Type_get_extent(made, lower, extent)
    call see(lower == 0 .and. extent == many + 1, 'MPI_Type_vector')
    call MPI_Type_get_true_extent_x(made, lower, extent)
    call see(lower == 0 .and. extent == many + 1, 'MPI_Type_get_true_extent_x')
    call MPI_Type_free(made)
    numbers = [1, 2, 0, 0]
    big = [0_ck, many, 0_ck, 0_ck]
    call MPI_Type_create_hindexed(2_ck, numbers, big, MPI_BYTE, made)
    call MPI_Type_get_extent(made, lower, extent)
    call see(extent == many + 2, 'MPI_Type_create_hindexed')
    old(1) = made
    call MPI_Type_create_struct(1_ck, [1_ck], [-many], old, made)
    call MPI_Type_get_extent(made, lower, extent)
    call see(lower == -many .and. extent == many + 2, 'MPI_Type_create_struct')
    call MPI_Type_free(made)
    call MPI_Type_free(old(1))
    call MPI_Type_create_subarray(2, [many, 2_ck], [1_ck, 1_ck], [many - 1, 1_ck], MPI_ORDER_FORTRAN, MPI_BYTE, made)
    call MPI_Type_get_true_extent(made, lower, extent)
    call see(lower == 2 * many - 1 .and. extent == 1, 'MPI_Type_create_subarray')
    call MPI_Type_free(made)
  end subroutine datatypes

  subroutine packing
    character :: room(40)
    integer(ck) :: position, bytes
    integer :: got(2)
    position = 0
    call MPI_Pack_size(2_ck, MPI_INTEGER, MPI_COMM_WORLD, bytes)
    call see(bytes >= 2 * (storage_size(got) / 8), 'MPI_Pack_size')
    call MPI_Pack([5, 6], 2_ck, MPI_INTEGER, room, 40_ck, position, MPI_COMM_WORLD)
    position = 0
    call MPI_Unpack(room, 40_ck, position, got, 2_ck, MPI_INTEGER, MPI_COMM_WORLD)
    call see(all(got == [5, 6]), 'MPI_Pack')
    position = 0
    call MPI_Pack_external('external32', [7, 8], 2_ck, MPI_INTEGER, room, 40_ck, position)
    call see(position == 8, 'MPI_Pack_external')
  end subroutine packing

  subroutine windows
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr) :: where
    type(MPI_Win) :: window
    integer, pointer, asynchronous :: table(:)
    integer, asynchronous :: put, got
    integer(ak) :: bytes
    put = rank + 4
    bytes = storage_size(got) / 8
    call MPI_Win_allocate(4 * bytes, bytes, MPI_INFO_NULL, MPI_COMM_SELF, where, window)
    call c_f_pointer(where, table, [4])
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window)
    call MPI_Put(put, 1_ck, MPI_INTEGER, 0, 2_ak, 1_ck, MPI_INTEGER, window)
    call MPI_Win_flush(0, window)
    call MPI_Get(got, 1_ck, MPI_INTEGER, 0, 2_ak, 1_ck, MPI_INTEGER, window)
    call MPI_Win_unlock(0, window)
    call see(got == rank + 4 .and. table(3) == got, 'MPI_Put')
    call MPI_Win_free(window)
  end subroutine windows

  subroutine files
    type(MPI_File) :: file
    type(MPI_Status) :: status
    integer :: got(2)
    integer(ck) :: n, extent
    character(len=30) :: name
    write (name, '(a,i0)') 'ashlar-large-', rank
    call MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file)
    call MPI_File_write_at(file, int(many, MPI_OFFSET_KIND), [8, 9], 2_ck, MPI_INTEGER, MPI_STATUS_IGNORE)
    call MPI_File_read_at(file, int(many, MPI_OFFSET_KIND), got, 2_ck, MPI_INTEGER, status)
    call MPI_Get_count(status, MPI_INTEGER, n)
    call see(n == 2 .and. all(got == [8, 9]), 'MPI_File_read_at')
    call MPI_File_get_type_extent(file, MPI_INTEGER, extent)
    call see(extent == storage_size(got) / 8, 'MPI_File_get_type_extent')
    call representations(file)
    call MPI_File_close(file)
  end subroutine files

  ! Conversions with counts of MPI_COUNT_KIND; without a function there is none in that direction.
  subroutine representations(file)
    type(MPI_File), intent(in) :: file
    integer :: got(3)
    call MPI_Register_datarep_c('negative', read_negative, write_negative, extent_in_file, 81_ak)
    call MPI_Register_datarep_c('only written', MPI_CONVERSION_FN_NULL_C, write_negative, extent_in_file, 81_ak)
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'negative', MPI_INFO_NULL)
    call MPI_File_write_at(file, 0_MPI_OFFSET_KIND, [1, 2, 3], 3_ck, MPI_INTEGER, MPI_STATUS_IGNORE)
    call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, got, 3_ck, MPI_INTEGER, MPI_STATUS_IGNORE)
    call see(all(got == [1, 2, 3]), 'a representation of the program')
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'only written', MPI_INFO_NULL)
    call MPI_File_write_at(file, 1_MPI_OFFSET_KIND, [7], 1_ck, MPI_INTEGER, MPI_STATUS_IGNORE)
    call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, got, 3_ck, MPI_INTEGER, MPI_STATUS_IGNORE)
    call see(all(got == [-1, -7, -3]), 'a representation without one of its functions')
  end subroutine representations

  subroutine statuses
    type(MPI_Status) :: status
    integer(ck) :: n
    integer :: small
    call MPI_Status_set_elements(status, MPI_BYTE, many)
    call MPI_Get_elements(status, MPI_BYTE, n)
    call see(n == many, 'MPI_Status_set_elements')
    call MPI_Status_set_elements_x(status, MPI_BYTE, many)
    call MPI_Get_count(status, MPI_BYTE, n)
    call see(n == many, 'MPI_Status_set_elements_x')
    if (storage_size(small) == 32) then
      call MPI_Get_count(status, MPI_BYTE, small)
      call see(small == MPI_UNDEFINED, 'a count that INTEGER does not hold')
    end if
  end subroutine statuses
end program large
