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
"$info" --compnents 2>said && fail "unknown options are accepted"
printf '%s\n' "ashlar_info: unknown argument '--compnents'" "  - Did you mean --components?" >wanted
head -2 said | cmp -s - wanted || fail "an unknown option: $(cat said)"
rm ashlar.yaml
"$info" --params transport.shn >said 2>&1 && fail "parameters that do not exist are a success"
grep -q "there are no parameters below 'transport.shn'" said && grep -q "Did you mean 'transport.shm'?" said || fail "no parameters: $(cat said)"
"$info" --components nosuch >said 2>&1 && fail "a framework that does not exist is a success"
grep -q "there is no framework 'nosuch'; there are launch, transport, coll, " said || fail "no framework: $(cat said)"
"$info" --set plugin.path=/nowhere:/tmp >/dev/null 2>said || fail "a folder that is not there is an error"
[ "$(cat said)" = "ashlar_info: plugin.path (--set plugin.path=/nowhere:/tmp): there is no folder /nowhere" ] ||
  fail "a folder that is not there: $(cat said)"
"$info" --components rma >said || fail "a framework without components is a failure"
"$info" --set transport=nosuch >/dev/null 2>said && fail "choosing what is not installed is a success"
grep -q "there is no transport component called 'nosuch'.*installed: .*self, shm" said || fail "a wrong choice: $(cat said)"
"$info" --messages "MPI_Send failed: argument dest is 9, but communicator 'rows' has ranks 0..3. MPI_PROC" >said ||
  fail "no message has a sentence as printed: $(cat said)"
[ "$(sed -n 1p said)" = argument.rank ] || fail "another message has that sentence: $(cat said)"
[ "$(grep -c '^[a-z]' said)" = 1 ] || fail "more than one message has that sentence: $(cat said)"
"$info" --messages "dest is 9, but communicator 'rows' has ranks 0..3" >said || fail "no message has a part of a sentence"
[ "$(grep '^[a-z]' said)" = argument.rank ] || fail "other messages have that part: $(cat said)"
"$info" --messages handle.freed >said || fail "no message is called handle.freed"
grep -q "^  - The call that frees sets one variable to the null handle" said || fail "no advice: $(cat said)"
grep -q '^The manual page ashlar-messages(7) has every message\.$' said || fail "the page is not named: $(cat said)"
"$info" --messages "no such sentence" >said 2>&1 && fail "a sentence that no message has is a success"
grep -q "no message is called 'no such sentence'" said || fail "no such message: $(cat said)"
for question in "" --components --params --messages "explain log" "explain lgo"; do
  # shellcheck disable=SC2086
  { "$info" --json $question || true; } | "$python" -c 'import json, sys; json.load(sys.stdin)' || fail "JSON of '$question'"
done
"$info" --check "$1/${LIBDIR:-lib}/ashlar/components/ashlar_report_json.so" >/dev/null 2>&1 || fail "the check refuses report/json"
"$info" --check /bin/true >said && fail "the check accepts a program"
grep -q 'WRONG' said || fail "no reason"

"$info" --check "$1/tests/fixtures/good/ashlar_report_good.so" >said || fail "the check refuses a good component: $(cat said)"
check_says() {
  "$info" --check "$1" >said 2>&1 && fail "the check accepts $1: $(cat said)"
  grep -qF "$2" said || fail "the check of $1 does not say '$2': $(cat said)"
}
fixtures=$1/tests/fixtures
check_says "$fixtures/exits/ashlar_report_exits.so" 'WRONG   open: it ends the process with exit status 0'
check_says "$fixtures/crashes/ashlar_report_crashes.so" 'loading it, which runs its constructors: it ends the process by signal'
check_says "$fixtures/hangs/ashlar_report_hangs.so" 'WRONG   open: it does not end within 10 s'
check_says "$fixtures/unread/ashlar_report_unread.so" "its parameter 'limit': 'much' is not a size in bytes"
check_says "$fixtures/elsewhere/ashlar_report_elsewhere.so" "its parameter 'limit': '8KiB' is outside its range, 1MiB to 1GiB"

