#!/bin/bash
# usage: packages_inside.sh "PACKAGES OF OTHER IMPLEMENTATIONS", in a clean Debian with /scene/{old,new,examples}
# What users and administrators do with the packages, in that order; packages.sh calls it.
set -euo pipefail
others=$1
triplet=$(gcc -print-multiarch)
lib=/usr/lib/$triplet
mkdir -p /scene/work
cd /scene/work
# As packages of other implementations run as root: Open MPI has to be asked.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

fail() {
  echo "FAILED: $*"
  exit 1
}
# says PATTERN COMMAND...: it ends well and prints that, in a line or in a sentence that is folded. Not through a pipe: grep leaves
# when it has found something.
says() {
  local pattern=$1
  shift
  "$@" >said 2>&1 && tr -s '\n ' ' ' <said >unfolded && grep -q "$pattern" said unfolded && return 0
  cat said
  return 1
}
# never_says PATTERN COMMAND...: whatever its exit status.
never_says() {
  local pattern=$1
  shift
  "$@" >said 2>&1 || true
  ! grep "$pattern" said
}
scene() { echo "== $*"; }
install_ours() { apt-get install -y -qq --no-install-recommends "$@"; }
purge_ours() { dpkg --purge libashlar-mpi1 ashlar-mpi-bin libashlar-mpi-dev ashlar-mpi-doc; }
# Every file of the system, but for what apt and dpkg keep for themselves and caches that are made anew.
files() {
  find / -xdev \( -path /proc -o -path /dev -o -path /sys -o -path /tmp -o -path /scene -o -path /var/cache -o -path /var/log \
    -o -path /var/lib/apt -o -path /var/lib/dpkg \) -prune -o -printf '%p %l\n' | sort
  find /etc/alternatives /var/lib/dpkg/alternatives -printf '%p %l\n' | sort
}
leaves_nothing() { # BEFORE AFTER
  diff "$1" "$2" || fail "files differ from before the installation"
  never_says ashlar dpkg-query -W -f '${Package} ${db:Status-Status}\n' || fail "dpkg still knows the packages"
  never_says libmpi_abi ldconfig -p || fail "the loader still knows the library"
}
# is_ours NAME...: these commands are this implementation's now.
is_ours() {
  local name
  for name; do
    [[ $(readlink -f "/usr/bin/$name") = *.ashlar ]] || fail "$name is $(readlink -f "/usr/bin/$name")"
  done
}
# heat2d MPICC MPIEXEC: compiles and runs it on 4 ranks, and it says that its result is right.
heat2d() {
  "$1" -O2 -Wall -Wextra -Werror -o heat2d /scene/examples/heat2d/heat2d.c /scene/examples/heat2d/png.c -lm
  says ': right$' "$2" -n 4 ./heat2d --size 40 --picture plate.png || fail "heat2d of $1 under $2"
}
# fortran: programs in all methods, with the flavour of the package; and one that the administrator makes.
fortran() {
  local program
  says ': right$' ashlar-fortran check || fail "the flavour of the package"
  ashlar-fortran add gfortran -fdefault-integer-8 && mpifort -fdefault-integer-8 -c /scene/fortran/hello_f08.f90 || fail "another flavour"
  for program in hello.f hello_mpi.f90 hello_f08.f90; do
    mpif90 -o hello_fortran /scene/fortran/$program && says 'rank 1 of 2' mpiexec -n 2 ./hello_fortran || fail "$program"
  done
}
# Whatever library a program finds, our programs find ours.
runs_with_ours() {
  says 'rank 1 of 2' mpiexec.ashlar -n 2 ./by_name || fail "the program does not run with our library: $(cat said)"
}
runs_with_other() { # PATH: the end of that of the other library, which our mpiexec names
  [ "$(./by_name)" = other ] || fail "the program does not run with $1"
  says "ran with [^ ]*$1, which belongs to another MPI library, and each process ran alone" mpiexec.ashlar -n 2 ./by_name ||
    fail "mpiexec does not say that the program runs with $1: $(cat said)"
  ashlar_info >/dev/null || fail "ashlar_info needs the library that programs find"
  ashlar_tune --help >/dev/null || fail "ashlar_tune needs the library that programs find"
}
# choose GROUP PATH...: what an administrator chooses, all groups.
choose() {
  while [ $# -gt 0 ]; do
    update-alternatives --set "$1" "$2"
    shift 2
  done
}
choose_ours() { choose mpi /usr/bin/mpicc.ashlar mpirun /usr/bin/mpirun.ashlar "mpi-$triplet" "/usr/include/$triplet/ashlar-mpi"; }

apt-get update -qq
files >before

scene "alone"
install_ours /scene/old/*.deb
is_ours mpicc mpicxx mpic++ mpiCC mpicc_abi mpicxx_abi mpifort mpif90 mpif77 mpirun mpiexec
heat2d mpicc mpiexec
fortran
# The program names the library and no folder; the loader finds it by the alternative.
never_says 'RPATH\|RUNPATH' readelf -d heat2d || fail "the program has a run path"
says "libmpi_abi.so.1 => .*/lib/$triplet/libmpi_abi.so.1 " ldd heat2d || fail "another library"
says ' /etc/ashlar/ashlar.yaml' ashlar_info || fail "/etc/ashlar/ashlar.yaml is not read"
ashlar_info check "$lib/ashlar/components.manifest" || fail "the manifest"
says "$lib/ashlar/components/ashlar_transport_shm.so" ashlar_info --components transport || fail "the components' folder"
for package in mpi-c mpi ashlar-mpi; do
  # shellcheck disable=SC2046
  gcc -o by_pkg /scene/examples/hello.c $(pkg-config --cflags --libs $package) && mpiexec -n 2 ./by_pkg || fail "pkg-config $package"
done
gcc -I "/usr/include/$triplet/mpi" -o by_name /scene/examples/hello.c -lmpi && mpiexec -n 2 ./by_name || fail "-lmpi"
mpiexec --trace=run.otf2 -n 2 ./by_name && [ -e run.otf2 ] || fail "an OTF2 archive"
for page in mpicc mpiexec mpirun MPI_Send "3ashlar MPI_Send_c" ashlar ashlar.yaml ashlar_info; do
  # shellcheck disable=SC2086
  man -w $page >/dev/null || fail "no page of $page"
done
never_says ashlar dpkg --verify || fail "files differ from those of the packages"
scene "each package is removed by itself, and all are purged"
apt-get remove -y -qq libashlar-mpi-dev
[ ! -e /usr/bin/mpicc ] || fail "mpicc is left"
mpiexec -n 2 ./by_name >/dev/null || fail "a program without the development files"
apt-get remove -y -qq ashlar-mpi-bin libashlar-mpi1
[ -e /etc/ashlar/ashlar.yaml ] || fail "a removed package loses its settings"
purge_ours
apt-get autoremove -y -qq --purge
files >after
leaves_nothing before after

scene "beside MPICH and Open MPI"
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $others
files >before
install_ours /scene/old/*.deb
for name in mpicc mpirun mpiexec; do # theirs have a higher priority: nothing that users have changes
  [[ $(readlink -f /usr/bin/$name) != *ashlar* ]] || fail "$name changed by the installation"
done
heat2d mpicc.ashlar mpiexec.ashlar
choose_ours
is_ours mpicc mpicxx mpirun mpiexec
heat2d mpicc mpiexec
says mpi_abi pkg-config --libs mpi-c || fail "pkg-config mpi-c"
gcc -I "/usr/include/$triplet/mpi" -o by_name /scene/examples/hello.c -lmpi && mpiexec -n 2 ./by_name || fail "-lmpi"
for other in openmpi mpich; do
  mpicc.$other -o theirs /scene/examples/hello.c
  case $other in openmpi) oversubscribe=--oversubscribe ;; *) oversubscribe= ;; esac
  # shellcheck disable=SC2086
  says 'rank 1 of 2' mpiexec.$other $oversubscribe -n 2 ./theirs || fail "$other beside ours"
  says 'each process ran alone' mpiexec -n 2 ./theirs || fail "a program of $other under our mpiexec"
done

scene "another library of the standard ABI"
# It has the same name for the loader, as the ABI wants; MPI_Init of this one says whose it is.
mkdir -p "$lib/other-mpi"
echo 'int puts(const char*); void exit(int); int MPI_Init(int* c, char*** v) { (void)c, (void)v; puts("other"); exit(0); }' >other.c
gcc -shared -fPIC -Wl,-soname,libmpi_abi.so.1 -o "$lib/other-mpi/libmpi_abi.so.1" other.c
update-alternatives --install "$lib/libmpi_abi.so.1" "libmpi_abi.so.1-$triplet" "$lib/other-mpi/libmpi_abi.so.1" 50
ldconfig
says "libmpi_abi.so.1 .*=> .*/lib/$triplet/libmpi_abi.so.1" ldconfig -p || fail "ldconfig lost the library"
[ "$(readlink "$lib/libmpi_abi.so.1")" = "/etc/alternatives/libmpi_abi.so.1-$triplet" ] ||
  fail "ldconfig made the alternative's link anew: $(readlink "$lib/libmpi_abi.so.1")"
runs_with_other "/lib/$triplet/libmpi_abi.so.1"
choose "libmpi_abi.so.1-$triplet" "$lib/ashlar/libmpi_abi.so.1"
runs_with_ours

scene "a cache of the loader that is missing, or of another day"
cp -p /etc/ld.so.cache cache
rm /etc/ld.so.cache
runs_with_ours
# Its libmpi_abi.so.1 is one that is gone since.
mkdir gone
cp "$lib/other-mpi/libmpi_abi.so.1" gone/
echo "$PWD/gone" >/etc/ld.so.conf.d/0-gone.conf
ldconfig
runs_with_other "$PWD/gone/libmpi_abi.so.1"
rm -r gone /etc/ld.so.conf.d/0-gone.conf
runs_with_ours
# It was written before a choice: the choice holds for it.
cp -p cache /etc/ld.so.cache
choose "libmpi_abi.so.1-$triplet" "$lib/other-mpi/libmpi_abi.so.1"
runs_with_other "/lib/$triplet/libmpi_abi.so.1"
choose "libmpi_abi.so.1-$triplet" "$lib/ashlar/libmpi_abi.so.1"

scene "a library that the administrator has built, in a folder before ours"
cp "$lib/other-mpi/libmpi_abi.so.1" /usr/local/lib/
ldconfig
runs_with_other /usr/local/lib/libmpi_abi.so.1
LD_LIBRARY_PATH=$lib/ashlar runs_with_ours
[ "$(readlink "$lib/libmpi_abi.so.1")" = "/etc/alternatives/libmpi_abi.so.1-$triplet" ] || fail "the link of the alternative changed"
rm /usr/local/lib/libmpi_abi.so.1
ldconfig
runs_with_ours

scene "a choice of the administrator's outlives our packages"
choose "libmpi_abi.so.1-$triplet" "$lib/other-mpi/libmpi_abi.so.1"
apt-get install -y -qq --reinstall --no-install-recommends /scene/old/*.deb
runs_with_other "/lib/$triplet/libmpi_abi.so.1"
update-alternatives --auto "libmpi_abi.so.1-$triplet" # of the higher priority, which is the other's
runs_with_other "/lib/$triplet/libmpi_abi.so.1"
choose "libmpi_abi.so.1-$triplet" "$lib/ashlar/libmpi_abi.so.1"
runs_with_ours

scene "upgrade"
echo 'p2p.eager_limit: 4KiB' >>/etc/ashlar/ashlar.yaml
# A package of a component: the manifest knows it when the package is there.
mkdir -p vendor/DEBIAN "vendor$lib/ashlar/components"
gcc -shared -fPIC -I "/usr/include/$triplet/ashlar-mpi" -o "vendor$lib/ashlar/components/ashlar_report_hello.so" \
  /scene/examples/component-hello/hello.c
printf '%s\n' 'Package: ashlar-mpi-hello' 'Version: 1' "Architecture: $(dpkg --print-architecture)" 'Maintainer: a <a@b.example>' \
  'Description: a component' >vendor/DEBIAN/control
dpkg-deb -b vendor vendor.deb
dpkg -i vendor.deb
grep -q ashlar_report_hello.so "$lib/ashlar/components.manifest" || fail "the manifest does not know a new package's component"
apt-get install -y -qq --no-install-recommends -o Dpkg::Options::=--force-confold /scene/new/*.deb
[ "$(dpkg-query -W -f '${Version}' ashlar-mpi-bin)" = "$(dpkg-deb -f /scene/new/ashlar-mpi-bin_*.deb Version)" ] || fail "not upgraded"
is_ours mpicc mpirun
[ "$(update-alternatives --query mpirun | sed -n 's/^Status: //p')" = manual ] || fail "the choice is lost"
says '/etc/ashlar/ashlar.yaml' ashlar_info explain p2p.eager_limit || fail "settings are lost"
ashlar_info check "$lib/ashlar/components.manifest" || fail "the manifest after the upgrade"
grep -q ashlar_report_hello.so "$lib/ashlar/components.manifest" || fail "the upgrade lost a component"
heat2d mpicc mpiexec
dpkg -P ashlar-mpi-hello
! grep -q ashlar_report_hello.so "$lib/ashlar/components.manifest" || fail "the manifest knows a component that is gone"

scene "purge"
rm -f /etc/ashlar/ashlar.yaml.dpkg-dist
purge_ours
says 'libmpi_abi.so.1 ' ldconfig -p || fail "the other library went along"
[ "$(./by_name)" = other ] || fail "the administrator had chosen ours, and the other one does not take its place"
update-alternatives --remove "libmpi_abi.so.1-$triplet" "$lib/other-mpi/libmpi_abi.so.1"
rm -r "$lib/other-mpi"
ldconfig
apt-get autoremove -y -qq --purge
# Where an administrator had chosen ours, Debian chooses the best of the others again.
[[ $(readlink -f /usr/bin/mpirun) = */orterun ]] || fail "mpirun is $(readlink -f /usr/bin/mpirun)"
files >after
leaves_nothing before after
