! Another language has told MPI what Fortran's types are, before the Fortran library of the program does: other ones. MPI is not
! started then, and one sentence says why.
program registered
  use mpi
  implicit none
  interface
    subroutine c_registers() bind(C)
    end subroutine c_registers
  end interface
  integer :: ierror
  logical :: started
  call c_registers()
  call MPI_Init(ierror)
  call MPI_Initialized(started, ierror)
  if (started) error stop 'MPI was started'
  print '(a)', 'not started'
end program registered
