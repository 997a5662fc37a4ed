! Whether a comment directive lets a procedure take buffers of any type, kind and rank, by address: mpif.h and the module
! mpi are made so. Compilers differ in which form of the declaration does it: the kit tries this text in each of the forms
! that it can make of the sources (rewrite, in probe.sh).
program directives
  implicit none
  interface
    subroutine ashlar_probe_take(buffer, form, right)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: buffer
!DIR$ IGNORE_TKR buffer
!DEC$ ATTRIBUTES NO_ARG_CHECK :: buffer
!$PRAGMA IGNORE_TKR buffer
      type(*), dimension(*), asynchronous :: buffer
      integer, intent(in) :: form
      integer, intent(out) :: right
    end subroutine ashlar_probe_take
  end interface
  integer :: wrong, whole(4)
  real :: row(6)
  double precision :: table(3, 3)
  character(len=4) :: word
  wrong = 0
  whole = 5
  row = 6.0
  table = 7d0
  word = 'word'
  call take_some(row, table)
  print '(a,i0)', 'DIRECTIVES_WRONG=', wrong
  if (wrong == 0) print '(a)', 'DIRECTIVES=1'
  if (wrong /= 0) print '(a)', 'DIRECTIVES=0'
contains
  subroutine take_some(shaped, square)
    real, intent(inout) :: shaped(:)
    double precision, intent(inout) :: square(:, :)
    integer :: right
    call ashlar_probe_take(whole, 1, right)
    wrong = wrong + 1 - right
    call ashlar_probe_take(whole(2), 1, right)
    wrong = wrong + 1 - right
    call ashlar_probe_take(3, 2, right)
    wrong = wrong + 1 - right
    call ashlar_probe_take(shaped, 3, right)
    wrong = wrong + 1 - right
    shaped(2) = 8.0
    call ashlar_probe_take(shaped(2), 4, right)
    wrong = wrong + 1 - right
    call ashlar_probe_take(square, 5, right)
    wrong = wrong + 1 - right
    ! A section arrives as a copy without gaps, and what is written there comes back.
    shaped = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    call ashlar_probe_take(shaped(1:6:2), 7, right)
    if (any(shaped /= [11.0, 2.0, 13.0, 4.0, 15.0, 6.0])) right = 0
    wrong = wrong + 1 - right
    call ashlar_probe_take(word, 6, right)
    wrong = wrong + 1 - right
  end subroutine take_some
end program directives
