#!/bin/bash
# Programs with more rights than the user who starts them (set-user-ID, set-group-ID, file capabilities): nothing that
# this user controls is loaded, read or written by them. Everything is tried with an ordinary program first: there it works.
. "${0%/*}/common.sh"
need_root
USER_ID=4711
JOB=$BUILD/tests/hostile/elevated
as_user() { setpriv --reuid $USER_ID --regid $USER_ID --clear-groups "$@"; }
chmod 755 "$WORK"
MARKS=/tmp/ashlar-hostile-marks
trap 'rm -rf "$WORK" "$MARKS"' EXIT
rm -rf "$MARKS"
mkdir -m 1777 "$MARKS" || skip "$MARKS cannot be made"
case ",$(findmnt -no OPTIONS --target "$WORK" 2>/dev/null)," in *,nosuid,*) skip "$WORK ignores set-user-ID" ;; esac
as_user test -x "$JOB" || skip "the build folder cannot be reached by other users"

mkdir "$WORK/bin" "$WORK/plugins" "$WORK/home" "$WORK/home/.config" "$WORK/here"
cp "$BUILD/tests/hostile/ashlar_coll_planted.so" "$WORK/plugins/"
cp "$JOB" "$WORK/bin/plain"
install -m 4755 "$JOB" "$WORK/bin/setuid"
cp "$JOB" "$WORK/bin/setgid" && chgrp 4000 "$WORK/bin/setgid" && chmod 2755 "$WORK/bin/setgid"
cp "$JOB" "$WORK/bin/capable"
setcap cap_net_raw+ep "$WORK/bin/capable" 2>/dev/null || rm "$WORK/bin/capable"
printf 'plugin.path: %s/plugins\n' "$WORK" >"$WORK/home/.config/ashlar.yaml"
cp "$WORK/home/.config/ashlar.yaml" "$WORK/home/ashlar.yaml"
cp "$WORK/home/.config/ashlar.yaml" "$WORK/here/ashlar.yaml"
chown -R $USER_ID:$USER_ID "$WORK/home" "$WORK/here" "$WORK/plugins"
chmod 755 "$WORK/bin" "$WORK/home" "$WORK/here" "$WORK/plugins"

