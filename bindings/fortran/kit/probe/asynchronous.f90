! Whether a variable with the ASYNCHRONOUS attribute is read again after a call that does not name it: what C writes there
! between is what MPI writes while a receive is under way.
program asynchronous
  implicit none
  interface
    subroutine ashlar_probe_begin(buffer)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: buffer
!DIR$ IGNORE_TKR buffer
!DEC$ ATTRIBUTES NO_ARG_CHECK :: buffer
!$PRAGMA IGNORE_TKR buffer
      type(*), dimension(*), asynchronous :: buffer
    end subroutine ashlar_probe_begin
    subroutine ashlar_probe_end()
    end subroutine ashlar_probe_end
  end interface
  integer :: got
  got = 0
  call receive(got)
  if (got == 1042) then
    print '(a)', 'ASYNCHRONOUS=1'
  else
    print '(a)', 'ASYNCHRONOUS=0'
  end if
contains
  subroutine receive(got)
    integer, intent(out) :: got
    integer, asynchronous :: buffer
    integer :: before
    buffer = 42
    call ashlar_probe_begin(buffer)
    before = buffer
    call ashlar_probe_end()
    got = before + buffer
  end subroutine receive
end program asynchronous
