#!/bin/bash
# More ranks than cores: it works, and it does not crawl.
. "${0%/*}/common.sh"
command -v taskset >/dev/null || skip "no taskset"
mapfile -t cores < <(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' |
  while IFS=- read -r a b; do seq "$a" "${b:-$a}"; done)
two=${cores[0]}${cores[1]+,${cores[1]}}
expect_ok "16 ranks on two cores" 16 taskset -c "$two" "$MPIEXEC" -n 16 "$JOB"
expect_ok "8 ranks on one core" 8 taskset -c "${cores[0]}" "$MPIEXEC" -n 8 "$JOB"
start=$(date +%s%N)
expect_ok "2000 reductions of 16 ranks on two cores" 16 taskset -c "$two" "$MPIEXEC" -n 16 "$JOB" reduce 2000
took=$((($(date +%s%N) - start) / 1000000))
# 16 context switches per reduction at a few microseconds each; this leaves room for a machine ten times busier.
[ $took -lt 20000 ] || fail "2000 reductions took $took ms"
expect_ok "40 ranks" 40 "$MPIEXEC" -n 40 "$JOB" reduce 20
finish
