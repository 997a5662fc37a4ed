#!/bin/bash
# Files on a full file system, a read-only one, of another user, under two jobs at once, and with ranks that are killed.
. "${0%/*}/common.sh"
JOB=$BUILD/tests/hostile/files
need_root
need_namespace --mount
python=${PYTHON:-python3}

# Within a mount namespace of its own, so that nothing is left of the file systems.
in_tmpfs() { # OPTIONS COMMAND...: $WORK/disk is the file system
  local options=$1
  shift
  # shellcheck disable=SC2016
  unshare --mount --propagation private sh -c 'mount -t tmpfs -o "$1" none "$2" && shift 2 && exec "$@"' sh "$options" "$WORK/disk" "$@"
}
export -f in_tmpfs
export WORK
mkdir "$WORK/disk"
for way in auto list sieve two_phase mapped; do
  expect_ok "a full disk, $way" 3 bash -c 'in_tmpfs "$@"' bash size=1m "$MPIEXEC" --set io.way=$way -n 3 "$JOB" full "$WORK/disk/out"
done

# Ranges that stay mapped, in memory: the file is cut off beneath them, has holes, and keeps these.
for mode in auto forced; do
  way=mapped
  [ $mode = forced ] || way=auto
  # shellcheck disable=SC2016
  expect_ok "mapped files in memory, $mode" 3 bash -c 'in_tmpfs "$@" && echo ok 3' bash size=64m env TMPDIR="$WORK/disk" \
    "$MPIEXEC" --set io.way=$way -n 3 "$BUILD/tests/mpi/file_mapped" $mode
done

echo text >"$WORK/mine"
# shellcheck disable=SC2016
read_only='mount --bind "$1" "$1/disk" && mount -o remount,ro,bind "$1/disk" && shift && exec "$@"'
expect_ok "a read-only mount" 2 unshare --mount --propagation private sh -c "$read_only" sh "$WORK" "$MPIEXEC" -n 2 "$JOB" open "$WORK/disk/mine" read_only
chmod 600 "$WORK/mine"
chmod 755 "$WORK"
if setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$JOB" -a -x "$MPIEXEC" 2>/dev/null; then
  expect_ok "another user's file" 2 setpriv --reuid 65534 --regid 65534 --clear-groups "$MPIEXEC" -n 2 "$JOB" open "$WORK/mine" access
fi

"$python" -B "$SOURCE/tests/hostile/files_killed.py" "$BUILD" || fail "files_killed.py"
expect_gone "files_killed.py"
finish
