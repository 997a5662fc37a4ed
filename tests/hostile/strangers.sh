#!/bin/bash
# Files that another user controls, where this user starts a job: nothing of them is obeyed, nothing hangs, the job runs.
. "${0%/*}/common.sh"
need_root
STRANGER=4712
INFO=$BUILD/bin/ashlar_info
chmod 755 "$WORK"
MARKS=/tmp/ashlar-hostile-marks
trap 'rm -rf "$WORK" "$MARKS"' EXIT
rm -rf "$MARKS"
mkdir -m 1777 "$MARKS" || skip "$MARKS cannot be made"
mkdir "$WORK/plugins" "$WORK/here"
cp "$BUILD/tests/hostile/ashlar_coll_planted.so" "$WORK/plugins/"
unset XDG_CONFIG_HOME
export HOME=$WORK
config="plugin.path: $WORK/plugins"

# job_says WHAT PATTERN COMMAND...: the job runs, loads nothing, and says PATTERN once (and without $ESCAPE).
job_says() {
  local what=$1 pattern=$2 out status
  shift 2
  rm -f "$MARKS"/*
  out=$(cd "$WORK/here" && timeout -k 5 30 "$@" 2>&1 </dev/null)
  status=$?
  [ $status -eq 0 ] && grep -q '^ok' <<<"$out" || fail "$what: exit status $status: $out"
  [ -z "$(ls "$MARKS")" ] || fail "$what: $(ls "$MARKS") was loaded"
  tr -s ' \n' ' ' <<<"$out" | grep -qE -- "$pattern" || fail "$what does not say '$pattern': $out"
  ! grep -q $'\x1b' <<<"$out" || fail "$what writes control characters: $(cat -v <<<"$out")"
}
# The same of mpiexec, of a program alone, and of ashlar_info.
everywhere() {
  job_says "$1, mpiexec" "$2" "$MPIEXEC" -n 2 "$JOB"
  job_says "$1, singleton" "$2" "$JOB"
  local out
  out=$(cd "$WORK/here" && timeout -k 5 30 "$INFO" 2>&1) || fail "$1, ashlar_info: exit status $?: $out"
  tr -s ' \n' ' ' <<<"$out" | grep -qE -- "$2" || fail "$1, ashlar_info does not say '$2': $out"
}
again() { rm -rf "$WORK/here" && mkdir -m "${1:-755}" "$WORK/here"; }

printf '%s\n' "$config" >"$WORK/here/ashlar.yaml"
rm -f "$MARKS"/*
(cd "$WORK/here" && "$MPIEXEC" -n 1 "$JOB" >/dev/null 2>&1)
[ -e "$MARKS/loaded-by-0" ] || fail "one's own file is not obeyed: the tests below prove nothing"

chmod 666 "$WORK/here/ashlar.yaml"
everywhere "a file of mode 666" 'ashlar.yaml is not used: every user may write to it'
chmod 664 "$WORK/here/ashlar.yaml" && chgrp 4000 "$WORK/here/ashlar.yaml"
everywhere "a file that a group may write" 'ashlar.yaml is not used: its group, number 4000, may write to it'
chmod 644 "$WORK/here/ashlar.yaml" && chown $STRANGER "$WORK/here/ashlar.yaml"
everywhere "a stranger's file" 'ashlar.yaml is not used: it belongs to user 4712'
chmod 000 "$WORK/here/ashlar.yaml"
everywhere "a stranger's unreadable file" 'ashlar.yaml is not used: it belongs to user 4712'
again 777
printf '%s\n' "$config" >"$WORK/here/ashlar.yaml"
everywhere "a folder of mode 777" 'ashlar.yaml is not used: every user may replace it'
again
mkfifo "$WORK/here/ashlar.yaml"
everywhere "a FIFO" 'ashlar.yaml is not used: it is a FIFO'
again
ln -s /dev/zero "$WORK/here/ashlar.yaml"
everywhere "a link to /dev/zero" 'is not used: it is a device'
again
printf '%s\n' "$config" >"$WORK/mine.yaml"
ln -s ../mine.yaml "$WORK/here/ashlar.yaml" && chown -h $STRANGER "$WORK/here/ashlar.yaml"
everywhere "a stranger's link to one's own file" 'ashlar.yaml is not used: it is a link of user 4712'
again
mkdir "$WORK/here/ashlar.yaml"
everywhere "a folder of that name" 'ashlar.yaml is not used: it is a folder'
again
printf '"\\e]0;owned\\a\\e[2Jp2p": 1\n' >"$WORK/here/ashlar.yaml"
everywhere "a key with control characters" "there is no parameter '.x1b\\]0;owned.x07.x1b\\[2Jp2p'"

# What a parameter names.
again
chmod 777 "$WORK/plugins"
job_says "a plug-in folder of mode 777" 'plugin.path: .*/plugins is not used: every user may put files into it' \
  "$MPIEXEC" --set plugin.path="$WORK/plugins" -n 2 "$JOB"
chmod 755 "$WORK/plugins"
chmod 666 "$WORK/plugins/ashlar_coll_planted.so"
job_says "a component of mode 666" '(^| )ok 2' "$MPIEXEC" --set plugin.path="$WORK/plugins" -n 2 "$JOB"
"$INFO" --set plugin.path="$WORK/plugins" --components coll | grep -q 'REFUSED: .*every user may write to it' ||
  fail "a component of mode 666 is not shown as refused"
chmod 755 "$WORK/plugins/ashlar_coll_planted.so" && chown $STRANGER "$WORK/plugins/ashlar_coll_planted.so"
job_says "a stranger's component" '(^| )ok 2' "$MPIEXEC" --set plugin.path="$WORK/plugins" -n 2 "$JOB"
# A manifest lies beside the folder: in a shared folder any user may put one there.
mkdir -m 1777 "$WORK/shared" && mkdir -m 755 "$WORK/shared/mine" "$WORK/elsewhere"
cp "$BUILD/tests/hostile/ashlar_coll_planted.so" "$WORK/elsewhere/"
"$INFO" --register "$WORK/elsewhere" || fail "a folder cannot be registered"
sed "1s/.*/ashlar-manifest 1\t$(stat -c '%.Y' "$WORK/shared/mine" | tr -d .)/; s|ashlar_coll_planted.so|../../elsewhere/ashlar_coll_planted.so|" \
  "$WORK/elsewhere.manifest" >"$WORK/shared/mine.manifest"
job_says "a manifest that names a file elsewhere" '(^| )ok 2' "$MPIEXEC" --set plugin.path="$WORK/shared/mine" -n 2 "$JOB"
chown $STRANGER "$WORK/shared/mine.manifest"
job_says "a stranger's manifest" '(^| )ok 2' "$MPIEXEC" --set plugin.path="$WORK/shared/mine" -n 2 "$JOB"

for rules in fifo zero; do
  [ $rules = fifo ] && mkfifo "$WORK/fifo" || ln -s /dev/zero "$WORK/zero"
  out=$(timeout -k 5 30 "$MPIEXEC" --set coll.tuning_file="$WORK/$rules" -n 2 "$JOB" 2>&1)
  [ $? -ne 124 ] && grep -q 'coll.tuning_file: .* is not used: it is a' <<<"$out" || fail "a tuning file that is a $rules: $out"
done
out=$(timeout -k 5 30 "$MPIEXEC" --set report=json --set report.json.file="$WORK/fifo" -n 2 "$JOB" 2>&1)
[ $? -ne 124 ] || fail "a FIFO that nothing reads from holds report/json up: $out"
finish
