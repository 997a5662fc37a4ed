#!/bin/sh
# ashlar_component_check over components right and wrong: every fault is a sentence, and the exit status tells.
# usage: check_test.sh CHECK BUILD_FOLDER
set -eu
check=$1 build=$2 fixtures=$2/tests/fixtures
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "FAILED: $*"; cat said; exit 1; }
right() { "$check" "$@" >said 2>&1 || fail "$* is refused"; }
wrong() { file=$1; shift; "$check" --timeout 5 "$file" >said 2>&1 && fail "$file is accepted"
  for words in "$@"; do grep -qF "$words" said || fail "$file: '$words' is not said"; done; }

# Components that are not a framework's, or do not live to be asked.
right "$fixtures/good/ashlar_report_good.so"
grep -q 'takes error records' said || fail "the report component was not tried"
wrong "$fixtures/crashes/ashlar_report_crashes.so" 'loading it, which runs its constructors: it ends the process by signal'
wrong "$fixtures/exits/ashlar_report_exits.so" 'open: it ends the process with exit status 0'
wrong "$fixtures/major/ashlar_report_major.so" 'built for component contract 7.'
wrong /nowhere.so 'there is no file /nowhere.so'

# A crash is a sentence that says where, of a component of any framework.
for framework in transport coll launch report topology tool; do
  wrong "$fixtures/${framework}_open/ashlar_${framework}_open.so" 'WRONG   open: it ends the process by signal'
  wrong "$fixtures/${framework}_query/ashlar_${framework}_query.so" 'query: it ends the process by signal'
done

# Algorithms.
right "$build/tests/rounds/ashlar_coll_rounds.so" --only 'every number of ranks' --list
[ "$(grep -c 'every number of ranks and every size' said)" = 20 ] || fail "there is not a test for each algorithm"
"$check" "$build/tests/rounds/ashlar_coll_rounds.so" >said 2>&1 && fail "algorithms that fail are accepted"
grep -q 'round 1 was told to fail' said || fail "the failing round is not told"
grep -q "algorithm rounds_miss has a message for rank" said || fail "the message to no rank is not told"
grep -q 'its restrictions leave no call' said || fail "an algorithm that never serves is accepted"
[ "$(grep -c '^  ok .*: every number of ranks' said)" = 17 ] || fail "the right algorithms are not found right"

# A transport that makes no interface: the test says why and ends, and the next one runs.
tcp=$build/lib/ashlar/components/ashlar_transport_tcp.so
"$check" --set interfaces=none0 --timeout 5 "$tcp" >said 2>&1 && fail "a transport that makes no interface is accepted"
grep -q 'no interface is made: tcp.no_interface' said || fail "the reason of the missing interface is not told"
grep -q 'ends the process by signal' said && fail "a missing interface ends tests by a signal"

# Tools.
right "$build/tests/probes/ashlar_tool_probe.so"
grep -q 'ok *more calls than there is room for' said || fail "the tool's buffer was not filled"

# Parameters.
"$check" --set no_such=1 "$fixtures/good/ashlar_report_good.so" >said 2>&1 && fail "a parameter that is not there is accepted"
grep -q 'it has no parameter no_such, which --set names' said || fail "the parameter is not named"
"$check" --set no_such x.so >said 2>&1 && fail "--set without a value is accepted"
grep -q -- '--set takes NAME=VALUE, not no_such' said || fail "the missing value is not told"

# The command line.
"$check" >said 2>&1 && fail "no file is no mistake"
[ "$("$check" --frobnicate x.so 2>&1 || echo $?)" = "$(printf '%s\n2' 'ashlar_component_check: there is no option --frobnicate; --help lists the options')" ] || fail "the option"
"$check" --help | grep -q '^Usage: ashlar_component_check' || fail "the help"
echo ok
