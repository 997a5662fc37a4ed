#!/bin/sh
# An installed tree as other build systems see it: CMake's FindMPI by our wrappers and by pkg-config, pkg-config itself,
# and all of it again after the tree was moved.
. "${0%/*}/common.sh"
cmake --install "$BUILD" --prefix "$WORK/first" >install.log || fail "install: $(tail -5 install.log)"
mkdir project
cat >project/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(user C CXX)
find_package(MPI REQUIRED COMPONENTS C CXX)
add_executable(hello hello.c)
target_link_libraries(hello PRIVATE MPI::MPI_C)
add_executable(hello_cc hello.cc)
target_link_libraries(hello_cc PRIVATE MPI::MPI_CXX)
enable_testing()
add_test(NAME hello COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 3 ${MPIEXEC_PREFLAGS} $<TARGET_FILE:hello>)
add_test(NAME hello_cc COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2 ${MPIEXEC_PREFLAGS} $<TARGET_FILE:hello_cc>)
file(WRITE ${CMAKE_BINARY_DIR}/found "${MPI_C_VERSION} ${MPIEXEC_EXECUTABLE} ${MPI_C_LIBRARIES}")
CMAKE
cp "$SOURCE/examples/hello.c" project/
printf '%s\n' '#include <mpi.h>' 'int main() { MPI_Init(nullptr, nullptr); MPI_Finalize(); }' >project/hello.cc

# try PREFIX CMAKE-ARGUMENTS...
try() {
  prefix=$1
  shift
  rm -rf made
  cmake -S project -B made "$@" >cmake.log 2>&1 || fail "cmake $*: $(tail -15 cmake.log)"
  cmake --build made >cmake.log 2>&1 || fail "building with $*: $(tail -15 cmake.log)"
  ctest --test-dir made --output-on-failure >cmake.log 2>&1 || fail "running with $*: $(tail -15 cmake.log)"
  grep -q "^5\.[0-9]* .*$prefix" made/found || fail "found another MPI: $(cat made/found)"
}
try_all() {
  (PATH=$1/bin:/usr/bin:/bin try "$1")
  try "$1" -DMPI_HOME="$1"
  try "$1" -DMPI_C_COMPILER="$1/bin/mpicc" -DMPI_CXX_COMPILER="$1/bin/mpicxx" -DMPIEXEC_EXECUTABLE="$1/bin/mpiexec"
  (cd "$1" && [ -x bin/mpiexec ]) || fail "no mpiexec in $1"
  PKG_CONFIG_PATH=$1/${LIBDIR:-lib}/pkgconfig
  export PKG_CONFIG_PATH
  for package in ashlar-mpi mpi-c mpi-cxx; do
    # shellcheck disable=SC2046
    cc -o by_pkg project/hello.c $(pkg-config --cflags --libs $package) || fail "pkg-config $package"
    "$1/bin/mpiexec" -n 2 ./by_pkg >/dev/null || fail "running what pkg-config $package made"
  done
  unset PKG_CONFIG_PATH
}
try_all "$WORK/first"
mkdir elsewhere
mv first elsewhere/second
try_all "$WORK/elsewhere/second"
