#!/bin/bash
# The driver finds an abort, a hang, endless recursion and growing memory, and saves the input that did it.
# usage: driver.sh FUZZ_PLANTED
set -uo pipefail
planted=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
ulimit -c 0
mkdir "$work/seeds"
printf 'plant ted\n' >"$work/seeds/one"
printf 'some more words, 12345\n' >"$work/seeds/two"

"$planted" --runs 3000 "$work/seeds" >"$work/said" || fail "a target without mistakes fails: $(cat "$work/said")"
grep -q '^3002 inputs from 2 seeds' "$work/said" || fail "the numbers: $(cat "$work/said")"
for mistake in abort hang recursion; do
  rm -f "$work/saved"
  PLANT=$mistake "$planted" --runs 200000 --hang-seconds 1 --save "$work/saved" "$work/seeds" >"$work/said" 2>&1 &&
    fail "$mistake is not found: $(cat "$work/said")"
  grep -q planted "$work/saved" || fail "the input of $mistake is not saved: $(cat "$work/said")"
  PLANT=$mistake "$planted" --hang-seconds 1 --save "$work/again" --replay "$work/saved" >"$work/said" 2>&1 &&
    fail "$mistake does not come again: $(cat "$work/said")"
done
PLANT=growth "$planted" --runs 3000 --growth-mib 50 "$work/seeds" >"$work/said" 2>&1 && fail "growth is not found: $(cat "$work/said")"
grep -q 'memory grows' "$work/said" || fail "what is said of growth: $(cat "$work/said")"
# The same seed gives the same inputs.
PLANT=abort "$planted" --runs 200000 --seed 5 --save "$work/a" "$work/seeds" >"$work/first" 2>&1
PLANT=abort "$planted" --runs 200000 --seed 5 --save "$work/a" "$work/seeds" >"$work/second" 2>&1
cmp "$work/first" "$work/second" || fail "two runs of one seed differ"
echo "ok"