# Files that the library would obey: which kind, and every mistake with its line.
lines_of() { # FILE KIND: the mistakes, one in a line; a mistake makes the exit status 1
  status=0
  "$info" check "$1" >said 2>&1 || status=$?
  grep -qF "$1 is $2" said || fail "the kind of $1: $(cat said)"
  if grep -q '^It has no mistake\.$' said; then [ $status = 0 ]; else [ $status = 1 ]; fi || fail "exit status $status: $(cat said)"
}
cat >site.yaml <<'END'
p2p.eager_limi: 4KiB
p2p: {eager_limit: {value: 4Q, lok: true}}
log: loud
transport: shn
coll.allreduce.algorithm: rng
rules: [{when: {hots: x}, set: {check.leaks: true}}]
classes: {gpu: 'gpu*'}
END
lines_of site.yaml "a parameter file, checked as one of the layer 'site'"
while read -r line words; do
  grep -q "^site.yaml:$line: .*$words" said || fail "no mistake '$words' in line $line: $(cat said)"
done <<'END'
1 there is no parameter 'p2p.eager_limi'; did you mean 'p2p.eager_limit'?
2 p2p.eager_limit: '4Q' ends in the unknown unit 'Q'
2 'p2p.eager_limit' has the unknown attribute 'lok'
3 log: 'loud' is none of its choices
4 transport: there is no transport component called 'shn' (did you mean 'shm'?)
5 coll.allreduce.algorithm: there is no allreduce algorithm 'rng'.*did you mean 'ring'
6 check.leaks: when: knows no condition 'hots' (did you mean 'host'?)
END
grep -q '^7 mistakes\.$' said || fail "the number of mistakes: $(cat said)"
"$info" --json check site.yaml | "$python" -c '
import json, sys
said = json.load(sys.stdin)
assert [m["line"] for m in said["mistakes"]] == [1, 2, 2, 3, 4, 5, 6], said' || fail "JSON of the mistakes"
"$info" explain log | grep -q loud && fail "a file that is only checked is obeyed"
printf 'log: {value: warn, lock: true}\n' >ashlar.yaml
lines_of ashlar.yaml "a parameter file, checked as one of the layer 'project'"
grep -q '^ashlar.yaml:1: only the site' said || fail "a lock of a project's file: $(cat said)"
rm ashlar.yaml
printf 'log: warn\n' >right.yaml
lines_of right.yaml "a parameter file"
grep -q 'no mistake' said || fail "a right file: $(cat said)"
printf 'schema: 1\nallreduce:\n  a: {bytes: ..4Q, use: rng}\n  b: {rnks: 2, use: ring}\nallredce: {x: {use: ring}}\n' >tuning.yaml
lines_of tuning.yaml "a tuning file"
grep -q "^tuning.yaml:3: cannot read '..4Q' as bytes" said || fail "a wrong range: $(cat said)"
grep -q "^tuning.yaml:3: there is no allreduce algorithm 'rng'.*did you mean 'ring'" said || fail "a wrong algorithm: $(cat said)"
grep -q "^tuning.yaml:4: 'rnks' is unknown;.*did you mean 'ranks'" said || fail "a wrong condition: $(cat said)"
grep -q "^tuning.yaml:5: there is no collective 'allredce'; did you mean 'allreduce'" said || fail "a wrong collective: $(cat said)"
lines_of "$1/${LIBDIR:-lib}/ashlar/components.manifest" "the manifest of a component folder"
grep -q 'no mistake' said || fail "the manifest that the build made: $(cat said)"
printf 'ashlar-manifest 1\t0\n' >components.manifest && mkdir components
lines_of components.manifest "the manifest of a component folder"
grep -q '^ashlar_info --register components writes it anew\.$' said || fail "no advice: $(cat said)"
mkfifo fifo
timeout 10 "$info" check fifo >said 2>&1 && fail "a FIFO is a file"
grep -q 'it is a FIFO, not a regular file' said || fail "a FIFO: $(cat said)"
"$info" check nowhere.yaml >said 2>&1 && fail "a file that is not there has no mistake"
grep -q 'there is no file nowhere.yaml' said || fail "a file that is not there: $(cat said)"
"$info" --json check "$1/tests/fixtures/good/ashlar_report_good.so" 2>/dev/null | "$python" -c '
import json, sys
assert json.load(sys.stdin)["right"] is True' || fail "JSON of a component"

