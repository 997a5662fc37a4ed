! Names of MPI-1: attributes with INTEGER values, which are deprecated, in each method; and with mpif.h the procedures that later
! versions removed.
#include "method.fh"
module old_functions
  implicit none
  integer :: copies = 0, deletes = 0, calls = 0
contains
  ! Everything is an INTEGER here, in mpi_f08 as well.
  subroutine copy(oldcomm, keyval, extra_state, value_in, value_out, flag, ierror)
    integer :: oldcomm, keyval, extra_state, value_in, value_out, ierror
    logical :: flag
    copies = copies + 1
    value_out = value_in + extra_state
    flag = value_in >= 0
    ierror = merge(0, 1, oldcomm /= 0 .and. keyval /= 0)
  end subroutine copy

  subroutine erase(comm, keyval, value, extra_state, ierror)
    integer :: comm, keyval, value, extra_state, ierror
    deletes = deletes + 1
    ierror = merge(0, 1, comm /= 0 .and. keyval /= 0 .and. extra_state == 3 .and. value /= 99)
  end subroutine erase

  subroutine note(comm, code)
    integer :: comm, code
    if (comm /= 0 .and. code /= 0) calls = calls + 1
  end subroutine note
end module old_functions

program old_names
  USE_MPI
  use old_functions
  implicit none
  INCLUDE_MPI
#if METHOD == 8
#define HANDLE(of) of%MPI_VAL
#else
#define HANDLE(of) of
#endif
  integer :: rank, ierror, wrong = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call own_functions
  call predefined_functions
  call called_directly
  call predefined_attributes
#if METHOD == 77
  call removed_types
  call removed_handlers
#endif
  call MPI_Finalize(ierror)
  if (wrong /= 0) error stop
