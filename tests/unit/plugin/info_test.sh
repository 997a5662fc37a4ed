#!/bin/sh
# ashlar_info's answers: what people read, valid JSON for tools, exit statuses.
# usage: info_test.sh BUILD_FOLDER PYTHON
set -eu
info=$1/bin/ashlar_info python=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
cd "$work"
export HOME=$work
unset XDG_CONFIG_HOME ASHLAR_log ASHLAR_report ASHLAR_explain || true

"$info" --version | grep -q '^Ashlar MPI [0-9]' || fail "version"
"$info" | grep -q '^  stderr ' || fail "the overview lists no report component"
"$info" --components report | grep -q 'ashlar_report_json.so, report/1' || fail "components of one framework"

mkdir .config
printf 'log: warn\nreport: stderr\n' >.config/ashlar.yaml
printf 'log: info   # the project knows better\n' >ashlar.yaml
ASHLAR_LOG=debug "$info" explain log >explained
grep -q '^log = debug$' explained || fail "winner"
grep -q '^  from  environment ASHLAR_LOG (environment)$' explained || fail "origin of the winner"
grep -q "^  not   info  from $work/ashlar.yaml:1 (project): overridden by environment ASHLAR_LOG" explained || fail "first loser"
grep -q "^  not   warn  from $work/.config/ashlar.yaml:1 (user)" explained || fail "second loser"
grep -q '^  not   error  the built-in value$' explained || fail "the built-in value"
"$info" --set log=trace --params log | grep -q '^log .*trace .*(--set log=trace)$' || fail "--set"
"$info" --params report.json --level user-basic | grep -q '^report.json.file' || fail "parameters of a component"
"$info" --params plugin --level user-basic | grep -q 'plugin.path' && fail "the level is not heeded"

"$info" explain lgo >said && fail "an unknown key is a success"
grep -q "did you mean 'log'?" said || fail "no suggestion"
printf 'lgo: info\n' >ashlar.yaml
"$info" >/dev/null 2>said || fail "an unknown key of a file is an error"
grep -q "$work/ashlar.yaml:1: there is no parameter 'lgo'; did you mean 'log'?" said || fail "unknown key of a file"
printf 'log: loud\n' >ashlar.yaml
"$info" >/dev/null 2>said && fail "a wrong value is a success"
grep -q "$work/ashlar.yaml:1: log: 'loud' is none of its choices: error, warn, info, debug or trace" said || fail "wrong value"
"$info" --nonsense 2>/dev/null && fail "unknown options are accepted"

rm ashlar.yaml
for question in "" --components --params "explain log" "explain lgo"; do
  # shellcheck disable=SC2086
  { "$info" --json $question || true; } | "$python" -c 'import json, sys; json.load(sys.stdin)' || fail "JSON of '$question'"
done
"$info" --check "$1/lib/ashlar/components/ashlar_report_json.so" >/dev/null 2>&1 || fail "the check refuses report/json"
"$info" --check /bin/true >said && fail "the check accepts a program"
grep -q 'WRONG' said || fail "no reason"

# A folder of one's own.
mkdir mine
cp "$1/lib/ashlar/components/ashlar_report_json.so" mine/
"$info" --register mine
[ "$(grep -c ^C mine.manifest)" = 1 ] || fail "manifest of a folder of one's own"
ASHLAR_plugin_path=$work/mine "$info" --components report | grep -q 'REFUSED: it is replaced by' || fail "the folder of the user does not win"
echo "ok"
