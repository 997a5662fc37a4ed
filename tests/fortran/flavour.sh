#!/bin/sh
# Makes a flavour and runs with it what the tests of the default flavour run: the generated calls, and programs under mpiexec.
#   flavour.sh SOURCE BUILD WORK FC [FLAGS...]
set -eu
source=$1 build=$2 work=$3
shift 3
export ASHLAR_FC="$1"
unset LD_LIBRARY_PATH; rm -rf "$work"
mkdir -p "$work"
cd "$work"
[ -n "${KEEP_FLAVOUR:-}" ] || "$build/bin/ashlar-fortran" add "$@" > add.log 2>&1 || { cat add.log; exit 1; }
shift
integer=4 logical=int
case " $* " in *integer-8* | *" -i8 "*) integer=8 logical=long ;; esac
python3 "$source/tests/fortran/calls.py" "$work" $integer
cc -shared -fPIC -DF_LOGICAL=$logical -I"$source/include" recorder.c -o librecord.so
for method in f08 mpi mpif; do
  "$build/bin/mpifort" "$@" -O0 support.f90 calls_$method.f90 -o calls_$method -L"$work" -Wl,--no-as-needed -lrecord \
    -Wl,-rpath,"$work"
  ./calls_$method
done
# Compilers without descriptors copy sections, or refuse them where they would be copied: nothing of theirs is to be tested.
programs="sections section_calls section_shapes callbacks"
grep -qx SUBARRAYS=1 "$("$build/bin/mpifort" "$@" -showme:flavour-folder)/flavour.conf" || programs=callbacks
cc -c "$source/tests/mpi/fortran/callback_threads.c"
"$build/bin/mpicc" -c "$source/tests/mpi/fortran/addresses_c.c"
for program in $programs; do
  "$build/bin/mpifort" "$@" "$source/tests/mpi/fortran/$program.F90" callback_threads.o -o $program
  "$build/bin/mpiexec" -n 3 ./$program
done
# In each method: the chapters of the standard, objects whose callbacks other threads call, the sizes of types in external32.
for method in 77 90 8; do
  "$build/bin/mpifort" "$@" -DMETHOD=$method -I"$source/tests/mpi/fortran" -o objects \
    "$source/tests/mpi/fortran/callback_objects.F90" callback_threads.o
  "$build/bin/mpiexec" -n 2 ./objects
  "$build/bin/mpifort" "$@" -DMETHOD=$method -I"$source/tests/mpi/fortran" -o external "$source/tests/mpi/fortran/external32.F90"
  "$build/bin/mpiexec" -n 1 ./external
  "$build/bin/mpifort" "$@" -DMETHOD=$method -I"$source/tests/mpi/fortran" -o addresses "$source/tests/mpi/fortran/addresses.F90" \
    addresses_c.o
  "$build/bin/mpiexec" -n 2 ./addresses
  for program in old_names kinds strings errors requests communicators graphs windows files spawn; do
    "$build/bin/mpifort" "$@" -DMETHOD=$method -I"$source/tests/mpi/fortran" -o $program "$source/tests/mpi/fortran/$program.F90"
    "$build/bin/mpiexec" -n 3 ./$program
  done
  [ $integer = 4 ] || {
    "$build/bin/mpifort" "$@" -DMETHOD=$method -I"$source/tests/mpi/fortran" -o wide "$source/tests/mpi/fortran/wide_counts.F90"
    "$build/bin/mpiexec" -n 1 ./wide
  }
done
if [ $integer = 4 ]; then
  "$build/bin/mpifort" "$@" -I"$source/tests/mpi/fortran" -o large "$source/tests/mpi/fortran/large.F90"
  "$build/bin/mpiexec" -n 3 ./large
fi
