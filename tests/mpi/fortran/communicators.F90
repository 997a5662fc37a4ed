! Groups and communicators in Fortran: lists of ranks and ranges, communicators between two groups with their roots, sessions and
! their sets of processes.
#include "method.fh"
program communicators
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: rank, size, ierror, wrong = 0
  SESSION_T :: session
  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierror)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call groups
  call ranges
  call made_of_groups
  call two_groups
  call nonblocking
  call sets_of_processes
  call buffers
  call MPI_Session_finalize(session, ierror)
  call see(session == MPI_SESSION_NULL, 'the handle of a session that has ended')
  call MPI_Finalize(ierror)
  if (wrong /= 0) error stop
contains
#include "see.fh"

  subroutine groups
    GROUP_T :: world, own, other, both
    integer :: i, many, result, ranks(size), found(size)
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierror)
    ranks = [(i, i = size - 1, 0, -1)]
    call MPI_Group_incl(world, size, ranks, own, ierror)
    call MPI_Group_rank(own, i, ierror)
    call see(i == size - 1 - rank, 'MPI_Group_rank')
    call MPI_Group_translate_ranks(own, size, [(i, i = 0, size - 1)], world, found, ierror)
    call see(all(found == ranks), 'MPI_Group_translate_ranks')
    call MPI_Group_compare(own, world, result, ierror)
    call see(result == merge(MPI_IDENT, MPI_SIMILAR, size == 1), 'MPI_Group_compare')
    call MPI_Group_excl(world, 1, [0], other, ierror)
    call MPI_Group_translate_ranks(world, 1, [0], other, found, ierror)
    call see(found(1) == MPI_UNDEFINED, 'a rank that is not there')
    call MPI_Group_union(other, own, both, ierror)
    call MPI_Group_size(both, many, ierror)
    call see(many == size, 'MPI_Group_union')
    call MPI_Group_free(both, ierror)
    call MPI_Group_difference(world, other, both, ierror)
    call MPI_Group_size(both, many, ierror)
    call see(many == 1, 'MPI_Group_difference')
    call MPI_Group_free(both, ierror)
    call MPI_Group_intersection(other, MPI_GROUP_EMPTY, both, ierror)
    call MPI_Group_size(both, many, ierror)
    call see(many == 0, 'MPI_Group_intersection')
    if (other /= MPI_GROUP_EMPTY) call MPI_Group_free(other, ierror)
    call MPI_Group_free(own, ierror)
    call MPI_Group_free(world, ierror)
  end subroutine groups

  ! A range is a column of three numbers.
  subroutine ranges
    GROUP_T :: world, made
    integer :: list(3, 2), many, first(1)
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierror)
    list(:, 1) = [size - 1, size - 1, 1]
    list(:, 2) = [0, size - 2, 2]
    call MPI_Group_range_incl(world, merge(2, 1, size > 1), list, made, ierror)
    call MPI_Group_size(made, many, ierror)
    call see(many == 1 + size / 2, 'MPI_Group_range_incl')
    call MPI_Group_translate_ranks(made, 1, [0], world, first, ierror)
    call see(first(1) == size - 1, 'the order of MPI_Group_range_incl')
    call MPI_Group_free(made, ierror)
    call MPI_Group_range_excl(world, 1, list, made, ierror)
    call MPI_Group_size(made, many, ierror)
    call see(many == size - 1, 'MPI_Group_range_excl')
    call MPI_Group_free(world, ierror)
  end subroutine ranges

  subroutine made_of_groups
    GROUP_T :: group
    COMM_T :: made
    integer :: many
    call MPI_Comm_group(MPI_COMM_WORLD, group, ierror)
    call MPI_Comm_create(MPI_COMM_WORLD, group, made, ierror)
    call MPI_Comm_compare(made, MPI_COMM_WORLD, many, ierror)
    call see(many == MPI_CONGRUENT, 'MPI_Comm_create')
    call MPI_Comm_free(made, ierror)
    call MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, made, ierror)
    call MPI_Comm_size(made, many, ierror)
    call see(many == size, 'MPI_Comm_create_group')
    call MPI_Comm_free(made, ierror)
    call MPI_Comm_split(MPI_COMM_WORLD, merge(MPI_UNDEFINED, 1, rank == 0), 0, made, ierror)
    call see((made == MPI_COMM_NULL) .eqv. rank == 0, 'MPI_Comm_split with MPI_UNDEFINED')
    if (made /= MPI_COMM_NULL) call MPI_Comm_free(made, ierror)
    call MPI_Group_free(group, ierror)
  end subroutine made_of_groups

  ! Even and odd ranks: a root among them says MPI_ROOT, its neighbours say MPI_PROC_NULL, the others name it. Types and arrays
  ! that count at the root alone are wrong elsewhere.
  subroutine two_groups
    COMM_T :: half, inter
    integer :: side, here, others, many, value, i
    integer, allocatable :: got(:), counts(:), displs(:)
    DATATYPE_T :: datatype
    if (size < 2) return
    side = mod(rank, 2)
    call MPI_Comm_split(MPI_COMM_WORLD, side, rank, half, ierror)
    call MPI_Comm_rank(half, here, ierror)
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 8, inter, ierror)
    call MPI_Comm_remote_size(inter, others, ierror)
    call see(others == merge(size / 2, (size + 1) / 2, side == 0), 'MPI_Comm_remote_size')
    value = -1
    if (side == 0 .and. here == 0) then
      value = 47
      call MPI_Bcast(value, 1, MPI_INTEGER, MPI_ROOT, inter, ierror)
    else
      call MPI_Bcast(value, 1, MPI_INTEGER, merge(MPI_PROC_NULL, 0, side == 0), inter, ierror)
    end if
    call see(value == 47 .or. side == 0, 'MPI_Bcast between two groups')
    many = merge(others, 1, side == 0 .and. here == 0)
    allocate (got(many), counts(many), displs(many))
    got = -1
    counts = 1
    displs = [(many - i, i = 1, many)]
    datatype = MPI_DATATYPE_NULL
    if (side == 0 .and. here == 0) then
      datatype = MPI_INTEGER
      call MPI_Gatherv(value, 0, MPI_DATATYPE_NULL, got, counts, displs, datatype, MPI_ROOT, inter, ierror)
      call see(all(got == [(i, i = many - 1, 0, -1)]), 'MPI_Gatherv between two groups')
    else if (side == 0) then
      call MPI_Gatherv(value, 0, MPI_DATATYPE_NULL, got, counts, displs, datatype, MPI_PROC_NULL, inter, ierror)
    else
      call MPI_Gatherv(here, 1, MPI_INTEGER, got, counts, displs, datatype, 0, inter, ierror)
    end if
    call see(ierror == MPI_SUCCESS, 'MPI_Gatherv with a datatype at the root alone')
    call MPI_Comm_free(inter, ierror)
    call MPI_Comm_free(half, ierror)
  end subroutine two_groups

  ! The communicator is there when its request is complete.
  subroutine nonblocking
    COMM_T :: copy
    REQUEST_T :: request
    INFO_T :: info
    integer :: sum
