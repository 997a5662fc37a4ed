#!/bin/sh
# Projects with Fortran, and with C beside it, as CMake's FindMPI, our own CMake package and pkg-config build them; again after
# the tree was moved.
. "${0%/*}/common.sh"
unset ASHLAR_FC ASHLAR_FORTRAN_ADD MPICH_FC
cmake --install "$BUILD" --prefix "$WORK/first" >install.log || fail "install: $(tail -5 install.log)"
fc=$("$WORK/first/bin/mpifort" -showme:command)
mkdir project
cp "$SOURCE"/tests/user/fortran/* "$SOURCE/examples/hello.c" project/
cat >project/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(user C Fortran)
set(MPI_DETERMINE_Fortran_CAPABILITIES TRUE)
if(OURS)
  find_package(Ashlar REQUIRED COMPONENTS Fortran)
  add_library(MPI::MPI_Fortran ALIAS Ashlar::mpi_fortran)
  find_package(MPI REQUIRED COMPONENTS C)
else()
  find_package(MPI REQUIRED COMPONENTS C Fortran)
endif()
enable_testing()
function(program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE MPI::MPI_Fortran)
  add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 3 ${MPIEXEC_PREFLAGS} $<TARGET_FILE:${name}>)
endfunction()
program(hello_f hello.f)
program(hello_mpi hello_mpi.f90)
program(hello_f08 hello_f08.f90)
program(mixed mixed.f90 mixed.c)
target_link_libraries(mixed PRIVATE MPI::MPI_C)
add_executable(hello_c hello.c)
target_link_libraries(hello_c PRIVATE MPI::MPI_C)
add_test(NAME hello_c COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2 ${MPIEXEC_PREFLAGS} $<TARGET_FILE:hello_c>)
foreach(method F77_HEADER F90_MODULE F08_MODULE)
  list(APPEND found "${method}=${MPI_Fortran_HAVE_${method}},${MPI_Fortran_${method}_SUBARRAYS},${MPI_Fortran_${method}_ASYNCPROT}")
endforeach()
file(WRITE ${CMAKE_BINARY_DIR}/found "${MPI_Fortran_VERSION} ${found} ${MPI_Fortran_LIBRARIES}")
CMAKE

# try PREFIX CMAKE-ARGUMENTS...
try() {
  prefix=$1
  shift
  rm -rf made
  cmake -S project -B made -DCMAKE_Fortran_COMPILER="$fc" "$@" >cmake.log 2>&1 || fail "cmake $*: $(tail -15 cmake.log)"
  cmake --build made >cmake.log 2>&1 || fail "building with $*: $(tail -15 cmake.log)"
  ctest --test-dir made --output-on-failure >cmake.log 2>&1 || fail "running with $*: $(tail -15 cmake.log)"
}
# found METHOD=HAVE,SUBARRAYS,ASYNCPROT...: what FindMPI says, and that the libraries are those of $prefix.
found() {
  grep -q "^5\.[0-9]* .*$prefix/.*/libmpifort_abi.so" made/found || fail "found another MPI: $(cat made/found)"
  for method; do
    grep -qE "$method" made/found || fail "not $method: $(cat made/found)"
  done
}
subarrays=$(sed -n 's/^SUBARRAYS=//p' "$("$WORK/first/bin/mpifort" -showme:flavour-folder)/flavour.conf")
case $subarrays in 1) sections=TRUE ;; *) sections=FALSE ;; esac
methods="F77_HEADER=TRUE,[A-Z]*,TRUE F90_MODULE=TRUE,[A-Z]*,TRUE F08_MODULE=TRUE,$sections,TRUE"

(PATH=$WORK/first/bin:/usr/bin:/bin try "$WORK/first")
prefix=$WORK/first
# shellcheck disable=SC2086
found $methods
try "$prefix" -DMPI_HOME="$prefix" -DMPI_C_COMPILER="$prefix/bin/mpicc" -DMPI_Fortran_COMPILER="$prefix/bin/mpifort"
# shellcheck disable=SC2086
found $methods

mkdir elsewhere && mv first elsewhere/second
prefix=$WORK/elsewhere/second
# The wrappers as compilers of the whole project; and our own package.
fc=$prefix/bin/mpifort try "$prefix" -DCMAKE_C_COMPILER="$prefix/bin/mpicc" -DCMAKE_Fortran_COMPILER="$prefix/bin/mpifort" \
  -DMPIEXEC_EXECUTABLE="$prefix/bin/mpiexec"
try "$prefix" -DOURS=ON -DCMAKE_PREFIX_PATH="$prefix" -DMPI_HOME="$prefix"

# A project whose compiler has no flavour hears which command makes it.
cat >"$WORK/newer" <<END
#!/bin/sh
case \$* in --version) echo "GNU Fortran (Others) 99.1.0" ;; *) exec $fc "\$@" ;; esac
END
chmod +x "$WORK/newer"
rm -rf made
cmake -S project -B made -DOURS=ON -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_Fortran_COMPILER="$WORK/newer" >cmake.log 2>&1 &&
  fail "a compiler without a flavour was taken"
tr -s '\n ' ' ' <cmake.log | grep -q "ashlar-fortran add $WORK/newer" || fail "our package does not name the command: $(tail -15 cmake.log)"
