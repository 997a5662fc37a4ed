! How the lengths of CHARACTER arguments arrive: behind all other arguments, as size_t or as int.
program text
  implicit none
  external :: ashlar_probe_text_long, ashlar_probe_text_int
  integer :: as_long, as_int
  character(len=3) :: row(2)
  row = ['abc', 'def']
  as_long = 0
  as_int = 0
  ! More arguments than any machine passes in registers, so that the lengths lie in memory.
  call ashlar_probe_text_long('four', 1, 'seven..', 2, row, 3, 4, 5, 6, as_long)
  call ashlar_probe_text_int('four', 1, 'seven..', 2, row, 3, 4, 5, 6, as_int)
  if (as_long == 1) then
    print '(a)', 'HIDDEN_LENGTH=size_t'
  else if (as_int == 1) then
    print '(a)', 'HIDDEN_LENGTH=int'
  else
    print '(a)', 'HIDDEN_LENGTH=unknown'
  end if
end program text