#if METHOD == 8
    asynchronous :: copy
#endif
    call MPI_Comm_idup(MPI_COMM_WORLD, copy, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call MPI_Allreduce(1, sum, 1, MPI_INTEGER, MPI_SUM, copy, ierror)
    call see(sum == size, 'MPI_Comm_idup')
    call MPI_Comm_free(copy, ierror)
    call MPI_Info_create(info, ierror)
    call MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, copy, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call MPI_Allreduce(1, sum, 1, MPI_INTEGER, MPI_SUM, copy, ierror)
    call see(sum == size, 'MPI_Comm_idup_with_info')
    call MPI_Comm_free(copy, ierror)
    call MPI_Info_free(info, ierror)
  end subroutine nonblocking

  ! A name of a set may be longer than the variable: its length is asked for first.
  subroutine sets_of_processes
    integer :: sets, length, i, found
    character(len=MPI_MAX_PSET_NAME_LEN) :: name
    character(len=6) :: part
    GROUP_T :: group
    COMM_T :: comm
    INFO_T :: info
    character(len=20) :: value
    logical :: flag
    call MPI_Session_get_num_psets(session, MPI_INFO_NULL, sets, ierror)
    found = 0
    do i = 0, sets - 1
      length = 0
      call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name, ierror)
      name = repeat('#', len(name))
      call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name, ierror)
      call see(len_trim(name) == length .and. index(name, '#') == 0, 'MPI_Session_get_nth_pset: ' // trim(name))
      if (name == 'mpi://WORLD' .or. name == 'mpi://world') found = i + 1
    end do
    call see(found > 0, 'the set of all processes')
    length = 100
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, found - 1, length, part, ierror)
    call see(length == 11 .and. part == 'mpi://', 'a part of the name of a set')
    call MPI_Session_get_pset_info(session, 'mpi://WORLD ', info, ierror)
    call MPI_Info_get(info, 'mpi_size', 20, value, flag, ierror)
    read (value, *) i
    call see(flag .and. i == size, 'MPI_Session_get_pset_info')
    call MPI_Info_free(info, ierror)
    call MPI_Group_from_session_pset(session, 'mpi://WORLD', group, ierror)
    call MPI_Comm_create_from_group(group, 'a test in Fortran  ', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm, ierror)
    call MPI_Comm_size(comm, i, ierror)
    call see(i == size, 'MPI_Comm_create_from_group')
    call MPI_Comm_free(comm, ierror)
    call MPI_Group_free(group, ierror)
  end subroutine sets_of_processes

  ! A buffer that MPI makes itself: what was attached comes back as that.
  subroutine buffers
    integer :: bytes, got
    REQUEST_T :: request
