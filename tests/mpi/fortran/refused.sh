#!/bin/sh
# What a compiler refuses with the modules, and takes with mpif.h, whose procedures without choice buffers have no interfaces:
#   refused.sh BUILD WORK
set -u
build=$1 work=$2
rm -rf "$work"
mkdir -p "$work" && cd "$work" || exit 1
failed=0

# try METHOD NAME yes|no: whether the statement on standard input compiles, in a program with the declarations that it needs.
try() {
  method=$1 name=$2 wanted=$3
  comm='integer'
  case $method in mpi_f08) comm='type(MPI_Comm)' ;; esac
  {
    echo "program refused"
    [ "$method" = mpif ] || echo "use $method"
    echo "implicit none"
    [ "$method" != mpif ] || echo "include 'mpif.h'"
    echo "integer :: ierror, rank, number, wanted(1)"
    echo "logical :: periods(1)"
    echo "$comm :: comm, grid"
    cat
    echo "end program refused"
  } >"$name-$method.f90"
  answer=no
  "$build/bin/mpifort" -c "$name-$method.f90" >"$name-$method.log" 2>&1 && answer=yes
  [ $answer = "$wanted" ] && return
  echo "$name with $method: compiles: $answer, wanted: $wanted"
  cat "$name-$method.log"
  failed=1
}

# A scalar for an array: the standard's example with MPI_Cart_create.
for method in mpi_f08 mpi; do
  echo "call MPI_Cart_create(MPI_COMM_WORLD, 1, number, .true., .true., grid, ierror)" | try $method scalar no
done
echo "call MPI_Cart_create(MPI_COMM_WORLD, 1, number, .true., .true., grid, ierror)" | try mpif scalar yes
for method in mpi_f08 mpi mpif; do
  echo "call MPI_Cart_create(MPI_COMM_WORLD, 1, wanted, periods, .true., grid, ierror)" | try $method right yes
done
# A handle of another class, a number for a handle, an argument that is not there, a keyword that is none.
echo "call MPI_Comm_rank(MPI_INFO_NULL, rank, ierror)" | try mpi_f08 class no
echo "call MPI_Comm_rank(0, rank, ierror)" | try mpi_f08 number no
echo "call MPI_Comm_rank(MPI_COMM_WORLD, rank)" | try mpi ierror no
echo "call MPI_Comm_rank(MPI_COMM_WORLD, rank)" | try mpi_f08 ierror yes
for method in mpi_f08 mpi; do
  echo "call MPI_Comm_rank(comm=MPI_COMM_WORLD, rang=rank, ierror=ierror)" | try $method keyword no
  echo "call MPI_Comm_rank(comm=MPI_COMM_WORLD, rank=rank, ierror=ierror)" | try $method keyword yes
done
exit $failed
