#!/bin/sh
# A kernel with linked components starts jobs without opening a component's file: where there is none, and where there is.
# usage: linked_test.sh BUILD_FOLDER FOLDER_WITH_LIBDIR/libashlar.so
set -eu
build=$1 tree=$2 lib=${LIBDIR:-lib}
fail() { echo "FAILED: $*"; exit 1; }
program=$build/tests/mpi/examples_collective

rm -rf "$tree/bin" "$tree/$lib/ashlar" "$tree/$lib/ashlar.manifest"
mkdir -p "$tree/bin"
cp "$build/bin/mpiexec" "$build/bin/ashlar_info" "$tree/bin/"
cp "$build/$lib/libmpi_abi.so.1" "$tree/$lib/"
# The files that a process opens as libraries, by the loader's own trace.
opened() {
  LD_LIBRARY_PATH=$tree/$lib LD_DEBUG=files "$tree/bin/mpiexec" -n 3 "$program" 2>&1 | sed -n 's/.*file=\([^ ]*\) .*/\1/p' | sort -u
}

# Only the library: everything else of the installation is missing.
LD_LIBRARY_PATH=$tree/$lib "$tree/bin/mpiexec" -n 3 "$program" || fail "a job without any component file"
"$tree/bin/ashlar_info" --components transport | grep -q '(linked in), transport/' || fail "ashlar_info does not say it"

# With the files beside it, which is how such a tree is installed.
mkdir -p "$tree/$lib/ashlar/components"
cp "$build/$lib"/ashlar/components/*.so "$tree/$lib/ashlar/components/"
"$tree/bin/ashlar_info" --register
opened >"$tree/opened"
grep -q 'libashlar.so' "$tree/opened" || fail "the loader names nothing: $(cat "$tree/opened")"
grep 'ashlar/components/' "$tree/opened" && fail "component files were opened"
"$tree/bin/ashlar_info" --components launch | grep -q 'REFUSED: it is replaced by (linked in)' || fail "the file is not told of"
# The launcher knows their parameters, and one that is given reaches the linked component.
LD_LIBRARY_PATH=$tree/$lib "$tree/bin/mpiexec" --set transport.shm.single_copy=false --explain=transport -n 2 "$program" 2>&1 |
  grep -q 'without single-copy reads' || fail "a parameter of a linked component"
# The user's own folder still wins.
mkdir -p "$tree/mine"
cp "$build/$lib/ashlar/components/ashlar_transport_shm.so" "$tree/mine/"
ASHLAR_plugin_path=$tree/mine opened | grep -q 'mine/ashlar_transport_shm.so' || fail "a folder of the user's does not win"
# The same components in the ordinary build are files.
"$build/bin/ashlar_info" --components transport | grep -q 'components/ashlar_transport_shm.so, transport/' || fail "the ordinary tree"
echo "ok"
