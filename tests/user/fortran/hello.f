C     Who is there, with mpif.h in fixed form.
      program hello
      implicit none
      include 'mpif.h'
      integer rank, size, ierror
      call MPI_INIT(ierror)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierror)
      print '(a,i0,a,i0)', 'mpif.h: rank ', rank, ' of ', size
      call MPI_FINALIZE(ierror)
      end
