! Procedures as arguments, of all kinds of objects and in each method, called by two threads of C's at once: reductions,
! error handlers of communicators, windows, files and sessions, attributes of windows and datatypes, generalized requests,
! data representations. Each thread has objects of its own, and counters of its own.
#include "method.fh"
#if METHOD == 8
#define BUFFER_T(name) type(c_ptr), value :: name
#else
#define BUFFER_T(name) integer :: name(*)
#endif
module callback_objects
  USE_MPI
  use, intrinsic :: iso_c_binding
  implicit none
  INCLUDE_MPI
  integer, parameter :: turns = 40
  COMM_T :: comms(2)
  WIN_T :: windows(2)
  FILE_T :: files(2)
  SESSION_T :: sessions(2)
  DATATYPE_T :: types(2)
  OP_T :: op
  integer :: type_key, window_key, ranks
  integer, dimension(2) :: of_comm = 0, of_window = 0, of_file = 0, of_session = 0, copies = 0, deletes = 0
  integer, dimension(2) :: queries = 0, releases = 0, cancels = 0, wrong = 0
  integer :: memory(4, 2)
contains
  subroutine see(thread, right, what)
    integer, intent(in) :: thread
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    wrong(thread) = wrong(thread) + 1
    if (wrong(thread) < 5) print '(a,i0,2a)', 'thread ', thread, ': ', what
  end subroutine see

  ! The sum modulo 1000, which no predefined operation is.
  subroutine add(invec, inoutvec, len, datatype)
    BUFFER_T(invec)
    BUFFER_T(inoutvec)
    integer :: len
    DATATYPE_T :: datatype
#if METHOD == 8
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    call sum_up(a, b, len, datatype)
#else
    call sum_up(invec, inoutvec, len, datatype)
#endif
  end subroutine add

  subroutine sum_up(a, b, n, datatype)
    integer, intent(in) :: a(*), n
    integer, intent(inout) :: b(*)
    DATATYPE_T, intent(in) :: datatype
    b(1:n) = merge(mod(a(1:n) + b(1:n), 1000), -1, datatype == MPI_INTEGER)
  end subroutine sum_up

