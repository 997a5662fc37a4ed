#!/bin/bash
# The Debian packages: built, held against Debian's rules by lintian and against the budgets of tests/bench, and used in a
# clean Debian (packages_inside.sh).
# usage: packages.sh BUILD SOURCE [FOLDER]   with a FOLDER of packages and their .changes, these instead of new ones
# Exit status 77: this machine cannot make a clean Debian. APT_MIRROR names another mirror than Debian's own.
. "${0%/*}/common.sh"
set -o pipefail
unset DESTDIR
trap 'rm -rf --one-file-system "$WORK"' EXIT
mirror=${APT_MIRROR:-http://deb.debian.org/debian}
suite=bookworm

skip() {
  echo "skipped: $*"
  exit 77
}
# What a command prints is shown when it fails.
quietly() {
  "$@" >command.log 2>&1 </dev/null || fail "$*: $(tail -n 40 command.log)"
}

[ "$(id -u)" -eq 0 ] || skip "only root can make a clean Debian here"
for tool in dpkg-buildpackage dh lintian mmdebstrap valgrind; do
  command -v $tool >/dev/null || skip "there is no $tool; the lists packages_deb and packages_test of bootstrap have its package"
done
unshare --mount --pid --fork true 2>/dev/null || skip "this machine does not allow namespaces, which mmdebstrap needs"
python3 -c "import sys, urllib.request as u; u.urlopen(sys.argv[1], timeout=20).read(1)" "$mirror/dists/$suite/InRelease" 2>/dev/null ||
  skip "a clean Debian is made from a mirror, and $mirror is not reached; APT_MIRROR names another"

deb=${3-}
if [ -z "$deb" ]; then
  deb=$SOURCE/build/deb
  quietly "$SOURCE/bootstrap" deb --no-packages
fi
# lintian prints what it finds; what it finds and we keep is in the packages' lists of overrides, with the reason.
lintian --allow-root --fail-on error,warning --tag-display-limit 0 "$deb"/*.changes >lintian.log 2>&1 ||
  fail "lintian: $(cat lintian.log)"

# The same packages under a later version, in which the file of settings has changed: what a user upgrades to.
mkdir old new
cp "$deb"/*.deb old/
rm -f old/*-dbgsym_*
for package in old/*.deb; do
  dpkg-deb -R "$package" unpacked
  version=$(dpkg-deb -f "$package" Version)
  sed -i "s/^Version: .*/&+later/; s/(= $version)/(= $version+later)/g" unpacked/DEBIAN/control
  [ ! -e unpacked/etc/ashlar/ashlar.yaml ] || echo '# A line of the later version.' >>unpacked/etc/ashlar/ashlar.yaml
  quietly dpkg-deb -b unpacked new/
  rm -rf unpacked
done

# Debian's flags are others than those of the tree, and cost nothing on the short paths: the same budgets hold.
mkdir unpacked
for package in old/*.deb; do
  dpkg-deb -x "$package" unpacked
done
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
lib=$WORK/unpacked/usr/lib/$triplet/ashlar
for program in instructions collective_instructions; do
  quietly gcc -O2 -I "unpacked/usr/include/$triplet/ashlar-mpi" -o $program "$SOURCE/tests/bench/$program.c" \
    "$lib/libmpi_abi.so.1" "-Wl,-rpath,$lib"
done
python3 "$SOURCE/tests/bench/instructions.py" unpacked/usr/bin/mpiexec.ashlar ./instructions ./collective_instructions \
  "$SOURCE/tests/bench/budgets/instructions" >budgets.log 2>&1 </dev/null || fail "a budget of the library in the package: $(cat budgets.log)"
rm -rf unpacked

# With what the scenes need: a compiler, and the other implementations, fetched once and installed later.
others="mpich libmpich-dev openmpi-bin libopenmpi-dev"
quietly mmdebstrap --mode=root --variant=minbase --include=gcc,gfortran,libc6-dev,pkg-config,man-db $suite "$WORK/root" "$mirror"
[ ! -e /etc/resolv.conf ] || cp /etc/resolv.conf root/etc/
mkdir root/scene
cp -r old new "$SOURCE/examples" "$SOURCE/tests/user/fortran" "$SOURCE/tests/user/packages_inside.sh" root/scene/
# The clean Debian has processes, /dev/shm and a /tmp of its own; all of it ends with this command.
# shellcheck disable=SC2016
unshare --mount --pid --fork --kill-child sh -eu -c '
  mount -t proc proc "$1/proc"
  mount -t sysfs sys "$1/sys"
  mount --rbind /dev "$1/dev"
  mount -t tmpfs shm "$1/dev/shm"
  exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    ${http_proxy:+http_proxy="$http_proxy"} bash /scene/packages_inside.sh "$2"' sh "$WORK/root" "$others" >inside.log 2>&1 </dev/null ||
  fail "in the clean Debian: $(tail -n 60 inside.log)"
