C     A tool in Fortran whose procedure has a name of MPI and includes mpif.h: --implicit-mpif.
      subroutine MPI_SEND(buf, count, datatype, dest, tag, comm, ierror)
      implicit none
      include 'mpif.h'
      integer buf(*), count, datatype, dest, tag, comm, ierror
      integer calls
      common /seen/ calls
      calls = calls + 1
      call PMPI_SEND(buf, count, datatype, dest, tag, comm, ierror)
      end

      program wrapped
      implicit none
      include 'mpif.h'
      integer ierror, calls, buf(1)
      common /seen/ calls
      calls = 0
      buf(1) = 1
      call MPI_INIT(ierror)
      call MPI_SEND(buf, 1, MPI_INTEGER, MPI_PROC_NULL, 0,
     & MPI_COMM_WORLD, ierror)
      call MPI_FINALIZE(ierror)
      if (calls .ne. 1 .or. ierror .ne. MPI_SUCCESS) stop 1
      end
