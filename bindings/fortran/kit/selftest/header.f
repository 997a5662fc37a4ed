C     The self-test of a flavour, with mpif.h in fixed form: sizes, a string, a LOGICAL, a status, a message to oneself.
      program header
      implicit none
      include 'mpif.h'
      integer ierror, rank, size, length, count, i
      integer status(MPI_STATUS_SIZE)
      integer sent(4), got(4)
      double precision sums(2), totals(2)
      logical started, all_true
      character*(MPI_MAX_PROCESSOR_NAME) name

      call MPI_INIT(ierror)
      if (ierror .ne. MPI_SUCCESS) stop 1
      call MPI_INITIALIZED(started, ierror)
      if (.not. started) stop 2
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierror)
      if (rank .lt. 0 .or. rank .ge. size) stop 3

C     A name is filled with blanks behind its length.
      name = repeat('x', len(name))
      call MPI_GET_PROCESSOR_NAME(name, length, ierror)
      if (length .lt. 1 .or. name(length:length) .eq. ' ') stop 4
      if (len_trim(name) .ne. length) stop 5

      do i = 1, 4
        sent(i) = 10 * i + rank
        got(i) = -1
      end do
      call MPI_SENDRECV(sent, 3, MPI_INTEGER, rank, 7, got, 4,
     & MPI_INTEGER, rank, 7, MPI_COMM_WORLD, status, ierror)
      if (status(MPI_SOURCE) .ne. rank) stop 6
      if (status(MPI_TAG) .ne. 7) stop 7
      call MPI_GET_COUNT(status, MPI_INTEGER, count, ierror)
      if (count .ne. 3) stop 8
      if (got(1) .ne. sent(1) .or. got(3) .ne. sent(3)) stop 9
      if (got(4) .ne. -1) stop 10

      sums(1) = rank + 1
      sums(2) = 0.5d0
      call MPI_ALLREDUCE(sums, totals, 2, MPI_DOUBLE_PRECISION, MPI_SUM,
     & MPI_COMM_WORLD, ierror)
      if (totals(1) .ne. size * (size + 1) / 2) stop 11
      if (totals(2) .ne. 0.5d0 * size) stop 12

      all_true = rank .ge. 0
      call MPI_ALLREDUCE(MPI_IN_PLACE, all_true, 1, MPI_LOGICAL,
     & MPI_LAND, MPI_COMM_WORLD, ierror)
      if (.not. all_true) stop 13
      call MPI_FINALIZE(ierror)
      if (ierror .ne. MPI_SUCCESS) stop 14
      end
