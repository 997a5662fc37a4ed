#!/bin/bash
# Nothing is left behind: files, shared memory, sockets, processes; after good ends and bad ones. A namespace of its own
# makes whatever is found there ours.
if [ "${3-}" != inside ]; then
  . "${0%/*}/common.sh"
  need_root
  need_namespace --mount --net --ipc
  unshare --mount --net --ipc --propagation private bash "$0" "$1" "$2" inside
  exit $?
fi
mount -t tmpfs none /dev/shm
mkdir -p /dev/shm/keep
# The tree may lie below /tmp, so that folder cannot be hidden altogether: TMPDIR leads to an empty one.
export TMPDIR=/dev/shm/keep
. "${0%/*}/common.sh"
before=$(ls -A /tmp /var/tmp "${HOME:-/}" "$PWD")

clean() {
  local found
  expect_gone "$1"
  sleep 0.2
  found=$(find /dev/shm -mindepth 1 ! -path /dev/shm/keep ! -path "$WORK*")
  [ -z "$found" ] || fail "$1: in /dev/shm or TMPDIR: $found"
  found=$(tail -n +2 /proc/net/unix | grep -v ' 00000000 00000003 00000000 .* [0-9]*$')
  [ -z "$found" ] || fail "$1: sockets: $found"
  found=$(tail -n +2 /proc/sysvipc/shm)
  [ -z "$found" ] || fail "$1: System V segments: $found"
}

expect_ok "good end" 4 "$MPIEXEC" -n 4 "$JOB"
clean "good end"
"$JOB" >/dev/null || fail "without a launcher"
clean "without a launcher"
"$BUILD/bin/mpiexec" -n 3 "$BUILD/tests/mpi/error_fatal" abort >/dev/null 2>&1 </dev/null
clean "abort"
"$BUILD/bin/mpiexec" -n 3 "$BUILD/tests/mpi/error_fatal" segv >/dev/null 2>&1 </dev/null
clean "crashed rank"
"$MPIEXEC" -n 4 "$JOB" wait >"$WORK/out" 2>&1 </dev/null &
launcher=$!
for _ in $(seq 100); do [ "$(grep -c '^pid' "$WORK/out")" -eq 4 ] && break; sleep 0.1; done
kill -9 $launcher
wait $launcher 2>/dev/null
clean "killed launcher"
after=$(ls -A /tmp /var/tmp "${HOME:-/}" "$PWD" | grep -i 'ashlar\|pmix' | sort)
earlier=$(grep -i 'ashlar\|pmix' <<<"$before" | sort)
[ "$(comm -13 <(echo "$earlier") <(echo "$after"))" = "" ] || fail "new files: $(comm -13 <(echo "$earlier") <(echo "$after"))"
finish
