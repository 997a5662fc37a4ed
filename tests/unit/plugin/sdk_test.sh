#!/bin/sh
# A component built outside the tree, against an installed prefix only, in both ways; dropped in, listed, checked, used.
# usage: sdk_test.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
prefix=$work/prefix
DESTDIR='' cmake --install "$build" --prefix "$prefix" >"$work/install.log" || { cat "$work/install.log"; fail "installation"; }
lib=${LIBDIR:-lib} include=${INCLUDEDIR:-include}  # where the build keeps its libraries
folder=$prefix/$lib/ashlar/components
info=$prefix/bin/ashlar_info
[ -f "$folder.manifest" ] || fail "the installation wrote no manifest"
unset ASHLAR_report ASHLAR_plugin_path || true
cd "$work"
export HOME=$work

# Only the installed files: the example is copied away from the tree.
cp -r "$source/examples/component-hello" hello
for header in "$prefix/$include"/ashlar/*.h; do
  grep -q 'framework/' "$header" && fail "$header includes from the source tree"
  printf '#include <ashlar/%s>\nint main(void) { return 0; }\n' "${header##*/}" >one.c
  cc -std=c99 -pedantic -Wall -Wextra -Werror -I "$prefix/$include" -fsyntax-only one.c || fail "$header as C99"
  c++ -std=c++11 -pedantic -Wall -Wextra -Werror -I "$prefix/$include" -fsyntax-only -x c++ one.c || fail "$header as C++"
done

seen() { "$info" --components report | grep -A1 '^  hello' | grep -q "$folder/ashlar_report_hello.so"; }

cmake -S hello -B hello/build -DCMAKE_PREFIX_PATH="$prefix" >/dev/null || fail "find_package(Ashlar)"
cmake --build hello/build >/dev/null || fail "build with CMake"
seen && fail "listed before it was installed"
cmake --install hello/build >/dev/null
seen || fail "built with CMake, not listed"
"$info" --set report.hello.most=0 >/dev/null 2>said.txt && fail "a value outside its range is taken"
grep -q "report.hello.most: '0' is outside its range, 1 to 1000000" said.txt || fail "the range is not told: $(cat said.txt)"
"$info" explain report.hello.greeting | grep -q 'the built-in value' || fail "its parameter is not known"

rm "$folder/ashlar_report_hello.so"
PKG_CONFIG_PATH=$prefix/$lib/pkgconfig make -s -C hello install || fail "build with make and pkg-config"
seen || fail "built with pkg-config, not listed"
nm -D --undefined-only "$folder/ashlar_report_hello.so" | grep -q ashlar && fail "it needs symbols of ours"

"$info" --check "$folder/ashlar_report_hello.so" >check.txt 2>said.txt || { cat check.txt; fail "the check"; }
grep -q 'takes error records' check.txt || fail "the check did not get to the end"
grep -q 'hello, reader: rank 0 has an error: MPI_Recv failed' said.txt || fail "the component was not called"

"$info" --register
grep -q ashlar_report_hello.so "$folder.manifest" || fail "not registered"
seen || fail "registered, not listed"

# The tree is moved; everything is found where it is now.
mv "$prefix" "$work/moved"
prefix=$work/moved folder=$work/moved/$lib/ashlar/components info=$work/moved/bin/ashlar_info
seen || fail "not found in the moved tree"

# A real program: the component gets the decisions, and the error that ends the job.
cat >wrong.c <<'END'
#include <mpi.h>
int main(int argc, char** argv) {
  int x = 0;
  MPI_Init(&argc, &argv);
  MPI_Send(&x, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
  return 0;
}
END
if [ -x "$prefix/bin/mpiexec" ]; then
  "$prefix/bin/mpicc" wrong.c -o wrong || fail "mpicc of the moved tree"
  for start in "" "$prefix/bin/mpiexec -n 1"; do
    ASHLAR_explain=transport ASHLAR_report_hello_greeting=servus $start ./wrong >said.txt 2>&1 && fail "the wrong rank is no error"
    grep -q 'servus, reader: rank 0 has decided: transport is served by ' said.txt || { cat said.txt; fail "no decision ($start)"; }
    grep -q 'servus, reader: rank 0 has an error: MPI_Send failed, argument dest is 99' said.txt ||
      { cat said.txt; fail "no error ($start)"; }
    # The error is shown once, by the launcher or by report/stderr.
    [ "$(tr '\n' ' ' <said.txt | grep -o "MPI_Send *\(failed \)\?on communicator" | wc -l)" = 1 ] ||
      { cat said.txt; fail "people are told twice or never ($start)"; }
  done
fi

# A component of another contract is refused with a sentence and does no harm.
sed 's/\.abi_major = ASHLAR_COMPONENT_MAJOR/.abi_major = 9/; s/"hello"/"old"/' hello/hello.c >old.c
cc -shared -fPIC -I "$prefix/$include" old.c -o "$folder/ashlar_report_old.so"
"$info" --components report | grep -q 'built for component contract 9\.[0-9]*, this kernel speaks 1\.[0-9]*' || fail "no reason for the refusal"
"$info" --check "$folder/ashlar_report_old.so" >/dev/null && fail "the check accepts another contract"
echo "ok"