contains
#include "see.fh"

  subroutine own_functions
    integer :: key, value, error, class
    integer(MPI_ADDRESS_KIND) :: wide
    logical :: flag
    COMM_T :: one, two
    call MPI_Keyval_create(copy, erase, key, 3, ierror)
    call see(ierror == MPI_SUCCESS .and. key /= MPI_KEYVAL_INVALID, 'MPI_Keyval_create')
    call MPI_Comm_dup(MPI_COMM_SELF, one, ierror)
    call MPI_Attr_get(HANDLE(one), key, value, flag, ierror)
    call see(.not. flag, 'an attribute that is not there')
    call MPI_Attr_put(HANDLE(one), key, 40, ierror)
    call MPI_Comm_dup(one, two, ierror)
    call MPI_Attr_get(HANDLE(two), key, value, flag, ierror)
    call see(flag .and. value == 43 .and. copies == 1, 'an attribute that was copied')
    call MPI_Comm_get_attr(two, key, wide, flag, ierror)
    call see(flag .and. wide == 43, 'the same for MPI_Comm_get_attr')
    call MPI_Attr_put(HANDLE(two), key, -2, ierror)
    call see(deletes == 1, 'a new value deletes the old one')
    call MPI_Attr_get(HANDLE(two), key, value, flag, ierror)
    call see(flag .and. value == -2, 'a negative value')
    call MPI_Comm_free(one, ierror)
    call MPI_Comm_dup(two, one, ierror)
    call MPI_Attr_get(HANDLE(one), key, value, flag, ierror)
    call see(.not. flag .and. copies == 2, 'an attribute that is not copied')
    call MPI_Attr_delete(HANDLE(two), key, ierror)
    call see(deletes == 3, 'how often values were deleted')
    ! A delete function that fails makes the call fail, and the attribute stays.
    call MPI_Comm_set_errhandler(two, MPI_ERRORS_RETURN, error)
    call MPI_Attr_put(HANDLE(two), key, 99, ierror)
    call MPI_Attr_delete(HANDLE(two), key, ierror)
    call see(ierror /= MPI_SUCCESS, 'a delete function that fails')
    call MPI_Attr_get(HANDLE(two), key, value, flag, error)
    call see(flag .and. value == 99, 'an attribute whose delete function failed')
    call MPI_Error_class(ierror, class, error)
    call MPI_Comm_free(one, ierror)
    call MPI_Keyval_free(key, ierror)
    call see(key == MPI_KEYVAL_INVALID, 'MPI_Keyval_free')
  end subroutine own_functions

  subroutine predefined_functions
    integer :: dup_key, null_key, value
    logical :: flag
    COMM_T :: one, two
    call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, dup_key, 0, ierror)
    call MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, null_key, 0, ierror)
    call MPI_Comm_dup(MPI_COMM_SELF, one, ierror)
    call MPI_Attr_put(HANDLE(one), dup_key, int(huge(1_4)), ierror)
    call MPI_Attr_put(HANDLE(one), null_key, 8, ierror)
    call MPI_Comm_dup(one, two, ierror)
    call MPI_Attr_get(HANDLE(two), dup_key, value, flag, ierror)
    call see(flag .and. value == int(huge(1_4)), 'MPI_DUP_FN')
    call MPI_Attr_get(HANDLE(two), null_key, value, flag, ierror)
    call see(.not. flag, 'MPI_NULL_COPY_FN')
    call MPI_Comm_free(one, ierror)
    call MPI_Comm_free(two, ierror)
    call MPI_Keyval_free(dup_key, ierror)
    call MPI_Keyval_free(null_key, ierror)
  end subroutine predefined_functions

  ! They are procedures, which a program's own function may call.
  subroutine called_directly
    integer :: value, code
    integer(MPI_ADDRESS_KIND) :: wide
    integer(MPI_ADDRESS_KIND), parameter :: large = 2_MPI_ADDRESS_KIND**40
    logical :: flag
    value = 0
    flag = .false.
    code = -1
    call MPI_DUP_FN(HANDLE(MPI_COMM_SELF), 5, 0, 17, value, flag, code)
    call see(flag .and. value == 17 .and. code == MPI_SUCCESS, 'a call of MPI_DUP_FN')
    call MPI_NULL_COPY_FN(HANDLE(MPI_COMM_SELF), 5, 0, 18, value, flag, code)
    call see(.not. flag .and. value == 17 .and. code == MPI_SUCCESS, 'a call of MPI_NULL_COPY_FN')
    code = -1
    call MPI_NULL_DELETE_FN(HANDLE(MPI_COMM_SELF), 5, 17, 0, code)
    call see(code == MPI_SUCCESS, 'a call of MPI_NULL_DELETE_FN')
    wide = 0
    call MPI_TYPE_DUP_FN(MPI_INTEGER, 5, 0_MPI_ADDRESS_KIND, large, wide, flag, code)
    call see(flag .and. wide == large .and. code == MPI_SUCCESS, 'a call of MPI_TYPE_DUP_FN')
    call MPI_WIN_NULL_COPY_FN(MPI_WIN_NULL, 5, 0_MPI_ADDRESS_KIND, 3_MPI_ADDRESS_KIND, wide, flag, code)
    call see(.not. flag .and. wide == large, 'a call of MPI_WIN_NULL_COPY_FN')
    call MPI_COMM_NULL_DELETE_FN(MPI_COMM_SELF, 5, 0_MPI_ADDRESS_KIND, 3_MPI_ADDRESS_KIND, code)
    call see(code == MPI_SUCCESS, 'a call of MPI_COMM_NULL_DELETE_FN')
  end subroutine called_directly

  subroutine predefined_attributes
    integer :: value
    logical :: flag
    call MPI_Attr_get(HANDLE(MPI_COMM_WORLD), MPI_TAG_UB, value, flag, ierror)
    call see(flag .and. value >= 32767, 'MPI_TAG_UB')
    call MPI_Attr_get(HANDLE(MPI_COMM_WORLD), MPI_WTIME_IS_GLOBAL, value, flag, ierror)
    call see(flag .and. (value == 0 .or. value == 1), 'MPI_WTIME_IS_GLOBAL')
    call MPI_Attr_get(HANDLE(MPI_COMM_WORLD), MPI_IO, value, flag, ierror)
    call see(flag .and. (value == MPI_ANY_SOURCE .or. value >= 0), 'MPI_IO')
  end subroutine predefined_attributes

