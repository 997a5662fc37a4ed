#!/bin/bash
# Processes of another user connect to the ranks' sockets and say nothing: no rank's descriptors are used up, and the job
# goes on. Nor may they ask what a job waits for.
. "${0%/*}/common.sh"
need_root
command -v setpriv >/dev/null || skip "there is no setpriv"
# Others must be able to run these; the tree may lie in a folder that is closed to them.
chmod 755 "$WORK"
mkdir "$WORK/bin" "$WORK/lib"
cp "$BUILD/bin/ashlar_info" "$WORK/bin/" && cp "$BUILD/${LIBDIR:-lib}/libashlar.so" "$WORK/lib/" || exit 1
other=(setpriv --reuid 65534 --regid 65534 --clear-groups env "LD_LIBRARY_PATH=$WORK/lib")

"$MPIEXEC" -n 2 "$JOB" wait >"$WORK/out" 2>"$WORK/err" </dev/null &
launcher=$!
for _ in $(seq 100); do [ "$(grep -c '^pid' "$WORK/out")" -eq 2 ] && break; sleep 0.1; done
rank=$(sed -n 's/^pid 0 //p' "$WORK/out")
[ -n "$rank" ] || fail "the job did not start: $(cat "$WORK/out" "$WORK/err")"
descriptors() { find "/proc/$1/fd" -mindepth 1 | wc -l; }
before=$(descriptors "$rank")
python3 - <<'END' &
import os, re, socket, time
os.setgroups([])
os.setuid(65534)
names = [m.group(1) for m in re.finditer(r"@(ashlar-[0-9a-f]{16})", open("/proc/net/unix").read())]
assert names, "no rank listens"
held = []
for i in range(600):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.setblocking(False)
    try:
        s.connect("\0" + names[i % len(names)])
        held.append(s)
    except OSError:
        time.sleep(0.001)
time.sleep(3)
END
stranger=$!
most=0
for _ in $(seq 30); do
  now=$(descriptors "$rank")
  [ "$now" -gt "$most" ] && most=$now
  sleep 0.1
done
wait $stranger || fail "the strangers could not connect"
[ "$most" -le $((before + 4)) ] || fail "strangers hold $((most - before)) descriptors of a rank"

# Where peers are reached over TCP as well, a rank sleeps for descriptors, and its neighbours wake it by a datagram. Another
# user's datagram closes that socket; the job goes on.
"$MPIEXEC" --set transport=self,shm,tcp -n 2 "$JOB" wait >"$WORK/wake" 2>&1 </dev/null &
waking=$!
for _ in $(seq 100); do grep -q '@ashlar-wake' /proc/net/unix && [ "$(grep -c '^pid' "$WORK/wake")" -eq 2 ] && break; sleep 0.1; done
python3 - <<'END' || fail "strangers and the sockets that wake ranks"
import os, re, socket, sys, time
wake_sockets = lambda: set(re.findall(r"@(ashlar-wake[0-9a-f]{16})", open("/proc/net/unix").read()))
os.setgroups([])
os.setuid(65534)
names = wake_sockets()
if not names:
    sys.exit("no rank has one")
stranger = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
for name in names:
    stranger.sendto(b"x", "\0" + name)
for _ in range(100):
    if not names & wake_sockets():
        break
    time.sleep(0.1)
else:
    sys.exit(f"still open: {names & wake_sockets()}")
END
kill -0 $waking || fail "the job whose ranks strangers woke: $(cat "$WORK/wake")"
kill $waking
wait $waking

# The PMIx server, which is libpmix's and listens on the loopback interface.
"$MPIEXEC" --set mpiexec.pmix=on -n 2 "$JOB" wait >"$WORK/pmix" 2>&1 </dev/null &
pmix=$!
for _ in $(seq 100); do [ "$(grep -c '^pid' "$WORK/pmix")" -eq 2 ] && break; sleep 0.1; done
before=$(descriptors $pmix)
python3 - $pmix <<'END' &
import os, socket, sys, time
inodes = {os.readlink(f"/proc/{sys.argv[1]}/fd/{fd}") for fd in os.listdir(f"/proc/{sys.argv[1]}/fd")}
lines = [line.split() for line in open("/proc/net/tcp").readlines()[1:]]
ports = [int(f[1].split(":")[1], 16) for f in lines if f[3] == "0A" and f"socket:[{f[9]}]" in inodes]
assert ports, "mpiexec does not listen"
os.setgroups([])
os.setuid(65534)
held = [socket.socket() for _ in range(100)]
for s in held:
    s.settimeout(2)
    s.connect(("127.0.0.1", ports[0]))
time.sleep(5)
END
pmix_stranger=$!
most=0
for _ in $(seq 40); do
  now=$(descriptors $pmix)
  [ "$now" -gt "$most" ] && most=$now
  [ "$now" -le $((before + 8)) ] && [ "$most" -gt $((before + 50)) ] && break
  sleep 0.1
done
[ "$most" -gt $((before + 50)) ] || fail "the strangers are not there: $most descriptors, $before before"
[ "$now" -le $((before + 8)) ] || fail "strangers hold $((now - before)) descriptors of mpiexec, of $((most - before))"
[ "$(grep -c '^pid' "$WORK/pmix")" -eq 2 ] && kill -0 $pmix || fail "the job with PMIx: $(cat "$WORK/pmix")"
kill $pmix
wait $pmix
wait $pmix_stranger || fail "the strangers could not connect"

expect_told() {
  grep -qF "$2" <<<"$1" || fail "not told: $2
$1"
}
expect_told "$("${other[@]}" "$WORK/bin/ashlar_info" waits --pid $launcher 2>&1)" "belongs to another user (number 0): only that user and root may inspect it"
sleep 20 &
for _ in $(seq 100); do [ "$(cat /proc/$!/comm)" = sleep ] && break; sleep 0.1; done  # until then it is bash
expect_told "$("$BUILD/bin/ashlar_info" waits --pid $! 2>&1)" "(sleep) is neither an mpiexec of this version nor one of its ranks"
kill $!
expect_told "$("$BUILD/bin/ashlar_info" waits --pid "$rank" 2>&1)" "MPI_Recv"
kill "$launcher"
wait "$launcher"
expect_gone "a job with strangers"
finish
