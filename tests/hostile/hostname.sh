#!/bin/bash
# A host name that nothing resolves.
. "${0%/*}/common.sh"
need_root
need_namespace --uts
for name in no-such-host.invalid localhost a "$(printf 'x%.0s' {1..60})"; do
  # shellcheck disable=SC2016
  expect_ok "host name $name" 3 unshare --uts sh -c 'hostname "$0" && exec "$@"' "$name" "$MPIEXEC" -n 3 "$JOB"
done
finish
