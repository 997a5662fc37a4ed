# shellcheck shell=bash
# Sourced by the tests of this folder, called as TEST.sh BUILD SOURCE. Exit status 77: the condition cannot be made here.
set -uo pipefail
BUILD=$1 SOURCE=$2
export BUILD SOURCE
MPIEXEC=$BUILD/bin/mpiexec
JOB=$BUILD/tests/hostile/job
FORBID=$BUILD/tests/hostile/forbid
WORK=$(mktemp -d "${TMPDIR:-/tmp}/ashlar-hostile.XXXXXX")
trap 'rm -rf "$WORK"' EXIT
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}
skip() {
  echo "skipped: $*"
  exit 77
}
need_root() { [ "$(id -u)" -eq 0 ] || skip "only root can make this condition"; }
# need_namespace FLAGS...: whether unshare works here (containers may forbid it).
need_namespace() { unshare "$@" true 2>/dev/null || skip "unshare $* is not permitted here"; }

# Processes that run the job now (zombies do not count: their parent is gone or about to look).
job_processes() {
  local exe
  for exe in /proc/[0-9]*/exe; do
    [ "$(readlink "$exe" 2>/dev/null)" = "$JOB" ] && basename "$(dirname "$exe")"
  done
}
# All ranks gone within some seconds?
expect_gone() {
  local i left
  for i in $(seq 50); do
    left=$(job_processes)
    [ -z "$left" ] && return 0
    sleep 0.1
  done
  fail "$1: still running after $((i / 10)) s: $left"
  # shellcheck disable=SC2086
  kill -9 $left
}

# expect_ok WHAT RANKS COMMAND...: the command is a run of the job; it must end well, within a minute.
expect_ok() {
  local what=$1 ranks=$2 out status
  shift 2
  out=$(timeout -k 5 60 "$@" 2>&1 </dev/null)
  status=$?
  if [ $status -eq 77 ]; then skip "$out"; fi
  if [ $status -ne 0 ] || ! grep -qx "ok $ranks" <<<"$out"; then
    fail "$what: exit status $status, output:
$out"
  fi
  expect_gone "$what"
}

finish() { exit $((failures > 0)); }