#if METHOD == 77
  ! Displacements and extents are INTEGERs of the default kind; addresses of 4 bytes are told to be too small.
  subroutine removed_types
    integer :: made, pieces(2), lengths(2), kinds(2), extent, lower, upper, a(8), b(8), i, place, class, error
    integer :: unit
    unit = storage_size(i) / 8
    a = [(i, i = 1, 8)]
    b = 0
    call MPI_TYPE_HVECTOR(4, 1, 2 * unit, MPI_INTEGER, made, ierror)
    call MPI_TYPE_EXTENT(made, extent, ierror)
    call MPI_TYPE_LB(made, lower, ierror)
    call MPI_TYPE_UB(made, upper, ierror)
    call see(extent == 7 * unit .and. lower == 0 .and. upper == 7 * unit, 'bounds of MPI_TYPE_HVECTOR')
    call MPI_TYPE_COMMIT(made, ierror)
    call MPI_SENDRECV(a, 1, made, 0, 1, b, 1, made, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
    call see(all(b == [1, 0, 3, 0, 5, 0, 7, 0]), 'MPI_TYPE_HVECTOR')
    call MPI_TYPE_FREE(made, ierror)
    lengths = [1, 2]
    pieces = [6 * unit, unit]
    call MPI_TYPE_HINDEXED(2, lengths, pieces, MPI_INTEGER, made, ierror)
    call MPI_TYPE_COMMIT(made, ierror)
    call MPI_TYPE_LB(made, lower, ierror)
    call see(lower == unit, 'the lower bound of MPI_TYPE_HINDEXED')
    b = 0
    call MPI_SENDRECV(a, 1, made, 0, 1, b, 3, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
    call see(all(b(1:3) == [7, 2, 3]), 'MPI_TYPE_HINDEXED')
    call MPI_TYPE_FREE(made, ierror)
    kinds = [MPI_INTEGER, MPI_INTEGER]
    call MPI_TYPE_STRUCT(2, lengths, pieces, kinds, made, ierror)
    call MPI_TYPE_COMMIT(made, ierror)
    b = 0
    call MPI_SENDRECV(a, 1, made, 0, 1, b, 3, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
    call see(all(b(1:3) == [7, 2, 3]), 'MPI_TYPE_STRUCT')
    call MPI_TYPE_FREE(made, ierror)
    call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
    call MPI_COMM_SET_ERRHANDLER(MPI_COMM_SELF, MPI_ERRORS_RETURN, error)
    call MPI_ADDRESS(a, place, ierror)
    call MPI_ERROR_CLASS(ierror, class, error)
    call see(ierror == MPI_SUCCESS .or. (class == MPI_ERR_ARG .and. unit == 4), 'MPI_ADDRESS')
    call MPI_ADDRESS(MPI_BOTTOM, place, ierror)
    call see(ierror == MPI_SUCCESS .and. place == 0, 'MPI_ADDRESS of MPI_BOTTOM')
  end subroutine removed_types

  subroutine removed_handlers
    integer :: handler, got, error
    call MPI_ERRHANDLER_CREATE(note, handler, ierror)
    call MPI_ERRHANDLER_SET(MPI_COMM_SELF, handler, ierror)
    call MPI_ERRHANDLER_GET(MPI_COMM_SELF, got, ierror)
    call see(got == handler, 'MPI_ERRHANDLER_GET')
    call MPI_SEND(rank, 1, MPI_INTEGER, 7, 0, MPI_COMM_SELF, error)
    call see(calls == 1 .and. error /= MPI_SUCCESS, 'MPI_ERRHANDLER_SET')
    call MPI_ERRHANDLER_SET(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, ierror)
    call MPI_ERRHANDLER_FREE(handler, ierror)
    call MPI_ERRHANDLER_FREE(got, ierror)
  end subroutine removed_handlers
#endif
end program old_names