mkfifo fifo.so
check_says fifo.so 'it is a FIFO, not a regular file'
"$info" "$(printf 'a\033[2Jb')" >said 2>&1 && fail "an argument of control characters is accepted"
grep -q 'a.x1b\[2Jb' said || fail "control characters of an argument are written as they are: $(cat -v said)"

# Coverage: by chapter, from the list beside the library, which may be another's.
"$info" --coverage >said || fail "no list of functions"
grep -q '^[1-9][0-9]* of [1-9][0-9]* functions are implemented:$' said || fail "the sum of the coverage"
grep -qE '^  pt2pt +[1-9][0-9]* of +[1-9][0-9]*$' said || fail "a chapter of the coverage"
"$info" --json --coverage | "$python" -c '
import json, sys
all = json.load(sys.stdin)
assert all["pt2pt"]["MPI_Send"] == all["pt2pt"]["MPI_Send_c"] == "implemented", all["pt2pt"]
print(sum(state == "implemented" for chapter in all.values() for state in chapter.values()),
      "of", sum(map(len, all.values())), "functions are implemented:")' >sums || fail "JSON of the coverage"
[ "$(head -1 said)" = "$(cat sums)" ] || fail "the sums of text and JSON differ: $(head -1 said)"
mkdir -p other/bin "other/${LIBDIR:-lib}" other/share/ashlar
cp "$info" other/bin/ && cp "$1/${LIBDIR:-lib}/libashlar.so" "other/${LIBDIR:-lib}/"
other/bin/ashlar_info --coverage >said 2>&1 && fail "a list that is not there is a success"
grep -q "other/share/ashlar/coverage.txt, is not installed" said || fail "where the list should be: $(cat said)"
printf 'MPI_A implemented one\nMPI_B unsupported one\nMPI_C unsupported two\n' >other/share/ashlar/coverage.txt
other/bin/ashlar_info --coverage >said
sed -e 's/^  *//' -e 's/  */ /g' said | tr '\n' '|' | grep -qF \
  '1 of 3 functions are implemented:||one 1 of 2|two 0 of 1 none so far||These are not; they give MPI_ERR_UNSUPPORTED_OPERATION (MPI_T_: MPI_T_ERR_NOT_SUPPORTED):||one|MPI_B|two|MPI_C|' ||
  fail "coverage of another installation: $(cat said)"

# What MPI_T shows, of the kernel and of the components that a process uses.
"$info" --pvars p2p >said || fail "no performance variables"
grep -q '^p2p.unexpected_peak *(high-water)$' said || fail "a performance variable: $(head -3 said)"
"$info" --json --pvars transport.shm | "$python" -c '
import json, sys
all = {row["name"]: row for row in json.load(sys.stdin)}
assert all["transport.shm.rings"]["class"] == "level", all
assert all["transport.shm.rings"]["level"] == "tuner-detail", all' || fail "JSON of performance variables"
"$info" --events p2p.message_unexpected >said || fail "no events"
grep -q '(4 fields)$' said || fail "an event: $(cat said)"
"$info" --json --categories transport | "$python" -c '
import json, sys
all = {row["name"]: row for row in json.load(sys.stdin)}
assert int(all["transport"]["categories"]) >= 2 and int(all["transport.shm"]["control_variables"]) > 10, all' ||
  fail "JSON of categories"
"$info" --pvars p2q >said 2>&1 && fail "variables of a room that there is not"
grep -q "Did you mean 'p2p'" said || fail "what was meant: $(cat said)"

# A folder of one's own.
mkdir mine
cp "$1/${LIBDIR:-lib}/ashlar/components/ashlar_report_json.so" mine/
"$info" --register mine
[ "$(grep -c ^C mine.manifest)" = 1 ] || fail "manifest of a folder of one's own"
ASHLAR_plugin_path=$work/mine "$info" --components report | grep -q 'REFUSED: it is replaced by' || fail "the folder of the user does not win"
echo "ok"
