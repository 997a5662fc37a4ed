! How the compiler writes the name of an external procedure: each of the four ways answers with its number.
program names
  implicit none
  external :: ashlar_probe_name
  integer :: way
  way = 0
  call ashlar_probe_name(way)
  print '(a,i0)', 'MANGLING=', way
end program names
