#!/bin/bash
# System calls that container runtimes forbid: everything works without them.
. "${0%/*}/common.sh"
for how in EPERM ENOSYS; do
  expect_ok "no single copy ($how)" 4 "$FORBID" $how process_vm_readv process_vm_writev -- "$MPIEXEC" -n 4 "$JOB"
  expect_ok "no membarrier ($how)" 4 "$FORBID" $how membarrier -- "$MPIEXEC" -n 4 "$JOB"
  expect_ok "no pidfd_open ($how)" 4 "$FORBID" $how pidfd_open pidfd_getfd -- "$MPIEXEC" -n 4 "$JOB"
  expect_ok "no binding ($how)" 4 "$FORBID" $how sched_setaffinity -- "$MPIEXEC" -n 4 "$JOB"
  expect_ok "none of them ($how)" 4 "$FORBID" $how process_vm_readv process_vm_writev membarrier pidfd_open pidfd_getfd \
    ptrace kcmp sched_setaffinity -- "$MPIEXEC" -n 4 "$JOB"
  expect_ok "no memfd ($how)" 4 "$FORBID" $how memfd_create -- "$MPIEXEC" -n 4 "$JOB"
  expect_ok "no memfd, no launcher ($how)" 1 "$FORBID" $how memfd_create -- "$JOB"
  expect_ok "no memfd in one rank ($how)" 2 "$MPIEXEC" -n 1 "$FORBID" $how memfd_create -- "$JOB" : -n 1 "$JOB"
  expect_ok "no pipe2 ($how)" 4 "$FORBID" $how pipe2 -- "$MPIEXEC" -n 4 "$JOB"
done
# Copies in mapped files are refused: the pieces go by other system calls.
for how in EPERM ENOSYS; do
  : >"$WORK/out"
  expect_ok "no copies in mapped files ($how)" 3 "$FORBID" $how process_vm_readv process_vm_writev -- \
    "$MPIEXEC" --set io.way=mapped -n 3 "$BUILD/tests/hostile/files" beside "$WORK/out" 0 3
  # shellcheck disable=SC2016
  expect_ok "no mapped files ($how)" 2 bash -c '"$@" && echo ok 2' bash "$FORBID" $how process_vm_readv process_vm_writev -- \
    env TMPDIR="$WORK" "$MPIEXEC" --set io.way=mapped -n 2 "$BUILD/tests/mpi/file_mapped" never
done
# The system's io_uring is refused: the reason is told, and the files are written by system calls.
files=$BUILD/tests/hostile/files
for how in EPERM ENOSYS; do
  [ -e "$BUILD/lib/ashlar/components/ashlar_io_uring.so" ] || break
  words="Operation not permitted"
  [ $how = EPERM ] || words="Function not implemented"
  : >"$WORK/out"
  out=$("$FORBID" $how io_uring_setup -- "$MPIEXEC" --explain=io --set io.uring.use=always -n 3 "$files" beside "$WORK/out" 0 3 2>&1 </dev/null) ||
    fail "no io_uring ($how): $out"
  tr -s ' \n' ' ' <<<"$out" | grep -qF "io_uring_setup: $words" || fail "no io_uring ($how): no reason in
$out"
done
# No memfd, and no folder for a file either: the call is named, by mpiexec, and by a rank that alone has neither, with
# the transport that it cannot use therefore. The rank that could learns that from the other.
if [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then
  # shellcheck disable=SC2016
  without='for folder in /dev/shm /tmp /var/tmp; do mount --bind $folder $folder && mount -o remount,bind,ro $folder; done; exec "$@"'
  bare=(unshare --mount bash -c "$without" bash "$FORBID" EPERM memfd_create --)
  says() {
    local what=$1 status=$2 out=$3 words
    shift 3
    [ "$status" -ne 0 ] || fail "$what: exit status 0"
    for words in "$@"; do
      tr -s ' \n' ' ' <<<"$out" | grep -qF "$words" || fail "$what: not told: $words
$out"
    done
  }
  out=$("${bare[@]}" "$MPIEXEC" -n 2 "$JOB" 2>&1 </dev/null)
  says "no memfd, no folder" $? "$out" "memfd_create failed (Operation not permitted)" "/dev/shm"
  out=$("$MPIEXEC" -n 1 "${bare[@]}" "$JOB" : -n 1 "$JOB" 2>&1 </dev/null)
  says "rank 0 without shared memory" $? "$out" "no transport reaches rank" "shm:" "memfd_create failed (Operation not permitted)"
fi
# One rank may and the other may not: what is decided per pair must be agreed.
expect_ok "one rank without single copy" 2 "$MPIEXEC" -n 1 "$FORBID" EPERM process_vm_readv process_vm_writev -- "$JOB" : \
  -n 1 "$JOB"
finish
