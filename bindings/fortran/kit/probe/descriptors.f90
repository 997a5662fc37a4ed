! Whether TYPE(*), DIMENSION(..) arguments reach C with the standard's descriptors, straight and through a Fortran procedure,
! and whether the bounds of the caller's arrays are the same afterwards.
program descriptors
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function look(buffer, form) bind(C, name='ashlar_probe_look')
      import :: c_int
      type(*), dimension(..), asynchronous :: buffer
      integer(c_int), value :: form
    end function look
    subroutine ashlar_probe_shim(buffer, form, right)
      import :: c_int
      type(*), dimension(..), asynchronous :: buffer
      integer(c_int), intent(in) :: form
      integer(c_int), intent(out) :: right
    end subroutine ashlar_probe_shim
  end interface
  integer(c_int), target :: table(6, 5), one
  integer(c_int), allocatable :: moved(:)
  character(len=5) :: words(3)
  integer :: i, j, wrong
  wrong = 0
  do j = 1, 5
    do i = 1, 6
      table(i, j) = 10 * i + j
    end do
  end do
  one = 7
  words = 'hello'
  allocate (moved(-3:6))
  moved = 9

  call count(look(table, 1_c_int))
  call count(look(table(2:6:2, 5:1:-2), 2_c_int))
  call count(look(one, 3_c_int))
  call count(look(words, 4_c_int))
  call count(look(moved, 5_c_int))
  call through(table, 1_c_int)
  call shimmed
  call assumed_size(table)
  if (lbound(moved, 1) /= -3 .or. ubound(moved, 1) /= 6) wrong = wrong + 100
  deallocate (moved)
  print '(a,i0)', 'DESCRIPTORS_WRONG=', wrong
  if (wrong == 0) print '(a)', 'DESCRIPTORS=1'
  if (wrong /= 0) print '(a)', 'DESCRIPTORS=0'
contains
  subroutine count(right)
    integer(c_int), intent(in) :: right
    if (right /= 1) wrong = wrong + 1
  end subroutine count

  subroutine through(buffer, form)
    type(*), dimension(..), asynchronous :: buffer
    integer(c_int), intent(in) :: form
    call count(look(buffer, form))
  end subroutine through

  subroutine shimmed
    integer(c_int) :: right
    call ashlar_probe_shim(table(2:6:2, 5:1:-2), 2_c_int, right)
    call count(right)
    call ashlar_probe_shim(one, 3_c_int, right)
    call count(right)
    call ashlar_probe_shim(words, 4_c_int, right)
    call count(right)
    call ashlar_probe_shim(moved, 5_c_int, right)
    call count(right)
  end subroutine shimmed

  subroutine assumed_size(buffer)
    integer(c_int) :: buffer(3, *)
    call count(look(buffer, 6_c_int))
  end subroutine assumed_size
end program descriptors

! As the specific procedures of mpi_f08 are: external, not BIND(C), and one call.
subroutine ashlar_probe_shim(buffer, form, right)
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  type(*), dimension(..), asynchronous :: buffer
  integer(c_int), intent(in) :: form
  integer(c_int), intent(out) :: right
  interface
    integer(c_int) function look(buffer, form) bind(C, name='ashlar_probe_look')
      import :: c_int
      type(*), dimension(..), asynchronous :: buffer
      integer(c_int), value :: form
    end function look
  end interface
  right = look(buffer, form)
end subroutine ashlar_probe_shim
