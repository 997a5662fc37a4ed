! CHARACTER arguments: which blanks count, how results are filled, results that are too long, lengths that are asked for first.
#include "method.fh"
program strings
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: rank, ierror, wrong = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call infos
  call cut_results
  call handshake
  call copies_of_infos
  call names
  call long_names
  call versions
  call services
  call MPI_Finalize(ierror)
  if (wrong /= 0) error stop
contains
#include "see.fh"

  ! Blanks at both ends of a key and of a value are no part of them; those between are.
  subroutine infos
    INFO_T :: info
    character(len=30) :: value
    character(len=MPI_MAX_INFO_KEY) :: key
    integer :: keys, length, i
    logical :: flag
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, '  one key ', '   a value  ', ierror)
    call MPI_Info_set(info, 'second', repeat('x', 25), ierror)
    call MPI_Info_get_nkeys(info, keys, ierror)
    call see(keys == 2, 'MPI_Info_get_nkeys')
    do i = 0, 1 ! keys count from zero, as in C
      key = repeat('#', len(key))
      call MPI_Info_get_nthkey(info, i, key, ierror)
      call see(key == 'one key' .or. key == 'second', 'MPI_Info_get_nthkey: ' // key)
    end do
    call MPI_Info_get_valuelen(info, 'one key', length, flag, ierror)
    call see(flag .and. length == 7, 'MPI_Info_get_valuelen')
    value = repeat('#', 30)
    call MPI_Info_get(info, 'one key ', 30, value, flag, ierror)
    call see(flag .and. value == 'a value', 'MPI_Info_get: ' // value)
    value = repeat('#', 30)
    flag = .true.
    call MPI_Info_get(info, 'third', 30, value, flag, ierror)
    call see(.not. flag .and. value == repeat('#', 30), 'a key that is not there')
    call MPI_Info_delete(info, ' second ', ierror)
    call MPI_Info_get_nkeys(info, keys, ierror)
    call see(keys == 1, 'MPI_Info_delete')
    call MPI_Info_free(info, ierror)
    call see(info == MPI_INFO_NULL, 'the handle of a freed info')
  end subroutine infos

  ! A variable that is shorter than the value takes what it has room for, and nothing behind it changes.
  subroutine cut_results
    INFO_T :: info
    character(len=12) :: text
    logical :: flag
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'key', 'abcdefghij', ierror)
    text = repeat('#', 12)
    call MPI_Info_get(info, 'key', 4, text(3:6), flag, ierror)
    call see(flag .and. text == '##abcd######', 'MPI_Info_get with a short value: ' // text)
    text = repeat('#', 12)
    call MPI_Info_get(info, 'key', 2, text, flag, ierror)
    call see(flag .and. text(1:2) == 'ab' .and. index(text(3:), 'c') == 0, 'MPI_Info_get with a small valuelen: ' // text)
    call MPI_Info_free(info, ierror)
  end subroutine cut_results

  ! The first call asks for the length alone, the second gives as many characters: without C's last one in both.
  subroutine handshake
    INFO_T :: info
    character(len=20) :: text
    integer :: length
    logical :: flag
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'key', 'abcdefghij', ierror)
    text = repeat('#', 20)
    length = 0
    call MPI_Info_get_string(info, 'key', length, text, flag, ierror)
    call see(flag .and. length == 10 .and. text == repeat('#', 20), 'the length of a string that is asked for')
    call MPI_Info_get_string(info, 'key', length, text, flag, ierror)
    call see(flag .and. length == 10 .and. text == 'abcdefghij', 'a string of the length that was asked for: ' // text)
    text = repeat('#', 20)
    length = 4
    call MPI_Info_get_string(info, 'key', length, text, flag, ierror)
    call see(flag .and. length == 10 .and. text(1:4) == 'abcd' .and. index(text, 'e') == 0, 'a part of a string: ' // text)
    text = repeat('#', 20)
    length = 100
    call MPI_Info_get_string(info, 'key', length, text(1:6), flag, ierror)
    call see(flag .and. length == 10 .and. text == 'abcdef' // repeat('#', 14), 'a string in a short variable: ' // text)
    length = 20
    flag = .true.
    text = repeat('#', 20)
    call MPI_Info_get_string(info, 'other', length, text, flag, ierror)
    call see(.not. flag .and. text == repeat('#', 20) .and. length == 20, 'the string of a key that is not there')
    call MPI_Info_free(info, ierror)
  end subroutine handshake

  subroutine copies_of_infos
    INFO_T :: info, copy
    COMM_T :: comm
    character(len=10) :: value
    logical :: flag
    integer :: keys
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'a', '1', ierror)
    call MPI_Info_dup(info, copy, ierror)
    call MPI_Info_set(info, 'a', '2', ierror)
    call MPI_Info_get(copy, 'a', 10, value, flag, ierror)
    call see(flag .and. value == '1' .and. copy /= info, 'MPI_Info_dup')
    call MPI_Info_free(copy, ierror)
    call MPI_Comm_dup_with_info(MPI_COMM_SELF, info, comm, ierror)
    call MPI_Comm_get_info(comm, copy, ierror)
    call see(copy /= MPI_INFO_NULL, 'MPI_Comm_get_info')
    call MPI_Info_free(copy, ierror)
    call MPI_Comm_free(comm, ierror)
    call MPI_Info_get_nkeys(MPI_INFO_ENV, keys, ierror)
    call see(ierror == MPI_SUCCESS .and. keys >= 0, 'MPI_INFO_ENV')
    call MPI_Info_free(info, ierror)
  end subroutine copies_of_infos

  subroutine names
    COMM_T :: comm
    DATATYPE_T :: datatype
    character(len=MPI_MAX_OBJECT_NAME) :: name
    integer :: length
    name = repeat('#', len(name))
    call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, ierror)
    call see(length == 14 .and. name == 'MPI_COMM_WORLD', 'the name of MPI_COMM_WORLD')
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call MPI_Comm_get_name(comm, name, length, ierror)
    call see(length == 0 .and. name == ' ', 'a communicator without a name')
    call MPI_Comm_set_name(comm, ' in front   ', ierror)
    name = repeat('#', len(name))
    call MPI_Comm_get_name(comm, name, length, ierror)
    call see(length == 9 .and. name == ' in front', 'blanks in front of a name: ' // name(1:12))
    call MPI_Comm_free(comm, ierror)
    call MPI_Type_get_name(MPI_DOUBLE_PRECISION, name, length, ierror)
    call see(length == 20 .and. name == 'MPI_DOUBLE_PRECISION', 'the name of a datatype')
    call MPI_Type_dup(MPI_REAL, datatype, ierror)
    call MPI_Type_set_name(datatype, ' ', ierror)
    call MPI_Type_get_name(datatype, name, length, ierror)
    call see(length == 0 .and. name == ' ', 'a name of blanks')
    call MPI_Type_free(datatype, ierror)
  end subroutine names

  ! A name of as many characters as there is room for.
  subroutine long_names
    COMM_T :: comm
    character(len=MPI_MAX_OBJECT_NAME) :: name, got
    integer :: length
    name = repeat('n', len(name))
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
    call MPI_Comm_set_name(comm, name, ierror)
    call see(ierror == MPI_SUCCESS, 'the longest name')
    got = ' '
    call MPI_Comm_get_name(comm, got, length, ierror)
    call see(length == len(name) .and. got == name, 'the longest name comes back')
    call MPI_Comm_free(comm, ierror)
  end subroutine long_names

  subroutine versions
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: text
    character(len=MPI_MAX_PROCESSOR_NAME) :: host
    integer :: length, version, subversion
    text = repeat('#', len(text))
    call MPI_Get_library_version(text, length, ierror)
    call see(length > 3 .and. len_trim(text) == length .and. index(text, '##') == 0, 'MPI_Get_library_version')
    host = repeat('#', len(host))
    call MPI_Get_processor_name(host, length, ierror)
    call see(length > 0 .and. len_trim(host) == length .and. index(host, '#') == 0, 'MPI_Get_processor_name')
    call MPI_Get_version(version, subversion, ierror)
    call see(version == MPI_VERSION .and. subversion == MPI_SUBVERSION, 'MPI_Get_version')
    call MPI_Abi_get_version(version, subversion, ierror)
    call see(version == 1 .and. version == MPI_ABI_VERSION .and. subversion == MPI_ABI_SUBVERSION, 'MPI_Abi_get_version')
  end subroutine versions

  ! Names of services and ports, in the words of the program.
  subroutine services
    character(len=MPI_MAX_PORT_NAME) :: port, found
    character(len=40) :: service
    integer :: class, error
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, error)
    write (service, '(a,i0)') 'fortran-service-', rank
    port = repeat('#', len(port))
    call MPI_Open_port(MPI_INFO_NULL, port, ierror)
    call see(ierror == MPI_SUCCESS .and. len_trim(port) > 0 .and. index(port, '##') == 0, 'MPI_Open_port')
    call MPI_Publish_name(service, MPI_INFO_NULL, port, ierror)
    call see(ierror == MPI_SUCCESS, 'MPI_Publish_name')
    found = repeat('#', len(found))
    call MPI_Lookup_name(service, MPI_INFO_NULL, found, ierror)
    call see(ierror == MPI_SUCCESS .and. found == port, 'MPI_Lookup_name')
    call MPI_Unpublish_name(trim(service), MPI_INFO_NULL, port, ierror)
    call see(ierror == MPI_SUCCESS, 'MPI_Unpublish_name')
    call MPI_Lookup_name(service, MPI_INFO_NULL, found, ierror)
    call MPI_Error_class(ierror, class, error)
    call see(class == MPI_ERR_NAME, 'a name that nobody publishes')
    call MPI_Close_port(port, ierror)
    call see(ierror == MPI_SUCCESS, 'MPI_Close_port')
  end subroutine services
end program strings
