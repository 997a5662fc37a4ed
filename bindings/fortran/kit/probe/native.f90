! Whether an external procedure in C can read what the compiler itself passes for TYPE(*), DIMENSION(..): as gfortran's
! descriptor (2), as the standard's (3), or not (1).
program native
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    subroutine ashlar_probe_native(buffer, form, layout, right)
      import :: c_int
      type(*), dimension(..), asynchronous :: buffer
      integer(c_int), intent(in) :: form, layout
      integer(c_int), intent(inout) :: right
    end subroutine ashlar_probe_native
  end interface
  type two
    integer(c_int) :: a, b
  end type two
  integer(c_int), target :: table(6, 5), one
  integer(c_int), allocatable :: moved(:)
  integer(c_int), pointer :: part(:, :)
  character(len=5) :: words(3)
  type(two) :: pairs(4)
  integer(c_int) :: i, j, right(2:3)
  do j = 1, 5
    do i = 1, 6
      table(i, j) = 10 * i + j
    end do
  end do
  one = 7
  words = 'hello'
  allocate (moved(-3:6))
  moved = 9
  pairs%a = 1
  pairs%b = 2
  part => table(2:6:2, 5:1:-2)

  right = 1
  do i = 2, 3
    call ashlar_probe_native(table, 1_c_int, i, right(i))
    call ashlar_probe_native(table(2:6:2, 5:1:-2), 2_c_int, i, right(i))
    call ashlar_probe_native(part, 2_c_int, i, right(i))
    call ashlar_probe_native(one, 3_c_int, i, right(i))
    call ashlar_probe_native(words, 4_c_int, i, right(i))
    call ashlar_probe_native(moved, 5_c_int, i, right(i))
    call assumed_size(table)
    call ashlar_probe_native(pairs(1:3:2)%b, 7_c_int, i, right(i))
    call through(table, 1_c_int)
    call through(table(2:6:2, 5:1:-2), 2_c_int)
    call assumed_shape(table(2:6:2, 5:1:-2))
    call ashlar_probe_native(table(1:0, :), 8_c_int, i, right(i))
  end do
  if (lbound(moved, 1) /= -3 .or. ubound(moved, 1) /= 6) right = 0
  deallocate (moved)
  if (right(3) == 1) then
    print '(a)', 'NATIVE=3'
  else if (right(2) == 1) then
    print '(a)', 'NATIVE=2'
  else
    print '(a)', 'NATIVE=1'
  end if
contains
  subroutine through(buffer, form)
    type(*), dimension(..), asynchronous :: buffer
    integer(c_int), intent(in) :: form
    call ashlar_probe_native(buffer, form, i, right(i))
  end subroutine through

  subroutine assumed_size(buffer)
    integer(c_int) :: buffer(3, *)
    call ashlar_probe_native(buffer, 6_c_int, i, right(i))
  end subroutine assumed_size

  subroutine assumed_shape(buffer)
    integer(c_int) :: buffer(:, :)
    call ashlar_probe_native(buffer, 2_c_int, i, right(i))
  end subroutine assumed_shape
end program native
