#!/bin/bash
# A machine without any Fortran compiler: configured there, the tree has the targets of libmpi_abi, the kernel and the
# components with the same commands as the build with Fortran, and none that compiles Fortran. With "whole" it is also
# built and installed there, C programs run, and one command makes Fortran's flavour once a compiler has come.
# Compilers are hidden by a mount namespace; where none can be made, the test is skipped.
. "${0%/*}/common.sh"
kind=${3-}
hide='for name in gfortran f95 f77 flang ifx ifort nvfortran; do
  for file in "$(command -v $name)" /usr/bin/*"$name" /usr/bin/*"$name"-[0-9]* /usr/lib/llvm-*/bin/"$name"*; do
    file=$(readlink -f "$file") && [ -f "$file" ] && mount --bind /dev/null "$file"
  done
done
! command -v gfortran f95 f77 flang ifx ifort nvfortran || exit 9
"$@"'
new_user=
[ "$(id -u)" = 0 ] || new_user=--map-root-user
unshare --mount $new_user true 2>/dev/null || {
  echo "no mount namespace can be made here"
  exit 77
}
without() { unshare --mount $new_user sh -c "$hide" sh "$@"; }

settings=()
while read -r line; do settings+=("-D$line"); done < <(grep -E \
  '^CMAKE_(BUILD_TYPE|(C|CXX)_(COMPILER|COMPILER_LAUNCHER|FLAGS)|INSTALL_(LIB|INCLUDE)DIR):' "$BUILD/CMakeCache.txt")
without cmake -S "$SOURCE" -B made -G Ninja "${settings[@]}" -DASHLAR_BENCH=OFF >cmake.log 2>&1 || fail "cmake: $(tail -15 cmake.log)"
grep -q "No Fortran compiler: ashlar-fortran makes modules" cmake.log || fail "cmake found a compiler: $(tail -15 cmake.log)"
ninja -C made -t targets all >targets
grep -q '^mpi_abi: phony' targets || fail "no target mpi_abi"
if grep -E 'fortran_flavours|\.(f|f90|F90)\.o:' targets; then fail "these targets want a Fortran compiler"; fi
python3 - "$BUILD" made <<'PYTHON'
import json, os, re, sys
def commands(folder):
    path, found = os.path.realpath(folder), {}
    for entry in json.load(open(f"{folder}/compile_commands.json")):
        words = re.sub(r" -DASHLAR_BUILD_ID=\S+", "", entry["command"]).replace(path, "BUILD")
        found[re.search(r" -o (\S+)", words)[1]] = words
    return found
whole, without = commands(sys.argv[1]), commands(sys.argv[2])
for output, words in without.items():
    if words != whole.get(output):
        sys.exit(f"{output} is compiled otherwise:\n{words}\n{whole.get(output)}")
missing = [output for output in whole if re.match(r"(framework|components|mpiexec|bindings)/", output) and output not in without]
if missing or len(without) < 100:
    sys.exit(f"{len(without)} files are compiled, and not {missing[:5]}")
PYTHON
[ "$kind" = whole ] || exit 0

without cmake --build made --parallel 2 >build.log 2>&1 || fail "build: $(tail -15 build.log)"
without cmake --install made --prefix "$WORK/there" >install.log || fail "install: $(tail -5 install.log)"
PATH=$WORK/there/bin:/usr/bin:/bin
without mpicc "$SOURCE/examples/hello.c" -o hello
without mpiexec -n 2 ./hello || fail "a program in C"
printf '%s\n' 'use mpi_f08' 'call MPI_Init()' 'call MPI_Finalize()' 'end' >program.f90
if without mpifort program.f90 -o program >mpifort.log 2>&1; then fail "mpifort has no compiler and succeeds"; fi
grep -q 'ashlar-fortran add' mpifort.log || fail "mpifort says: $(cat mpifort.log)"
ashlar-fortran add gfortran || fail "ashlar-fortran add"
mpifort program.f90 -o program
mpiexec -n 2 ./program || fail "a program in Fortran"
