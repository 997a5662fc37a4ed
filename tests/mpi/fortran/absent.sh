#!/bin/sh
# MPI-1's attributes over a libmpi_abi that has none of the deprecated functions for them, as Open MPI's: Fortran's names work there too.
#   absent.sh BUILD WORK
set -eu
build=$1 work=$2
rm -rf "$work"
mkdir -p "$work/lib"
ln -s "$build"/lib/* "$work/lib/"
rm "$work/lib/libmpi_abi.so.1"
# The names are changed where the dynamic linker looks for them.
LC_ALL=C sed -E 's/MPI_(Attr_(delete|get|put)|Keyval_(create|free))\x00/XXX_\1\x00/g' "$build/lib/libmpi_abi.so.1" >"$work/lib/libmpi_abi.so.1"
export LD_LIBRARY_PATH="$work/lib"
for method in 77 90 8; do
  program=$build/tests/mpi/fortran/old_names_$method
  ldd "$program" | grep -q "libmpi_abi.so.1 => $work/lib/" || { echo "$program takes another library"; exit 1; }
  "$program"
done
