#!/bin/bash
# Processes outside the job compute on its cores all the time: it works, and its waits find out and sleep.
. "${0%/*}/common.sh"
command -v taskset >/dev/null || skip "no taskset"
mapfile -t cores < <(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' |
  while IFS=- read -r a b; do seq "$a" "${b:-$a}"; done)
two=${cores[0]}${cores[1]+,${cores[1]}}
competitors=()
for core in "${cores[@]:0:2}" "${cores[@]:0:2}"; do
  taskset -c "$core" bash -c 'while :; do :; done' &
  competitors+=($!)
done
trap 'kill "${competitors[@]}" 2>/dev/null; rm -rf "$WORK"' EXIT

expect_ok "every kind of traffic, a core for each rank" 2 taskset -c "$two" "$MPIEXEC" -n 2 "$JOB"
expect_ok "every kind of traffic, more ranks than cores" 6 taskset -c "$two" "$MPIEXEC" -n 6 "$JOB"
says=$(timeout -k 5 60 taskset -c "$two" "$MPIEXEC" --explain=launch -n 4 "$JOB" reduce 3000 2>&1 </dev/null) ||
  fail "3000 reductions: exit status $?"
grep -q 'launch, waiting: sleep at once' <<<"$says" || fail "waits did not find the competitors; --explain says:
$says"
grep -q 'progress.long_yield_oversubscribed' <<<"$says" || fail "--explain does not name the setting"
finish
