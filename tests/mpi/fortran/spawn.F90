! Programs that a Fortran program starts: their arguments, how many there are, what is said of those that did not start. A started
! process looks at its arguments, and sends back how many things were wrong.
#include "method.fh"
program spawn
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, parameter :: root = 0
  integer :: rank, size, ierror, wrong = 0
  COMM_T :: parent
  character(len=300) :: path
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call MPI_Comm_get_parent(parent, ierror)
  call get_command_argument(0, path)
  if (parent == MPI_COMM_NULL) then
    call one_command
    call no_arguments
    call several_commands
    call several_without_arguments
    call nothing_to_start
  else
    call started
  end if
  call MPI_Finalize(ierror)
  if (wrong /= 0) error stop
contains
#include "see.fh"

  ! Blanks at both ends are no part of an argument, those between words are; a row of blanks is the end.
  subroutine one_command
    character(len=20) :: arguments(5)
    character(len=300) :: command
    integer :: codes(3)
    COMM_T :: children
    arguments = [character(len=20) :: 'one', '  two words', '-x  ', ' ', 'not this']
    command = path
    if (rank /= root) then ! arguments of others are not looked at
      arguments = 'wrong'
      command = 'no-such-program'
    end if
    codes = -77
    call MPI_Comm_spawn(command, arguments, merge(2, -5, rank == root), MPI_INFO_NULL, root, MPI_COMM_WORLD, children, &
                        codes, ierror)
    call see(ierror == MPI_SUCCESS .and. all(codes(1:2) == MPI_SUCCESS) .and. codes(3) == -77, 'codes of MPI_Comm_spawn')
    call meet(children, 2)
  end subroutine one_command

  subroutine no_arguments
    COMM_T :: children
    call MPI_Comm_spawn(path, MPI_ARGV_NULL, 1, MPI_INFO_NULL, root, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE, ierror)
    call meet(children, 1)
  end subroutine no_arguments

  ! The arguments of a command are a row, whose elements lie apart.
  subroutine several_commands
    character(len=300) :: commands(2)
    character(len=9) :: arguments(2, 3)
    integer :: codes(3)
    COMM_T :: children
    INFO_T :: infos(2)
    commands = path
    if (rank /= root) commands = 'wrong'
    arguments(1, :) = [character(len=9) :: 'first', ' ', 'no']
    arguments(2, :) = [character(len=9) :: 'second', 'more', ' ']
    infos = MPI_INFO_NULL
    codes = -77
    call MPI_Comm_spawn_multiple(merge(2, -1, rank == root), commands, arguments, [1, 2], infos, root, &
                                 MPI_COMM_WORLD, children, codes, ierror)
    call see(ierror == MPI_SUCCESS .and. all(codes == MPI_SUCCESS), 'codes of MPI_Comm_spawn_multiple')
    call meet(children, 3)
  end subroutine several_commands

  subroutine several_without_arguments
    character(len=300) :: commands(2)
    COMM_T :: children
    INFO_T :: infos(2)
    commands = path
    infos = MPI_INFO_NULL
    call MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, [1, 1], infos, root, MPI_COMM_WORLD, children, &
                                 MPI_ERRCODES_IGNORE, ierror)
    call meet(children, 2)
  end subroutine several_without_arguments

  subroutine nothing_to_start
    integer :: codes(2), class, error
    COMM_T :: children
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
    codes = MPI_SUCCESS
    call MPI_Comm_spawn('/no/such/program  ', MPI_ARGV_NULL, 2, MPI_INFO_NULL, root, MPI_COMM_WORLD, children, codes, ierror)
    call MPI_Error_class(ierror, class, error)
    call see(class == MPI_ERR_SPAWN, 'the class of a command that is not there')
    call MPI_Error_class(codes(1), class, error)
    call see(class == MPI_ERR_SPAWN .and. codes(1) == codes(2), 'the codes of a command that is not there')
  end subroutine nothing_to_start

  ! The parents are the lower ranks of a common communicator.
  subroutine meet(children, expected)
    COMM_T, intent(inout) :: children
    integer, intent(in) :: expected
    COMM_T :: common
    integer :: i, many, sum, faults
    logical :: flag
    call MPI_Comm_test_inter(children, flag, ierror)
    call MPI_Comm_remote_size(children, many, ierror)
    call see(flag .and. many == expected, 'how many were started')
    call MPI_Intercomm_merge(children, .false., common, ierror)
    call MPI_Comm_rank(common, i, ierror)
    call see(i == rank, 'the ranks of parents')
    call MPI_Allreduce(1, sum, 1, MPI_INTEGER, MPI_SUM, common, ierror)
    call see(sum == size + expected, 'parents and children')
    call MPI_Comm_free(common, ierror)
    if (rank == root) then
      do i = 0, many - 1
        call MPI_Recv(faults, 1, MPI_INTEGER, i, 5, children, MPI_STATUS_IGNORE, ierror)
        call see(faults == 0, 'a process that was started')
      end do
    end if
    call MPI_Comm_disconnect(children, ierror)
    call see(children == MPI_COMM_NULL, 'the handle after MPI_Comm_disconnect')
  end subroutine meet

  subroutine started
    COMM_T :: common
    character(len=20) :: argument
    integer :: arguments, sum, parents
    integer(MPI_ADDRESS_KIND) :: number
    logical :: flag
    arguments = command_argument_count()
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, number, flag, ierror)
    if (arguments > 0) then
      call get_command_argument(1, argument)
      select case (argument)
      case ('one')
        call see(arguments == 3, 'three arguments')
        call get_command_argument(2, argument)
        call see(argument == 'two words', 'an argument of two words: ' // argument)
        call get_command_argument(3, argument)
        call see(argument == '-x', 'the last argument: ' // argument)
      case ('first')
        call see(arguments == 1 .and. size == 3 .and. rank == 0 .and. flag .and. number == 0, 'the first command')
      case ('second')
        call get_command_argument(2, argument)
        call see(arguments == 2 .and. argument == 'more' .and. rank > 0 .and. flag .and. number == 1, 'the second command')
      case default
        call see(.false., 'an argument of nobody: ' // argument)
      end select
    end if
    call MPI_Comm_remote_size(parent, parents, ierror)
    call MPI_Intercomm_merge(parent, .true., common, ierror)
    call MPI_Allreduce(1, sum, 1, MPI_INTEGER, MPI_SUM, common, ierror)
    call see(sum == parents + size, 'children and parents')
    call MPI_Comm_free(common, ierror)
    call MPI_Send(wrong, 1, MPI_INTEGER, root, 5, parent, ierror)
    call MPI_Comm_disconnect(parent, ierror)
  end subroutine started
end program spawn
