! Errors in Fortran: classes, codes and texts that a program adds and takes back, handlers that are predefined, texts that are
! filled with blanks.
#include "method.fh"
module error_handlers
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: calls = 0, last = 0
contains
  subroutine note(comm, error_code)
    COMM_T :: comm
    integer :: error_code
    if (comm /= MPI_COMM_NULL) calls = calls + 1
    last = error_code
  end subroutine note
end module error_handlers

program errors
  use error_handlers
  implicit none
  integer :: rank, ierror, wrong = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call texts
  call own_classes
  call taken_back
  call handlers
  call predefined_handlers
  call MPI_Finalize(ierror)
  if (wrong /= 0) error stop
contains
#include "see.fh"

  subroutine texts
    character(len=MPI_MAX_ERROR_STRING) :: text
    integer :: length, class
    text = repeat('#', len(text))
    call MPI_Error_string(MPI_ERR_TAG, text, length, ierror)
    call see(length > 0 .and. length < len(text), 'the length of a text')
    call see(len_trim(text) == length .and. index(text, '#') == 0, 'blanks behind a text')
    call MPI_Error_class(MPI_ERR_TAG, class, ierror)
    call see(class == MPI_ERR_TAG, 'the class of a class')
    call see(MPI_MAX_ERROR_STRING > 100, 'MPI_MAX_ERROR_STRING')
  end subroutine texts

  ! Blanks at the end of a text are no part of it, blanks in front are.
  subroutine own_classes
    character(len=MPI_MAX_ERROR_STRING) :: text
    integer :: class, code, of, length
    integer(MPI_ADDRESS_KIND) :: used
    logical :: flag
    call MPI_Add_error_class(class, ierror)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, used, flag, ierror)
    call see(flag .and. used == class .and. class > MPI_ERR_LASTCODE, 'MPI_LASTUSEDCODE after a new class')
    call MPI_Add_error_code(class, code, ierror)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, used, flag, ierror)
    call see(flag .and. used == code, 'MPI_LASTUSEDCODE after a new code')
    call MPI_Error_class(code, of, ierror)
    call see(of == class, 'the class of a new code')
    call MPI_Error_string(code, text, length, ierror)
    call see(length == 0 .and. text == ' ', 'the text of a new code')
    call MPI_Add_error_string(class, 'a class of ours   ', ierror)
    call MPI_Add_error_string(code, ' a code of ours', ierror)
    call MPI_Error_string(class, text, length, ierror)
    call see(length == 15 .and. text == 'a class of ours', 'the text of a class of the program')
    call MPI_Error_string(code, text, length, ierror)
    call see(length == 15 .and. text == ' a code of ours', 'the text of a code of the program')
    call MPI_Remove_error_string(code, ierror)
    call MPI_Error_string(code, text, length, ierror)
    call see(length == 0 .and. text == ' ', 'a text that was taken back')
    call MPI_Remove_error_string(class, ierror)
    call MPI_Remove_error_code(code, ierror)
    call MPI_Remove_error_class(class, ierror)
    call see(ierror == MPI_SUCCESS, 'a class that is taken back')
  end subroutine own_classes

  subroutine taken_back
    integer :: class, error
    ERRHANDLER_T :: before
    call MPI_Comm_get_errhandler(MPI_COMM_SELF, before, error)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, error)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
    call MPI_Remove_error_class(MPI_ERR_TAG, ierror)
    call MPI_Error_class(ierror, class, error)
    call see(class == MPI_ERR_ARG, 'a predefined class is not taken back')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, before, error)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, before, error)
    call MPI_Errhandler_free(before, error)
    call see(before == MPI_ERRHANDLER_NULL, 'the handle of a freed error handler')
  end subroutine taken_back

  ! A handler that one asks for is the one that was set; it lives until the last who has it frees it.
  subroutine handlers
    ERRHANDLER_T :: mine, got
    COMM_T :: copy
    integer :: class, error
    call MPI_Comm_create_errhandler(note, mine, ierror)
    call MPI_Comm_dup(MPI_COMM_SELF, copy, ierror)
    call MPI_Comm_set_errhandler(copy, mine, ierror)
    call MPI_Comm_get_errhandler(copy, got, ierror)
    call see(got == mine, 'the handler that was set')
    call MPI_Errhandler_free(mine, ierror)
    call MPI_Errhandler_free(got, ierror)
    call MPI_Comm_call_errhandler(copy, MPI_ERR_OTHER, ierror)
    call see(ierror == MPI_SUCCESS .and. calls == 1 .and. last == MPI_ERR_OTHER, 'MPI_Comm_call_errhandler')
    call MPI_Send(calls, 1, MPI_INTEGER, 5, 0, copy, ierror)
    call MPI_Error_class(ierror, class, error)
    call see(calls == 2 .and. last == ierror .and. class == MPI_ERR_RANK, 'the handler of a send')
    call MPI_Send(calls, 1, MPI_INTEGER, 0, -3, copy, ierror)
    call MPI_Error_class(last, class, error)
    call see(calls == 3 .and. class == MPI_ERR_TAG, 'the handler of another send')
    call MPI_Comm_free(copy, ierror)
  end subroutine handlers

  subroutine predefined_handlers
    ERRHANDLER_T :: got
    COMM_T :: copy
    integer :: error
    call MPI_Comm_dup(MPI_COMM_SELF, copy, ierror)
    call MPI_Comm_get_errhandler(copy, got, ierror)
    call see(got == MPI_ERRORS_ARE_FATAL, 'the handler of a communicator that has none of its own')
    call MPI_Comm_set_errhandler(copy, MPI_ERRORS_ABORT, ierror)
    call MPI_Comm_get_errhandler(copy, got, ierror)
    call see(got == MPI_ERRORS_ABORT, 'MPI_ERRORS_ABORT')
    call MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN, ierror)
    call MPI_Comm_get_errhandler(copy, got, ierror)
    call see(got == MPI_ERRORS_RETURN .and. got /= MPI_ERRHANDLER_NULL, 'MPI_ERRORS_RETURN')
    call MPI_Errhandler_free(got, error)
    call MPI_Comm_free(copy, ierror)
  end subroutine predefined_handlers
end program errors
