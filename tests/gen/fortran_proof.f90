! Calls the generated mpi_f08 procedures: keyword arguments, an optional ierror that is there and one that is not, a section
! that is not contiguous, a callback, large counts. The C program around it starts MPI and completes requests.
module fortran_proof
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function complete(request) bind(C)
      import :: c_int
      integer(c_int), value :: request
    end function complete
    integer(c_int) function reduce_with(op, mine, sum) bind(C)
      import :: c_int
      integer(c_int), value :: op, mine
      integer(c_int), intent(out) :: sum
    end function reduce_with
  end interface
contains
  subroutine add_squares(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer(c_int), pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    if (datatype%MPI_VAL /= MPI_INTEGER%MPI_VAL) b = -1000
    b = a + b
  end subroutine add_squares

  ! Number of mistakes seen.
  integer(c_int) function proof(rank, size) bind(C) result(wrong)
    integer(c_int), value :: rank, size
    integer, asynchronous :: got(5)
    integer :: line(10), i, ierror, to, from
    integer, allocatable :: counts(:), offsets(:), all_sent(:), all_got(:)
    type(MPI_Datatype), allocatable :: kinds(:)
    type(MPI_Request) :: request
    type(MPI_Op) :: op
    integer(c_int) :: total
    wrong = 0
    to = mod(rank + 1, size)
    from = mod(rank + size - 1, size)

    ! A message whose data are every second element.
    line = [(100 * rank + i, i = 1, 10)]
    got = 0
    call MPI_Irecv(got, count=5, datatype=MPI_INTEGER, source=from, tag=7, comm=MPI_COMM_WORLD, request=request)
    call MPI_Send(line(1:10:2), 5, MPI_INTEGER, to, 7, MPI_COMM_WORLD, ierror)
    if (ierror /= MPI_SUCCESS) wrong = wrong + 1
    if (complete(request%MPI_VAL) /= MPI_SUCCESS) wrong = wrong + 1
    if (any(got /= [(100 * from + i, i = 1, 9, 2)])) wrong = wrong + 1

    ! The same with a large count, into a section.
    line = 0
    call MPI_Irecv(line(2:10:2), 5_MPI_COUNT_KIND, MPI_INTEGER, from, MPI_ANY_TAG, MPI_COMM_WORLD, request, ierror)
    if (ierror /= MPI_SUCCESS) wrong = wrong + 1
    call MPI_Send([(rank + i, i = 1, 5)], 5_MPI_COUNT_KIND, MPI_INTEGER, to, 8, MPI_COMM_WORLD)
    if (complete(request%MPI_VAL) /= MPI_SUCCESS) wrong = wrong + 1
    if (any(line(2:10:2) /= [(from + i, i = 1, 5)]) .or. any(line(1:9:2) /= 0)) wrong = wrong + 1

    ! A Fortran procedure as reduction operation.
    call MPI_Op_create(add_squares, commute=.true., op=op, ierror=ierror)
    if (ierror /= MPI_SUCCESS) wrong = wrong + 1
    if (reduce_with(op%MPI_VAL, (rank + 1) ** 2, total) /= MPI_SUCCESS) wrong = wrong + 1
    if (total /= sum([(i ** 2, i = 1, size)])) wrong = wrong + 1

    ! Arrays of counts and of handles.
    allocate (counts(size), offsets(size), kinds(size), all_sent(size), all_got(size))
    counts = 1
    offsets = [(4 * (i - 1), i = 1, size)]
    kinds = MPI_INTEGER
    all_sent = [(1000 * rank + i, i = 1, size)]
    all_got = 0
    call MPI_Alltoallw(all_sent, counts, offsets, kinds, all_got, counts, offsets, kinds, MPI_COMM_WORLD, ierror)
    if (ierror /= MPI_ERR_UNSUPPORTED_OPERATION) then
      if (ierror /= MPI_SUCCESS .or. any(all_got /= [(1000 * (i - 1) + rank + 1, i = 1, size)])) wrong = wrong + 1
    end if

    ! A failure comes back as the error class.
    call MPI_Send(line, 1, MPI_INTEGER, size + 3, 7, MPI_COMM_WORLD, ierror)
    if (ierror /= MPI_ERR_RANK) wrong = wrong + 1
  end function proof
end module fortran_proof
