! What the standard's examples of datatypes in Fortran show; programs of our own. Each rank sends to itself.
#include "method.fh"
program examples_datatypes
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, parameter :: address = MPI_ADDRESS_KIND
  integer :: rank, ierror
  integer(address) :: real_size
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  real_size = storage_size(1.0) / 8
  call addresses
  call section_of_three_dimensions
  call lower_triangle
  call transpose_by_vectors
  call transpose_by_rows
  call counts_of_nested_types
  call sequence_type
  call absolute_addresses
  call packing
  call contiguous_is_a_count
  call MPI_Finalize(ierror)
contains
  subroutine wrong(what)
    character(*), intent(in) :: what
    print '(a,i0,2a)', 'rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine wrong

  subroutine addresses
    real, asynchronous :: a(10, 10)
    integer(address) :: first, last
    call MPI_Get_address(a(1, 1), first, ierror)
    call MPI_Get_address(a(10, 10), last, ierror)
    if (last - first /= 99 * real_size) call wrong('distance of addresses')
    if (MPI_Aint_diff(last, first) /= 99 * real_size .or. MPI_Aint_add(first, 99 * real_size) /= last) call wrong('MPI_Aint')
  end subroutine addresses

  ! a(1:17:2, 3:11, 2:10) into e(9, 9, 9).
  subroutine section_of_three_dimensions
    real :: a(100, 20, 20), e(9, 9, 9)
    DATATYPE_T :: line, plane, cube
    integer :: i, j, k
    do k = 1, 20
      do j = 1, 20
        do i = 1, 100
          a(i, j, k) = i + 100 * j + 2000 * k
        end do
      end do
    end do
    call MPI_Type_vector(9, 1, 2, MPI_REAL, line, ierror)
    call MPI_Type_create_hvector(9, 1, 100 * real_size, line, plane, ierror)
    call MPI_Type_create_hvector(9, 1, 2000 * real_size, plane, cube, ierror)
    call MPI_Type_commit(cube, ierror)
    e = -1.0
    call MPI_Sendrecv(a(1, 3, 2), 1, cube, rank, 1, e, 729, MPI_REAL, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    if (any(e /= a(1:17:2, 3:11, 2:10))) call wrong('a section of three dimensions')
    call MPI_Type_free(cube, ierror)
    if (cube /= MPI_DATATYPE_NULL) call wrong('the handle of a freed datatype')
    call MPI_Type_free(plane, ierror)
    call MPI_Type_free(line, ierror)
  end subroutine section_of_three_dimensions

  subroutine lower_triangle
    real :: a(20, 20), b(20, 20)
    integer :: starts(19), lengths(19), i, j
    DATATYPE_T :: lower
    a = reshape([(real(i), i = 1, 400)], [20, 20])
    b = 0.0
    do i = 1, 19
      starts(i) = 20 * (i - 1) + i
      lengths(i) = 20 - i
    end do
    call MPI_Type_indexed(19, lengths, starts, MPI_REAL, lower, ierror)
    call MPI_Type_commit(lower, ierror)
    call MPI_Sendrecv(a, 1, lower, rank, 2, b, 1, lower, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    do j = 1, 20
      if (any(b(:j, j) /= 0.0) .or. any(b(j + 1:, j) /= a(j + 1:, j))) call wrong('a triangle')
    end do
    call MPI_Type_free(lower, ierror)
  end subroutine lower_triangle

  subroutine transpose_by_vectors
    real :: a(30, 30), b(30, 30)
    integer :: i
    DATATYPE_T :: row, rows
    a = reshape([(real(i), i = 1, 900)], [30, 30])
    call MPI_Type_vector(30, 1, 30, MPI_REAL, row, ierror)
    call MPI_Type_create_hvector(30, 1, real_size, row, rows, ierror)
    call MPI_Type_commit(rows, ierror)
    call MPI_Sendrecv(a, 1, rows, rank, 3, b, 900, MPI_REAL, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    if (any(b /= transpose(a))) call wrong('transposed by vectors')
    call MPI_Type_free(row, ierror)
    call MPI_Type_free(rows, ierror)
  end subroutine transpose_by_vectors

  subroutine transpose_by_rows
    real :: a(30, 30), b(30, 30)
    integer :: i
    DATATYPE_T :: row, narrow
    a = reshape([(real(i), i = 1, 900)], [30, 30])
    call MPI_Type_vector(30, 1, 30, MPI_REAL, row, ierror)
    call MPI_Type_create_resized(row, 0_address, real_size, narrow, ierror)
    call MPI_Type_commit(narrow, ierror)
    call MPI_Sendrecv(a, 30, narrow, rank, 4, b, 900, MPI_REAL, rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    if (any(b /= transpose(a))) call wrong('transposed by rows')
    call MPI_Type_free(row, ierror)
    call MPI_Type_free(narrow, ierror)
  end subroutine transpose_by_rows

  subroutine counts_of_nested_types
    real :: a(4)
    integer :: count, elements
    DATATYPE_T :: pair
    STATUS_T(status)
    a = 1.0
    call MPI_Type_contiguous(2, MPI_REAL, pair, ierror)
    call MPI_Type_commit(pair, ierror)
    call MPI_Sendrecv([1.0, 2.0, 3.0], 3, MPI_REAL, rank, 5, a, 2, pair, rank, 5, MPI_COMM_WORLD, status, ierror)
    call MPI_Get_count(status, pair, count, ierror)
    call MPI_Get_elements(status, pair, elements, ierror)
    if (count /= MPI_UNDEFINED .or. elements /= 3) call wrong('three halves of a pair')
    call MPI_Type_free(pair, ierror)
  end subroutine counts_of_nested_types

  ! Components of a sequence type, by their addresses; and the next one of an array.
  subroutine sequence_type
    type mytype
      sequence
      integer :: i
      real :: x
      double precision :: d
    end type mytype
    type(mytype), asynchronous :: foo(2), bar(2)
    integer(address) :: where(4)
    DATATYPE_T :: kinds(3), one, spaced
    call MPI_Get_address(foo(1)%i, where(1), ierror)
    call MPI_Get_address(foo(1)%x, where(2), ierror)
    call MPI_Get_address(foo(1)%d, where(3), ierror)
    call MPI_Get_address(foo(2)%i, where(4), ierror)
    where = where - where(1)
    kinds(1) = MPI_INTEGER
    kinds(2) = MPI_REAL
    kinds(3) = MPI_DOUBLE_PRECISION
    call MPI_Type_create_struct(3, [1, 1, 1], where(1:3), kinds, one, ierror)
    call MPI_Type_create_resized(one, 0_address, where(4), spaced, ierror)
    call MPI_Type_commit(spaced, ierror)
    foo = [mytype(1, 2.0, 3d0), mytype(4, 5.0, 6d0)]
    bar = [mytype(0, 0.0, 0d0), mytype(0, 0.0, 0d0)]
    call MPI_Sendrecv(foo(1)%i, 2, spaced, rank, 6, bar(1)%i, 2, spaced, rank, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call MPI_F_sync_reg(bar(2)%d)
    if (bar(1)%i /= 1 .or. bar(1)%x /= 2.0 .or. bar(2)%i /= 4 .or. bar(2)%d /= 6d0) call wrong('a sequence type')
    call MPI_Type_free(one, ierror)
    call MPI_Type_free(spaced, ierror)
  end subroutine sequence_type

  ! MPI_BOTTOM with a datatype of absolute addresses. The variable is not named in the calls: ASYNCHRONOUS says that it may change.
  subroutine absolute_addresses
    integer, asynchronous :: here(3), there(3)
    integer(address) :: where(1)
    DATATYPE_T :: from, to
    call MPI_Get_address(here, where(1), ierror)
    call MPI_Type_create_hindexed(1, [3], where, MPI_INTEGER, from, ierror)
    call MPI_Get_address(there, where(1), ierror)
    call MPI_Type_create_hindexed(1, [3], where, MPI_INTEGER, to, ierror)
    call MPI_Type_commit(from, ierror)
    call MPI_Type_commit(to, ierror)
    here = [7, 8, 9]
    there = 0
    call MPI_Sendrecv(MPI_BOTTOM, 1, from, rank, 7, MPI_BOTTOM, 1, to, rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    if (any(there /= [7, 8, 9])) call wrong('MPI_BOTTOM')
    call MPI_Type_free(from, ierror)
    call MPI_Type_free(to, ierror)
  end subroutine absolute_addresses

  subroutine packing
    character :: packed(200)
    integer :: position, whole, length
    real :: row(5)
    position = 0
    call MPI_Pack(42, 1, MPI_INTEGER, packed, 200, position, MPI_COMM_WORLD, ierror)
    call MPI_Pack([1.0, 2.0, 3.0, 4.0, 5.0], 5, MPI_REAL, packed, 200, position, MPI_COMM_WORLD, ierror)
    length = position
    position = 0
    call MPI_Unpack(packed, length, position, whole, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call MPI_Unpack(packed, length, position, row, 5, MPI_REAL, MPI_COMM_WORLD, ierror)
    if (whole /= 42 .or. any(row /= [1.0, 2.0, 3.0, 4.0, 5.0]) .or. position /= length) call wrong('packing')
  end subroutine packing

  subroutine contiguous_is_a_count
    integer :: a(6), b(6)
    DATATYPE_T :: six
    a = [1, 2, 3, 4, 5, 6]
    b = 0
    call MPI_Type_contiguous(6, MPI_INTEGER, six, ierror)
    call MPI_Type_commit(six, ierror)
    call MPI_Sendrecv(a, 1, six, rank, 8, b, 6, MPI_INTEGER, rank, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    if (any(a /= b)) call wrong('a contiguous type and a count')
    call MPI_Type_free(six, ierror)
  end subroutine contiguous_is_a_count
end program examples_datatypes