#if METHOD == 8
    block
      use, intrinsic :: iso_c_binding, only: c_ptr, c_loc, c_associated
      type(c_ptr) :: where
      call MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0, ierror)
      call MPI_Bsend(rank, 1, MPI_INTEGER, rank, 4, MPI_COMM_WORLD, ierror)
      call MPI_Recv(got, 1, MPI_INTEGER, rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call MPI_Buffer_detach(where, bytes, ierror)
      call see(c_associated(where, c_loc(MPI_BUFFER_AUTOMATIC)) .and. got == rank .and. bytes == 0, 'MPI_BUFFER_AUTOMATIC')
    end block
#endif
    call MPI_Comm_attach_buffer(MPI_COMM_SELF, MPI_BUFFER_AUTOMATIC, 0, ierror)
    call MPI_Bsend(5, 1, MPI_INTEGER, 0, 4, MPI_COMM_SELF, ierror)
    call MPI_Recv(got, 1, MPI_INTEGER, 0, 4, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
    call MPI_Comm_flush_buffer(MPI_COMM_SELF, ierror)
    call MPI_Comm_iflush_buffer(MPI_COMM_SELF, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call see(ierror == MPI_SUCCESS .and. got == 5, 'a buffer of a communicator')
    call detach(bytes)
  end subroutine buffers

  subroutine detach(bytes)
#if METHOD == 8
    use, intrinsic :: iso_c_binding, only: c_ptr
    type(c_ptr) :: where
#else
    integer(MPI_ADDRESS_KIND) :: where
#endif
    integer, intent(out) :: bytes
    call MPI_Comm_detach_buffer(MPI_COMM_SELF, where, bytes, ierror)
    call see(ierror == MPI_SUCCESS, 'MPI_Comm_detach_buffer')
  end subroutine detach
end program communicators