#define HANDLER comm_failed
#define OBJECT_T COMM_T
#define OBJECTS comms
#define CALLED of_comm
#include "handler.fh"
#define HANDLER window_failed
#define OBJECT_T WIN_T
#define OBJECTS windows
#define CALLED of_window
#include "handler.fh"
#define HANDLER file_failed
#define OBJECT_T FILE_T
#define OBJECTS files
#define CALLED of_file
#include "handler.fh"
#define HANDLER session_failed
#define OBJECT_T SESSION_T
#define OBJECTS sessions
#define CALLED of_session
#include "handler.fh"

  ! Attributes are the numbers of their threads.
  subroutine copy_type(oldtype, keyval, extra_state, value_in, value_out, flag, ierror)
    DATATYPE_T :: oldtype
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, value_in, value_out
    logical :: flag
    call see(int(value_in), oldtype == types(value_in) .and. keyval == type_key .and. extra_state == 77, 'a copy function')
    copies(value_in) = copies(value_in) + 1
    value_out = value_in
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine copy_type

  subroutine delete_type(datatype, keyval, value, extra_state, ierror)
    DATATYPE_T :: datatype
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra_state
    call see(int(value), datatype /= MPI_DATATYPE_NULL .and. keyval == type_key .and. extra_state == 77, 'a delete function')
    deletes(value) = deletes(value) + 1
    ierror = MPI_SUCCESS
  end subroutine delete_type

  subroutine delete_window(win, keyval, value, extra_state, ierror)
    WIN_T :: win
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra_state
    call see(int(value), win == windows(value) .and. keyval == window_key .and. extra_state == 78, 'one of windows')
    deletes(value) = deletes(value) + 1
    ierror = MPI_SUCCESS
  end subroutine delete_window

  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    STATUS_T(status)
    integer :: ierror
    queries(extra_state) = queries(extra_state) + 1
    call MPI_Status_set_elements(status, MPI_INTEGER, 5, ierror)
    call MPI_Status_set_cancelled(status, .true., ierror)
    SOURCE_OF(status) = int(extra_state)
    ierror = MPI_SUCCESS
  end subroutine query

  subroutine release(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    releases(extra_state) = releases(extra_state) + 1
    ierror = MPI_SUCCESS
  end subroutine release

  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    call see(int(extra_state), .not. complete, 'a request that is not complete is cancelled')
    cancels(extra_state) = cancels(extra_state) + 1
    ierror = MPI_SUCCESS
  end subroutine cancel

  ! In the file stands the negative.
  subroutine negate(from, to, count, datatype, extra_state, ierror)
    integer, intent(in) :: from(*), count
    integer, intent(inout) :: to(*)
    DATATYPE_T, intent(in) :: datatype
    integer(MPI_ADDRESS_KIND), intent(in) :: extra_state
    integer, intent(out) :: ierror
    ierror = merge(MPI_SUCCESS, MPI_ERR_CONVERSION, datatype == MPI_INTEGER .and. extra_state == 79)
    to(1:count) = -from(1:count)
  end subroutine negate

  ! The buffers are addresses in mpi_f08, and arrays elsewhere.
  subroutine from_file(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    BUFFER_T(userbuf)
    BUFFER_T(filebuf)
    DATATYPE_T :: datatype
    integer :: count, ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
#if METHOD == 8
    integer, pointer :: user(:), file(:)
    call c_f_pointer(userbuf, user, [int(position) + count])
    call c_f_pointer(filebuf, file, [count])
    call negate(file, user(position + 1:), count, datatype, extra_state, ierror)
#else
    call negate(filebuf, userbuf(position + 1), count, datatype, extra_state, ierror)
#endif
  end subroutine from_file

  subroutine to_file(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    BUFFER_T(userbuf)
    BUFFER_T(filebuf)
    DATATYPE_T :: datatype
    integer :: count, ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
#if METHOD == 8
    integer, pointer :: user(:), file(:)
    call c_f_pointer(userbuf, user, [int(position) + count])
    call c_f_pointer(filebuf, file, [count])
    call negate(user(position + 1:), file, count, datatype, extra_state, ierror)
#else
    call negate(userbuf(position + 1), filebuf, count, datatype, extra_state, ierror)
#endif
  end subroutine to_file

  subroutine extent_in_file(datatype, extent, extra_state, ierror)
    DATATYPE_T :: datatype
    integer(MPI_ADDRESS_KIND) :: extent, extra_state
    integer :: ierror
    extent = storage_size(0) / 8
    ierror = merge(MPI_SUCCESS, MPI_ERR_TYPE, datatype == MPI_INTEGER .and. extra_state == 79)
  end subroutine extent_in_file

  subroutine body(number) bind(c)
    integer(c_int), value :: number
    integer :: me, turn
    me = int(number)
    do turn = 1, turns
      call reduce(me, turn)
      call fail(me)
      call attributes(me)
      call request(me)
      call convert(me, turn)
    end do
  end subroutine body

  subroutine reduce(me, turn)
    integer, intent(in) :: me, turn
    integer :: mine(3), all(3), ierror
    mine = 300 + me + turn
    call MPI_Allreduce(mine, all, 3, MPI_INTEGER, op, comms(me), ierror)
    call see(me, ierror == MPI_SUCCESS .and. all(1) == mod(ranks * mine(1), 1000) .and. all(3) == all(1), 'a reduction')
  end subroutine reduce

  ! Errors of the library, and one that the program itself gives to the handler.
  subroutine fail(me)
    integer, intent(in) :: me
    integer :: data(2), ierror
    data = 0
    call MPI_Send(data, -1, MPI_INTEGER, 0, 0, comms(me), ierror)
    call see(me, ierror /= MPI_SUCCESS, 'a send that fails')
    call MPI_Put(data, -1, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, windows(me), ierror)
    call see(me, ierror /= MPI_SUCCESS, 'a put that fails')
    call MPI_File_write_at(files(me), 0_MPI_OFFSET_KIND, data, -1, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call see(me, ierror /= MPI_SUCCESS, 'a write that fails')
    call MPI_Session_call_errhandler(sessions(me), MPI_ERR_OTHER, ierror)
    call MPI_Win_call_errhandler(windows(me), MPI_ERR_OTHER, ierror)
    call MPI_File_call_errhandler(files(me), MPI_ERR_OTHER, ierror)
  end subroutine fail

  subroutine attributes(me)
    integer, intent(in) :: me
    DATATYPE_T :: copy
    integer :: ierror
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Type_dup(types(me), copy, ierror)
    call MPI_Type_get_attr(copy, type_key, value, flag, ierror)
    call see(me, flag .and. value == me, 'an attribute of a datatype')
    call MPI_Type_free(copy, ierror)
    value = me
    call MPI_Win_set_attr(windows(me), window_key, value, ierror)
    call MPI_Win_delete_attr(windows(me), window_key, ierror)
  end subroutine attributes

  subroutine request(me)
    integer, intent(in) :: me
    REQUEST_T :: made
    STATUS_T(status)
    integer :: n, ierror
    logical :: cancelled
    call MPI_Grequest_start(query, release, cancel, int(me, MPI_ADDRESS_KIND), made, ierror)
    call MPI_Cancel(made, ierror)
    call MPI_Grequest_complete(made, ierror)
    call MPI_Wait(made, status, ierror)
    call MPI_Get_count(status, MPI_INTEGER, n, ierror)
    call MPI_Test_cancelled(status, cancelled, ierror)
    call see(me, n == 5 .and. cancelled .and. SOURCE_OF(status) == me, 'a generalized request')
  end subroutine request

  subroutine convert(me, turn)
    integer, intent(in) :: me, turn
    integer :: out(50), in(50), i, ierror
    out = [(me * 1000 + turn + i, i = 1, 50)]
    call MPI_File_set_view(files(me), 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'negative', MPI_INFO_NULL, ierror)
    call see(me, ierror == MPI_SUCCESS, 'a view with a representation of the program')
    call MPI_File_write_at(files(me), 0_MPI_OFFSET_KIND, out, 50, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call see(me, ierror == MPI_SUCCESS, 'a write that is converted')
    call MPI_File_read_at(files(me), 0_MPI_OFFSET_KIND, in, 50, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call see(me, ierror == MPI_SUCCESS .and. all(in == out), 'what a conversion wrote and read')
    call MPI_File_set_view(files(me), 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierror)
    call MPI_File_read_at(files(me), 0_MPI_OFFSET_KIND, in, 50, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call see(me, ierror == MPI_SUCCESS .and. all(in == -out), 'what stands in the file')
  end subroutine convert

  subroutine make()
    ERRHANDLER_T :: of_comms, of_windows, of_files, of_sessions
    integer :: i, ierror
    integer(MPI_ADDRESS_KIND) :: value
    character(len=40) :: name
    interface
      integer(c_int) function getpid() bind(c)
        import :: c_int
      end function getpid
    end interface
    call MPI_Op_create(add, .true., op, ierror)
    call MPI_Comm_create_errhandler(comm_failed, of_comms, ierror)
    call MPI_Win_create_errhandler(window_failed, of_windows, ierror)
    call MPI_File_create_errhandler(file_failed, of_files, ierror)
    call MPI_Session_create_errhandler(session_failed, of_sessions, ierror)
    call MPI_Type_create_keyval(copy_type, delete_type, type_key, 77_MPI_ADDRESS_KIND, ierror)
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_window, window_key, 78_MPI_ADDRESS_KIND, ierror)
    call MPI_Register_datarep('negative', from_file, to_file, extent_in_file, 79_MPI_ADDRESS_KIND, ierror)
    do i = 1, 2
      call MPI_Comm_dup(MPI_COMM_WORLD, comms(i), ierror)
      call MPI_Comm_set_errhandler(comms(i), of_comms, ierror)
      call MPI_Win_create(memory(:, i), 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, windows(i), ierror)
      call MPI_Win_set_errhandler(windows(i), of_windows, ierror)
      call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, windows(i), ierror)
      write (name, '(a,i0,a,i0)') 'ashlar-callbacks-', getpid(), '-', i
      call MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &
                         files(i), ierror)
      call see(i, ierror == MPI_SUCCESS, 'a file is opened')
      call MPI_File_set_errhandler(files(i), of_files, ierror)
      call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, sessions(i), ierror)
      call MPI_Session_set_errhandler(sessions(i), of_sessions, ierror)
      call MPI_Type_contiguous(3, MPI_INTEGER, types(i), ierror)
      value = i
      call MPI_Type_set_attr(types(i), type_key, value, ierror)
    end do
    call MPI_Errhandler_free(of_comms, ierror)
    call MPI_Errhandler_free(of_windows, ierror)
    call MPI_Errhandler_free(of_files, ierror)
    call MPI_Errhandler_free(of_sessions, ierror)
  end subroutine make

  subroutine unmake()
    integer :: i, ierror
    do i = 1, 2
      call MPI_Comm_free(comms(i), ierror)
      call MPI_Win_unlock(0, windows(i), ierror)
      call MPI_Win_free(windows(i), ierror)
      call MPI_File_close(files(i), ierror)
      call MPI_Session_finalize(sessions(i), ierror)
      call MPI_Type_free(types(i), ierror)
    end do
    call MPI_Type_free_keyval(type_key, ierror)
    call MPI_Win_free_keyval(window_key, ierror)
    call MPI_Op_free(op, ierror)
  end subroutine unmake
end module callback_objects

program test_callback_objects
  use callback_objects
  implicit none
  interface
    integer(c_int) function on_two_threads(body) bind(c)
      import :: c_int, c_funptr
      type(c_funptr), value :: body
    end function on_two_threads
  end interface
  integer :: provided, ierror
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierror)
  call see(1, provided == MPI_THREAD_MULTIPLE, 'MPI_THREAD_MULTIPLE')
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call make()
  call see(1, on_two_threads(c_funloc(body)) == 1, 'two threads')
  call see(1, all(of_comm == turns), 'how often the handler of communicators was called')
  call see(1, all(of_window == 2 * turns), 'how often the handler of windows was called')
  call see(1, all(of_file == 2 * turns), 'how often the handler of files was called')
  call see(1, all(of_session == turns), 'how often the handler of sessions was called')
  call see(1, all(copies == turns) .and. all(deletes == 2 * turns), 'how often functions of attributes were called')
  call see(1, all(queries == turns) .and. all(releases == turns) .and. all(cancels == turns), 'functions of requests')
  call unmake()
  call see(1, all(deletes == 2 * turns + 1), 'delete functions at the end')
  call MPI_Finalize(ierror)
  if (any(wrong /= 0)) error stop
end program test_callback_objects
