! Attributes that one language sets and the other reads, on keyvals of both (MPI-5.0, 19.3.7).
program attributes
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_int, c_intptr_t
  implicit none
  interface
    integer(c_int) function c_sees_aint(comm, key, expected) bind(C)
      import :: c_int, c_intptr_t
      integer(c_int), intent(in) :: comm, key
      integer(c_intptr_t), intent(in) :: expected
    end function c_sees_aint
    integer(c_int) function c_sees_int(comm, key, expected) bind(C)
      import :: c_int
      integer(c_int), intent(in) :: comm, key, expected
    end function c_sees_int
    subroutine c_sets(comm, key, address) bind(C)
      import :: c_int, c_intptr_t
      integer(c_int), intent(in) :: comm, key
      integer(c_intptr_t), intent(out) :: address
    end subroutine c_sets
    subroutine c_makes_keyval(key) bind(C)
      import :: c_int
      integer(c_int), intent(out) :: key
    end subroutine c_makes_keyval
  end interface
  integer(MPI_ADDRESS_KIND), parameter :: large = 2_MPI_ADDRESS_KIND**40 + 5
  integer(MPI_ADDRESS_KIND) :: value, address
  integer :: keys(2), i, small, ierror, wrong
  logical :: flag
  type(MPI_Comm) :: one, two
  wrong = 0
  call MPI_Init()
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keys(1), 0_MPI_ADDRESS_KIND)
  call c_makes_keyval(keys(2))
  do i = 1, 2
    call MPI_Comm_dup(MPI_COMM_SELF, one)
    call MPI_Comm_set_attr(one, keys(i), large)
    call see(c_sees_aint(one%MPI_VAL, keys(i), large) == 0, 'C reads what MPI_Comm_set_attr set')
    call MPI_Comm_dup(one, two)
    call MPI_Comm_free(one)
    call see(c_sees_aint(two%MPI_VAL, keys(i), large) == 0, 'C reads the copy of what MPI_Comm_set_attr set')
    call MPI_Comm_get_attr(two, keys(i), value, flag)
    call see(flag .and. value == large, 'Fortran reads the copy of what MPI_Comm_set_attr set')
    call MPI_Attr_get(two%MPI_VAL, keys(i), small, flag, ierror)
    call see(flag .and. small == 5, 'MPI_Attr_get reads the low part')
    call MPI_Attr_put(two%MPI_VAL, keys(i), -42, ierror)
    call see(c_sees_int(two%MPI_VAL, keys(i), -42) == 0, 'C reads what MPI_Attr_put set')
    call MPI_Comm_get_attr(two, keys(i), value, flag)
    call see(flag .and. value == -42, 'MPI_Comm_get_attr extends the sign of what MPI_Attr_put set')
    call c_sets(two%MPI_VAL, keys(i), address)
    call MPI_Comm_get_attr(two, keys(i), value, flag)
    call see(flag .and. value == address, 'Fortran reads the address that C set')
    call MPI_Comm_delete_attr(two, keys(i))
    call MPI_Comm_get_attr(two, keys(i), value, flag)
    call see(.not. flag, 'a deleted attribute')
    call MPI_Comm_free(two)
  end do
  call MPI_Finalize()
  if (wrong /= 0) error stop
contains
  subroutine see(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    wrong = wrong + 1
    print '(a, i0, 2a)', 'keyval ', i, ': ', what
  end subroutine see
end program attributes
