#!/bin/bash
# The launcher is killed, a rank is killed, the launcher is asked to stop: everything ends, and it is said who ended how.
. "${0%/*}/common.sh"

# start RANKS: a job that waits; its launcher is $launcher, its ranks' lines are in $WORK/out.
start() {
  : >"$WORK/out" # here, not when the background process gets to it: the lines of the job before are not to be counted
  "$MPIEXEC" -n "$1" "$JOB" wait >"$WORK/out" 2>"$WORK/err" </dev/null &
  launcher=$!
  for _ in $(seq 100); do
    [ "$(grep -c '^pid' "$WORK/out")" -eq "$1" ] && return 0
    sleep 0.1
  done
  fail "the job of $1 ranks did not start: $(cat "$WORK/out" "$WORK/err")"
}
pid_of() { sed -n "s/^pid $1 //p" "$WORK/out"; }

start 4
kill -9 $launcher
wait $launcher 2>/dev/null
expect_gone "killed launcher"

for rank in 0 2; do
  start 4
  victim=$(pid_of $rank)
  kill -9 "$victim"
  wait $launcher
  status=$?
  [ $status -eq 137 ] || fail "rank $rank killed: exit status $status, not 137"
  grep -qi "rank $rank" "$WORK/err" || fail "rank $rank killed: not named in: $(cat "$WORK/err")"
  grep -qi 'signal 9\|SIGKILL' "$WORK/err" || fail "rank $rank killed: the signal is not named in: $(cat "$WORK/err")"
  expect_gone "rank $rank killed"
done

# SIGINT is missing here: a shell starts background jobs with it ignored. tests/launch sends it.
for signal in TERM HUP; do
  start 3
  kill -$signal $launcher
  wait $launcher
  status=$?
  [ $status -ne 0 ] || fail "SIG$signal to the launcher: exit status 0"
  expect_gone "SIG$signal to the launcher"
done

# A stopped rank does not keep the job from ending.
start 3
kill -STOP "$(pid_of 1)"
kill -TERM $launcher
wait $launcher
expect_gone "a stopped rank"
finish
