#!/bin/bash
# As root, and as a user without a home, without further ado.
. "${0%/*}/common.sh"
need_root
expect_ok "as root" 4 "$MPIEXEC" -n 4 "$JOB"
if setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$JOB" -a -x "$MPIEXEC" 2>/dev/null; then
  expect_ok "as nobody" 4 setpriv --reuid 65534 --regid 65534 --clear-groups "$MPIEXEC" -n 4 "$JOB"
fi
finish