# attempt PROGRAM NAME=VALUE...: runs it as the user in `here` or elsewhere; output in $OUT, marks in $MARKED.
attempt() {
  local program=$1 folder=$2
  shift 2
  rm -f "$MARKS"/*
  OUT=$(cd "$folder" && as_user env -i PATH="$PATH" "$@" timeout -k 5 60 "$WORK/bin/$program" 2>&1 </dev/null)
  STATUS=$?
  MARKED=$(ls "$MARKS")
}
said_once() { [ "$(grep -c 'more rights than the user who started it' <<<"$OUT")" = 1 ]; }

target=$WORK/written
vectors=("plugin.path of the environment|/|ASHLAR_plugin_path=$WORK/plugins"
  "the home's file|/|HOME=$WORK/home"
  "the file below XDG_CONFIG_HOME|/|XDG_CONFIG_HOME=$WORK/home"
  "the project's file|$WORK/here|HOME=/")
for vector in "${vectors[@]}"; do
  IFS='|' read -r what folder variable <<<"$vector"
  attempt plain "$folder" "$variable"
  [ "$MARKED" = loaded-by-$USER_ID ] || fail "an ordinary program does not obey $what: $MARKED: $OUT"
  for program in setuid setgid capable; do
    [ -e "$WORK/bin/$program" ] || continue
    attempt "$program" "$folder" "$variable"
    [ "$STATUS" = 0 ] && grep -qx 'ok 1' <<<"$OUT" || fail "$program with $what: exit status $STATUS: $OUT"
    [ -z "$MARKED" ] || fail "$program obeys $what: $MARKED"
    said_once || fail "$program with $what does not say once that it is not used: $OUT"
  done
done
for program in setuid setgid capable; do
  [ -e "$WORK/bin/$program" ] || continue
  attempt "$program" /
  [ "$OUT" = "ok 1" ] || fail "$program without any of this: $OUT"
  # What libraries below would load, and what would be written.
  attempt "$program" / "LTDL_LIBRARY_PATH=$WORK/plugins" "HWLOC_PLUGINS_PATH=$WORK/plugins" "TMPDIR=$WORK/home" \
    "PMIX_MCA_mca_base_component_path=$WORK/plugins" ASHLAR_report=json "ASHLAR_report_json_file=$target" ASHLAR_log=trace
  [ -z "$MARKED" ] || fail "$program loads what another library's variable names: $MARKED"
  [ ! -e "$target" ] || fail "$program writes where the environment says"
  grep -qx 'ok 1' <<<"$OUT" || fail "$program with variables of other libraries: $OUT"
  # A launcher that is the user's may direct nothing: the program does not join, and does not run alone either.
  attempt "$program" / PMIX_NAMESPACE=job PMIX_RANK=0 "ASHLAR_launch_pmix_library=$WORK/plugins/ashlar_coll_planted.so"
  [ "$STATUS" != 0 ] && [ -z "$MARKED" ] || fail "$program under a PMIx launcher: exit status $STATUS, $MARKED: $OUT"
  attempt "$program" / PMI_PORT=127.0.0.1:9 PMI_ID=0
  [ "$STATUS" != 0 ] && grep -q 'a PMI launcher' <<<"$OUT" || fail "$program under a PMI launcher: exit status $STATUS: $OUT"
  OUT=$(cd / && as_user env -i PATH="$PATH" ASHLAR_plugin_path="$WORK/plugins" timeout -k 5 60 "$MPIEXEC" -n 2 "$WORK/bin/$program" 2>&1)
  STATUS=$?
  [ "$STATUS" != 0 ] && grep -q 'launch.native.elevated' <<<"$OUT" || fail "$program under mpiexec: exit status $STATUS: $OUT"
  ! grep -q '^ok' <<<"$OUT" || fail "$program runs alone under mpiexec: $OUT"
done

# A site may let them join; their parameters are the site's then, whatever the user tells the launcher.
with_site_file() {
  # shellcheck disable=SC2016
  unshare --mount --propagation private bash -c \
    'mount -t tmpfs none "$0" && printf "launch.native.elevated: join\nexplain: transport\n" >"$0/ashlar.yaml" && exec "$@"' \
    "$BUILD/etc" setpriv --reuid $USER_ID --regid $USER_ID --clear-groups env -i PATH="$PATH" \
    timeout -k 5 60 "$MPIEXEC" "$@" 2>&1 </dev/null
}
joins() {
  local what=$1
  shift
  rm -f "$MARKS"/*
  OUT=$(cd / && with_site_file "$@")
  STATUS=$?
  [ "$STATUS" = 0 ] && grep -qx 'ok 3' <<<"$OUT" || fail "$what is not joined: exit status $STATUS: $OUT"
}
if unshare --mount true 2>/dev/null && mkdir "$BUILD/etc" 2>/dev/null; then
  trap 'rm -rf "$WORK" "$MARKS"; rmdir "$BUILD/etc"' EXIT
  for program in setuid setgid capable; do
    [ -e "$WORK/bin/$program" ] || continue
    joins "a job of $program" -n 3 "$WORK/bin/$program"
    joins "a job of $program with settings" --set "plugin.path=$WORK/plugins" --set explain=coll -n 3 "$WORK/bin/$program"
    [ -z "$MARKED" ] && [ -z "$(ls "$MARKS")" ] || fail "$program in a job loads what the launcher names: $(ls "$MARKS")"
    grep -q '^transport, components' <<<"$OUT" && ! grep -q '^coll, ' <<<"$OUT" ||
      fail "$program in a job obeys the launcher's settings, and not the site's: $OUT"
    # Ranks of one user reach each other; those of two get an error that says so, and do not hang.
    if [ $program != setuid ]; then
      joins "a job of an ordinary program and $program" -n 1 "$WORK/bin/plain" : -n 2 "$WORK/bin/$program"
    else
      OUT=$(cd / && with_site_file -n 1 "$WORK/bin/plain" : -n 2 "$WORK/bin/$program")
      grep -q 'no transport reaches rank' <<<"$OUT" && grep -q 'Permission denied' <<<"$OUT" ||
        fail "a job of two users does not say so: $OUT"
    fi
  done
  joins "a job of ordinary programs" --set "plugin.path=$WORK/plugins" -n 3 "$WORK/bin/plain"
  [ "$(ls "$MARKS")" = loaded-by-$USER_ID ] || fail "an ordinary program does not load what the launcher names: $OUT"
else
  echo "$BUILD/etc is there or cannot be mounted on: a job that such programs join is not tried"
fi
[ ! -e "$MARKS/loaded-by-0" ] || fail "something was loaded by root"
finish
