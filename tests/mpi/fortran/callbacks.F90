! Procedures as arguments in mpi_f08: reductions, attributes, error handlers, generalized requests.
module callbacks
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: copies = 0, deletes = 0, freed = 0, errors = 0, queries = 0, wrong = 0
contains
  subroutine see(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    wrong = wrong + 1
    print '(a)', what
  end subroutine see

  subroutine add(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    call see(datatype == MPI_INTEGER, 'datatype of a reduction')
    b = a + b
  end subroutine add

  subroutine add_large(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    call see(datatype == MPI_INTEGER, 'datatype of a large reduction')
    b = a + b
  end subroutine add_large

  subroutine copy(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    call see(oldcomm /= MPI_COMM_NULL .and. comm_keyval /= MPI_KEYVAL_INVALID, 'arguments of a copy function')
    attribute_val_out = attribute_val_in + extra_state
    flag = attribute_val_in /= 13
    ierror = MPI_SUCCESS
    copies = copies + 1
  end subroutine copy

  subroutine erase(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    call see(comm /= MPI_COMM_NULL .and. comm_keyval /= MPI_KEYVAL_INVALID .and. extra_state == 5 .and. attribute_val > 0, &
             'arguments of a delete function')
    ierror = MPI_SUCCESS
    deletes = deletes + 1
  end subroutine erase

  subroutine handler(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    call see(comm == MPI_COMM_SELF .and. error_code /= MPI_SUCCESS, 'arguments of an error handler')
    errors = errors + 1
  end subroutine handler

  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    call MPI_Status_set_elements(status, MPI_INTEGER, int(extra_state))
    call MPI_Status_set_cancelled(status, .false.)
    status%MPI_SOURCE = 7
    status%MPI_TAG = 8
    queries = queries + 1
    ierror = MPI_SUCCESS
  end subroutine query

  subroutine release(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    call see(extra_state == 12, 'state of a generalized request')
    freed = freed + 1
    ierror = MPI_SUCCESS
  end subroutine release

  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    call see(extra_state == 12 .and. .not. complete, 'arguments of a cancel function')
    ierror = MPI_SUCCESS
  end subroutine cancel

  subroutine reductions(rank, size)
    integer, intent(in) :: rank, size
    integer :: mine(3), sum(3), i
    type(MPI_Op) :: op
    mine = rank + 1
    do i = 1, 1000      ! the limit counts procedures, not operations
      call MPI_Op_create(add, .true., op)
      if (i < 1000) call MPI_Op_free(op)
    end do
    call MPI_Allreduce(mine, sum, 3, MPI_INTEGER, op, MPI_COMM_WORLD)
    call see(all(sum == size * (size + 1) / 2), 'result of a reduction')
    call MPI_Op_free(op)
    call see(op == MPI_OP_NULL, 'a freed operation')
    call MPI_Op_create_c(add_large, .true., op)
    call MPI_Allreduce(mine, sum, 3_MPI_COUNT_KIND, MPI_INTEGER, op, MPI_COMM_WORLD)
    call see(all(sum == size * (size + 1) / 2), 'result of a large reduction')
    call MPI_Op_free(op)
  end subroutine reductions

  subroutine attributes()
    integer :: key, dup_key
    type(MPI_Comm) :: first, second
    integer(MPI_ADDRESS_KIND) :: value
    integer(MPI_ADDRESS_KIND), parameter :: large = 2_MPI_ADDRESS_KIND**40
    logical :: flag
    call MPI_Comm_create_keyval(copy, erase, key, 5_MPI_ADDRESS_KIND)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, dup_key, 5_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_WORLD, first)
    call MPI_Comm_get_attr(first, key, value, flag)
    call see(.not. flag, 'an attribute that is not set')
    call MPI_Comm_set_attr(first, key, large)
    call MPI_Comm_set_attr(first, dup_key, -3_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(first, second)
    call MPI_Comm_get_attr(second, key, value, flag)
    call see(flag .and. value == large + 5, 'an attribute that a function copied')
    call MPI_Comm_free(first)
    call MPI_Comm_get_attr(second, dup_key, value, flag)
    call see(flag .and. value == -3, 'an attribute that MPI_COMM_DUP_FN copied')
    call MPI_Comm_set_attr(second, key, 13_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(second, first)
    call MPI_Comm_get_attr(first, key, value, flag)
    call see(.not. flag, 'an attribute whose copy function said .false.')
    call MPI_Comm_delete_attr(second, key)
    call MPI_Comm_free(first)
    call MPI_Comm_free(second)
    call see(copies == 2 .and. deletes == 3, 'how often copy and delete functions were called')
    call MPI_Comm_free_keyval(key)
    call MPI_Comm_free_keyval(dup_key)
    call see(key == MPI_KEYVAL_INVALID, 'a freed keyval')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
    call see(flag .and. value >= 32767, 'MPI_TAG_UB')
  end subroutine attributes

  subroutine handlers()
    integer :: data(3), ierror
    type(MPI_Errhandler) :: made
    data = 0
    call MPI_Comm_create_errhandler(handler, made)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, made)
    call MPI_Send(data, -1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, ierror)
    call see(errors == 1 .and. ierror /= MPI_SUCCESS, 'an error of the library')
    if (MPI_SUBARRAYS_SUPPORTED) then ! else the compiler passes a copy, of which no call knows the size
      call MPI_Send(data(1:3:2), 5, MPI_INTEGER, 0, 0, MPI_COMM_SELF, ierror)
      call see(errors == 2 .and. ierror /= MPI_SUCCESS, 'a section that is smaller than the count')
    end if
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
    call MPI_Errhandler_free(made)
  end subroutine handlers

  subroutine requests()
    integer :: n
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    call MPI_Grequest_start(query, release, cancel, 12_MPI_ADDRESS_KIND, request)
    call MPI_Cancel(request)
    call MPI_Grequest_complete(request)
    call MPI_Wait(request, status)
    call MPI_Get_count(status, MPI_INTEGER, n)
    call see(n == 12 .and. status%MPI_SOURCE == 7 .and. status%MPI_TAG == 8, 'status of a generalized request')
    call see(freed == 1 .and. queries == 1, 'how often the functions of a generalized request were called')
  end subroutine requests
end module callbacks

program test_callbacks
  use callbacks
  implicit none
  integer :: rank, size
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call reductions(rank, size)
  call attributes()
  call handlers()
  call requests()
  call MPI_Finalize()
  if (wrong /= 0) error stop
end program test_callbacks
