#!/bin/sh
# The suite of launch components sees each fault of a component that has one at a time, and says it.
# usage: faults_test.sh CHECK MPIEXEC FAULTY.so
set -eu
check=$1 mpiexec=$2 faulty=$3
said=$(mktemp)
trap 'rm -f "$said"' EXIT
fail() { echo "FAILED: $*"; cat "$said"; exit 1; }

unset FAULT
"$check" "$faulty" >"$said" 2>&1 || fail "the component without a fault is refused"
grep -q '19 tests, 0 wrong' "$said" || fail "not every test is run"

# FAULT, the words of the tests to run, what is said.
fault() {
  FAULT=$1 "$check" --timeout 5 --only "$2" "$faulty" >"$said" 2>&1 && fail "$1: not seen"
  grep -qF "$3" "$said" || fail "$1: '$3' is not said"
}
fault 'joins nothing' 'described whole' 'connect succeeds and gives no job'
fault 'fails without words' 'described whole' 'WRONG'
fault 'crashes in connect' 'described whole' 'connect: it ends the process by signal'
fault 'rank outside' 'described whole' 'Expected: (j.rank) < (j.ranks)'
fault 'no launcher' 'described whole' 'j.launcher'
fault 'descriptor' 'left behind' 'left open: descriptor'
fault 'environment' 'left behind' 'in the environment now: FAULTY_WAS_HERE=1'
fault 'folder' 'left behind' 'the working folder has changed'
fault 'view moves' 'a view stays' 'the view of rank 0 has moved'
fault 'forgets long values' 'put before a fence' 'get of check.1000, rank 0'
fault 'absent is a failure' 'without a value' 'ASHLAR_LAUNCH_NOT_FOUND'
fault 'overruns' 'small buffer' 'it writes behind the buffer'
fault 'exits in a fence' 'many barriers' 'it ends the process with exit status 0'
fault 'hangs in a fence' 'many barriers' 'it does not end within 5 s'
fault 'tells of failures' 'no failure' 'Expected equality of these values'
fault 'abort is no failure' 'abort ends' "the job's end by abort() is no failure"
fault 'sets of others' 'process sets' 'app://all=0-3'

# Under a launcher: processes that are jobs of their own are no ranks, and a launcher that cannot start any is one sentence.
"$check" --launcher "$mpiexec -n 2" --only 'many barriers' "$faulty" >"$said" 2>&1 && fail "two jobs of one are taken for a job"
grep -q '2 processes came to the end of the test, of 1 ranks' "$said" || fail "the two jobs are not told"
"$check" --launcher 'no-such-launcher -n 2' "$faulty" >"$said" 2>&1 && fail "a launcher that is not there is no fault"
grep -q 'no process can be started with it' "$said" || fail "the missing launcher is not told"
[ "$("$check" --launcher '' x.so 2>&1 || true)" = 'ashlar_component_check: --launcher takes a command; --help lists the options' ] || fail "an empty launcher"
echo ok
