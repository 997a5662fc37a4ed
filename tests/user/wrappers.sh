#!/bin/sh
# The compiler wrappers: what they print, what they pass on, other compilers, moved trees, names with blanks.
. "${0%/*}/common.sh"
cp "$SOURCE/examples/hello.c" .
printf '%s\n' '#include <mpi.h>' 'int main() { MPI_Init(nullptr, nullptr); MPI_Finalize(); }' >hello.cc

# -show prints a command that can be run as it is, and runs nothing.
mpicc -show -o shown hello.c >line
[ ! -e shown ] || fail "-show compiled"
sh line && mpiexec -n 2 ./shown >/dev/null || fail "the line of -show does not work: $(cat line)"

mpicc -c hello.c && mpicc -o hello hello.o && mpiexec -n 2 ./hello >/dev/null || fail "compiling and linking apart"
mpicc -c -Wall -Werror hello.c 2>&1 | grep . && fail "compiling alone is not silent"
mpicxx -o hello_cc hello.cc && mpiexec -n 2 ./hello_cc || fail "mpicxx"
mpic++ -show | grep -q c++ || fail "mpic++ is not the C++ wrapper"
mpicc_abi -o hello_abi hello.c && mpiexec -n 1 ./hello_abi >/dev/null || fail "mpicc_abi"
mpicc --version >/dev/null || fail "--version"
ASHLAR_CC="echo compiler" mpicc x.c | grep -q '^compiler .*x\.c' || fail "ASHLAR_CC"
ASHLAR_CXX="echo compiler" mpicxx x.cc | grep -q '^compiler .*x\.cc' || fail "ASHLAR_CXX"
mpicc -no-such-option hello.c 2>/dev/null && fail "the compiler's failure was lost"

for part in compile link incdirs libdirs libs command version; do
  [ -n "$(mpicc -showme:$part)" ] || fail "-showme:$part"
done
# shellcheck disable=SC2046
cc $(mpicc -showme:compile) -o apart hello.c $(mpicc -showme:link) && ./apart >/dev/null || fail "-showme:compile and :link"
mpicc -link-info | grep -q -- '-lmpi_abi' || fail "-link-info"

# Found through a link from elsewhere, and in a folder whose name has a blank.
ln -s "$BUILD/bin/mpicc" linked && ./linked -show | grep -q -- "-L$(cd "$BUILD" && pwd -P)/${LIBDIR:-lib}" || fail "through a link"
mkdir -p "a place/bin" && cp "$BUILD/bin/mpicc" "a place/bin/"
"a place/bin/mpicc" -show x.c | grep -q "'-I$(pwd -P)/a place/${INCLUDEDIR:-include}'" || fail "a folder with a blank"
