#!/bin/bash
# /dev/shm of 64 KiB, full, read-only, and not there at all.
. "${0%/*}/common.sh"
need_root
need_namespace --mount
# shellcheck disable=SC2016
within() { unshare --mount --propagation private sh -c "$1"' && shift && exec "$@"' sh "$@"; }
export -f within
run() { expect_ok "$1" 4 bash -c 'within "$@"' bash "$2" "$MPIEXEC" -n 4 "$JOB"; }
run "64 KiB" "mount -t tmpfs -o size=64k none /dev/shm"
run "full" "mount -t tmpfs -o size=64k none /dev/shm; { cat /dev/zero >/dev/shm/full 2>/dev/null; true; }"
run "read-only" "mount -t tmpfs -o ro none /dev/shm"
run "no /dev/shm" "mount -t tmpfs none /mnt && mkdir /mnt/dev && mount --rbind /dev /mnt/dev && umount -l /dev/shm"
# shellcheck disable=SC2016
expect_ok "64 KiB, 8 ranks" 8 bash -c 'within "$@"' bash "mount -t tmpfs -o size=64k none /dev/shm" "$MPIEXEC" -n 8 "$JOB"
# Without memfd_create, too, the files that replace it go where there is room.
# shellcheck disable=SC2016
expect_ok "64 KiB, no memfd" 4 bash -c 'within "$@"' bash "mount -t tmpfs -o size=64k none /dev/shm" "$FORBID" EPERM memfd_create -- \
  "$MPIEXEC" -n 4 "$JOB"
finish
