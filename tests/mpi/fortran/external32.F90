! Fortran's types in the representation that all machines have in common (external32): the sizes and bytes of the standard's
! table, whatever the compiler's INTEGER, LOGICAL and REAL are, in messages that are packed and in files.
#include "method.fh"
program external32
  USE_MPI
  use, intrinsic :: iso_fortran_env, only : int8
  use, intrinsic :: iso_c_binding, only : c_int
  implicit none
  INCLUDE_MPI
  integer :: ierror, faults = 0
  logical :: wide
  call MPI_Init(ierror)
  wide = storage_size(0) == 64
  call sizes
  call bytes
  call there_and_back
  call files
  if (wide) call too_large
  call MPI_Finalize(ierror)
  if (faults /= 0) error stop
contains
  subroutine see(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    faults = faults + 1
    print '(a)', what
  end subroutine see

  integer function size_of(datatype, count)
    DATATYPE_T, intent(in) :: datatype
    integer, intent(in) :: count
    integer(MPI_ADDRESS_KIND) :: size
    call MPI_Pack_external_size('external32', count, datatype, size, ierror)
    size_of = int(size)
  end function size_of

  subroutine sizes
    call see(size_of(MPI_INTEGER, 3) == 12, 'size of INTEGER')
    call see(size_of(MPI_LOGICAL, 3) == 12, 'size of LOGICAL')
    call see(size_of(MPI_REAL, 3) == 12, 'size of REAL')
    call see(size_of(MPI_DOUBLE_PRECISION, 3) == 24, 'size of DOUBLE PRECISION')
    call see(size_of(MPI_COMPLEX, 3) == 24, 'size of COMPLEX')
    call see(size_of(MPI_CHARACTER, 3) == 3, 'size of CHARACTER')
    call see(size_of(MPI_INTEGER8, 3) == 24, 'size of INTEGER*8')
    call see(size_of(MPI_2INTEGER, 3) == 24, 'size of a pair of INTEGERs')
  end subroutine sizes

  ! Most significant byte first; negative numbers as complements of two.
  subroutine bytes
    integer(int8) :: packed(16)
    integer(MPI_ADDRESS_KIND) :: position
    integer :: numbers(2)
    logical :: truth(2)
    packed = -1
    position = 0
    numbers = [258, -2]
    truth = [.true., .false.]
    call MPI_Pack_external('external32', numbers, 2, MPI_INTEGER, packed, 16_MPI_ADDRESS_KIND, position, ierror)
    call MPI_Pack_external('external32', truth, 2, MPI_LOGICAL, packed, 16_MPI_ADDRESS_KIND, position, ierror)
    call see(position == 16, 'bytes that are packed')
    call see(all(packed(1:4) == [0_int8, 0_int8, 1_int8, 2_int8]), 'a positive INTEGER')
    call see(all(packed(5:8) == [-1_int8, -1_int8, -1_int8, -2_int8]), 'a negative INTEGER')
    call see(all(packed(9:11) == 0_int8) .and. packed(12) == 1, '.TRUE.')
    call see(all(packed(13:16) == 0_int8), '.FALSE.')
  end subroutine bytes

  subroutine there_and_back
    integer(int8) :: packed(400)
    integer(MPI_ADDRESS_KIND) :: position
    integer :: i, numbers(9), back(9)
    logical :: truth(3), truth_back(3)
    real :: reals(4), reals_back(4)
    double precision :: doubles(2), doubles_back(2)
    complex :: pairs(2), pairs_back(2)
    character(len=7) :: text, text_back
    numbers = [(i * 65537 - 300000, i = 1, 9)]
    truth = [.true., .false., .true.]
    reals = [1.5, -2.25, 2.0**(-60), 2.0**90]
    doubles = [0.125d0, -2d0**300]
    pairs = [(1.0, 2.0), (-3.5, 0.0)]
    text = 'external'
    position = 0
    call MPI_Pack_external('external32', numbers, 9, MPI_INTEGER, packed, 400_MPI_ADDRESS_KIND, position, ierror)
    call MPI_Pack_external('external32', truth, 3, MPI_LOGICAL, packed, 400_MPI_ADDRESS_KIND, position, ierror)
    call MPI_Pack_external('external32', reals, 4, MPI_REAL, packed, 400_MPI_ADDRESS_KIND, position, ierror)
    call MPI_Pack_external('external32', doubles, 2, MPI_DOUBLE_PRECISION, packed, 400_MPI_ADDRESS_KIND, position, ierror)
    call MPI_Pack_external('external32', pairs, 2, MPI_COMPLEX, packed, 400_MPI_ADDRESS_KIND, position, ierror)
    call MPI_Pack_external('external32', text, 7, MPI_CHARACTER, packed, 400_MPI_ADDRESS_KIND, position, ierror)
    call see(position == 36 + 12 + 16 + 16 + 16 + 7, 'bytes of all types')
    position = 0
    call MPI_Unpack_external('external32', packed, 400_MPI_ADDRESS_KIND, position, back, 9, MPI_INTEGER, ierror)
    call MPI_Unpack_external('external32', packed, 400_MPI_ADDRESS_KIND, position, truth_back, 3, MPI_LOGICAL, ierror)
    call MPI_Unpack_external('external32', packed, 400_MPI_ADDRESS_KIND, position, reals_back, 4, MPI_REAL, ierror)
    call MPI_Unpack_external('external32', packed, 400_MPI_ADDRESS_KIND, position, doubles_back, 2, MPI_DOUBLE_PRECISION, ierror)
    call MPI_Unpack_external('external32', packed, 400_MPI_ADDRESS_KIND, position, pairs_back, 2, MPI_COMPLEX, ierror)
    call MPI_Unpack_external('external32', packed, 400_MPI_ADDRESS_KIND, position, text_back, 7, MPI_CHARACTER, ierror)
    call see(all(back == numbers), 'INTEGERs come back')
    call see(all(truth_back .eqv. truth) .and. count(truth_back) == 2, 'LOGICALs come back')
    call see(all(reals_back == reals) .and. all(doubles_back == doubles) .and. all(pairs_back == pairs), 'REALs come back')
    call see(text_back == text, 'CHARACTERs come back')
  end subroutine there_and_back

  subroutine files
    FILE_T :: file
    character(len=40) :: name
    integer(int8) :: raw(16)
    integer :: numbers(4), back(4)
    integer(MPI_OFFSET_KIND), parameter :: begin = 0
    interface
      integer(c_int) function getpid() bind(c)
        import :: c_int
      end function getpid
    end interface
    numbers = [1, -1, 70000, 5]
    write (name, '(a,i0)') 'ashlar-external32-', getpid()
    call MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file, ierror)
    call MPI_File_set_view(file, begin, MPI_INTEGER, MPI_INTEGER, 'external32', MPI_INFO_NULL, ierror)
    call see(ierror == MPI_SUCCESS, 'a view with external32')
    call MPI_File_write_at(file, begin, numbers, 4, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call MPI_File_read_at(file, begin, back, 4, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call see(all(back == numbers), 'INTEGERs come back from a file')
    call MPI_File_set_view(file, begin, MPI_BYTE, MPI_BYTE, 'native', MPI_INFO_NULL, ierror)
    call MPI_File_read_at(file, begin, raw, 16, MPI_BYTE, MPI_STATUS_IGNORE, ierror)
    call see(all(raw(1:4) == [0_int8, 0_int8, 0_int8, 1_int8]) .and. all(raw(5:8) == -1_int8), 'the bytes in the file')
    call see(all(raw(9:12) == [0_int8, 1_int8, 17_int8, 112_int8]), 'more bytes in the file')
    call MPI_File_close(file, ierror)
  end subroutine files

  ! Of an INTEGER of 8 bytes that 4 bytes do not hold, the sign and the low bytes stay.
  subroutine too_large
    integer(int8) :: packed(8)
    integer(MPI_ADDRESS_KIND) :: position
    integer :: numbers(2)
    position = 0
    numbers = 2**30
    numbers = [numbers(1) * 64 + 258, -(numbers(2) * 64) - 2]
    call MPI_Pack_external('external32', numbers, 2, MPI_INTEGER, packed, 8_MPI_ADDRESS_KIND, position, ierror)
    call see(all(packed == [0_int8, 0_int8, 1_int8, 2_int8, -1_int8, -1_int8, -1_int8, -2_int8]), 'a number that is too large')
  end subroutine too_large
end program external32
