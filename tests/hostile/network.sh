#!/bin/bash
# No network at all, and nothing but the loopback interface.
. "${0%/*}/common.sh"
need_root
need_namespace --net
expect_ok "no interface is up" 4 unshare --net "$MPIEXEC" -n 4 "$JOB"
# shellcheck disable=SC2016
if command -v ip >/dev/null; then
  expect_ok "only lo" 4 unshare --net sh -c 'ip link set lo up && exec "$@"' sh "$MPIEXEC" -n 4 "$JOB"
fi
finish
