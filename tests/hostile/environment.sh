#!/bin/bash
# No environment, no home, no place for temporary files, closed standard files, few open files allowed.
. "${0%/*}/common.sh"
expect_ok "no environment variables" 3 env -i "$MPIEXEC" -n 3 "$JOB"
expect_ok "no HOME" 3 env -u HOME -u TMPDIR -u USER -u LOGNAME "$MPIEXEC" -n 3 "$JOB"
expect_ok "a TMPDIR that is not there" 3 env TMPDIR=/no/such/folder HOME=/no/such/home "$MPIEXEC" -n 3 "$JOB"
# shellcheck disable=SC2016
expect_ok "closed standard input" 3 sh -c 'exec "$@" <&-' sh "$MPIEXEC" -n 3 "$JOB"
# shellcheck disable=SC2016
expect_ok "closed standard error" 3 sh -c 'exec "$@" 2>&-' sh "$MPIEXEC" -n 3 "$JOB"
# shellcheck disable=SC2016
expect_ok "64 open files" 4 sh -c 'ulimit -n 64 && exec "$@"' sh "$MPIEXEC" -n 4 "$JOB"
# shellcheck disable=SC2016
expect_ok "another folder that is gone" 2 sh -c 'mkdir "$0/gone" && cd "$0/gone" && rmdir "$0/gone" && exec "$@"' "$WORK" \
  "$MPIEXEC" -n 2 "$JOB"
if [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then
  # shellcheck disable=SC2016
  expect_ok "read-only /tmp" 3 unshare --mount --propagation private sh -c \
    'for folder in /tmp /var/tmp; do
       mount --bind "$folder" "$folder" && mount -o remount,ro,bind "$folder" || exit 1
     done
     unset HOME TMPDIR
     if (: >/tmp/ashlar-probe) 2>/dev/null; then echo "/tmp is not read-only"; exit 1; fi
     exec "$@"' sh \
    "$MPIEXEC" -n 3 "$JOB"
fi
finish
