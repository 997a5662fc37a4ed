#!/bin/bash
# One-sided communication where system calls are forbidden, with little shared memory and few addresses, on more ranks than
# cores. The programs are those of tests/mpi, which print nothing unless something is wrong.
. "${0%/*}/common.sh"
PROGRAMS=$BUILD/tests/mpi

# expect_quiet WHAT COMMAND...: it ends well within two minutes and prints nothing.
expect_quiet() {
  local what=$1 out status
  shift
  out=$(timeout -k 5 120 "$@" 2>&1 </dev/null)
  status=$?
  if [ $status -eq 77 ]; then skip "$out"; fi
  if [ $status -ne 0 ] || [ -n "$out" ]; then
    fail "$what: exit status $status, output:
$out"
  fi
}

forbidden() { # WHAT PROGRAM-AND-ARGUMENTS -- SYSCALL...
  local what=$1 command=()
  shift
  while [ "$1" != -- ]; do command+=("$1") && shift; done
  shift
  expect_quiet "$what, all ranks" "$FORBID" EPERM "$@" -- "$MPIEXEC" -n 3 "${command[@]}"
  expect_quiet "$what, one rank" "$MPIEXEC" -n 1 "$FORBID" ENOSYS "$@" -- "${command[@]}" : -n 2 "${command[@]}"
}

for program in "rma_windows" "rma_putget" "rma_accumulate" "rma_sync asked" "rma_dynamic" "rma_errors" "rma_oracle 21 15"; do
  read -ra run <<<"$PROGRAMS/$program"
  forbidden "no single copy: $program" "${run[@]}" -- process_vm_readv process_vm_writev
  forbidden "no membarrier: $program" "${run[@]}" -- membarrier
  forbidden "no memfd: $program" "${run[@]}" -- memfd_create
  forbidden "none of them: $program" "${run[@]}" -- process_vm_readv process_vm_writev membarrier pidfd_open pidfd_getfd \
    ptrace kcmp
  # shellcheck disable=SC2016
  expect_quiet "few addresses: $program" bash -c 'ulimit -v 4000000; exec "$@"' bash "$MPIEXEC" -n 3 "${run[@]}"
done
# Windows whose ranks have different ways: the one that may not copy asks, the others copy, by the system's calls or by a transport.
# What is explained is what rank 0 has decided.
mixed() { # WAY OPTIONS
  local copies=("$FORBID" ENOSYS process_vm_readv process_vm_writev --) oracle=("$PROGRAMS/rma_oracle" 25 40) way=$1 out
  shift
  out=$(timeout -k 5 120 "$MPIEXEC" "$@" --explain=rma -n 1 "${copies[@]}" "${oracle[@]}" : -n 3 "${oracle[@]}" 2>&1 </dev/null) ||
    fail "ways $way and asked, $*: exit status $?, output:
$out"
  grep -q "targets such as rank .* asked$" <<<"$out" || fail "rank 0 asks no target, $*:
$out"
  out=$(timeout -k 5 120 "$MPIEXEC" "$@" --explain=rma -n 3 "${oracle[@]}" : -n 1 "${copies[@]}" "${oracle[@]}" 2>&1 </dev/null) ||
    fail "ways asked and $way, $*: exit status $?, output:
$out"
  grep -A1 "targets such as rank .* $way" <<<"$out" | grep -q "because  the first way" || fail "rank 0 has no way $way, $*:
$out"
}
# One of two processes, each with a core of its own, may not copy: it refuses the long operations that the other offers.
if [ "$(nproc)" -ge 2 ]; then
  for run in rma_delegate "rma_oracle 26 60"; do
    read -ra command <<<"$PROGRAMS/$run"
    expect_quiet "a target that may not copy: $run" "$MPIEXEC" -n 1 "${command[@]}" : -n 1 "$FORBID" ENOSYS process_vm_readv \
      process_vm_writev -- "${command[@]}"
  done
fi
mixed copied
mixed "native (put, get)" --set rma=native,am --set rma.native.peers=all
expect_quiet "16 ranks: epochs" "$MPIEXEC" -n 16 "$PROGRAMS/rma_sync"
expect_quiet "16 ranks: random epochs" "$MPIEXEC" -n 16 "$PROGRAMS/rma_oracle" 22 5
expect_quiet "16 ranks on one core" taskset -c 0 "$MPIEXEC" --bind-to none -n 16 "$PROGRAMS/rma_oracle" 23 3
if [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then
  for with in "" "$FORBID EPERM memfd_create --"; do
    for program in "rma_windows" "rma_sync" "rma_oracle 24 10"; do
      # shellcheck disable=SC2086,SC2016
      expect_quiet "/dev/shm of 64 KiB, $with $program" unshare --mount --propagation private \
        sh -c 'mount -t tmpfs -o size=64k none /dev/shm; exec "$@"' sh $with "$MPIEXEC" -n 3 $PROGRAMS/$program
    done
  done
fi

# A control group has less memory than a window asks for. What is not touched is not missed, and the heap says why the window lies
# elsewhere.
group=/sys/fs/cgroup/memory$(sed -n 's/.*:memory://p' /proc/self/cgroup) limit=memory.limit_in_bytes
if [ ! -e "$group/$limit" ]; then group=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup) limit=memory.max; fi
group=${group%/}/ashlar-rma-test-$$
if mkdir "$group" 2>/dev/null; then
  # shellcheck disable=SC2016
  if echo $((256 << 20)) 2>/dev/null >"$group/$limit" && sh -c 'echo $$ >"$1/cgroup.procs"' sh "$group" 2>/dev/null; then
    out=$(timeout -k 5 120 sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$group" "$MPIEXEC" --explain=memory -n 2 \
      "$PROGRAMS/rma_creation" $((300 << 20)) 2>&1 </dev/null) || fail "a window larger than the control group: exit status $?, output:
$out"
    grep -q "window's part of .* memory of this process alone because .* of control group" <<<"$(tr -s '\n ' ' ' <<<"$out")" || fail "nothing says that the control group has too little memory:
$out"
  fi
  for ((tries = 0; tries < 50; tries++)); do
    if rmdir "$group" 2>/dev/null; then break; fi
    sleep 0.1
  done
fi

# A rank dies while it holds what the others wait for, in the library's code among others: the job ends at once, and the reason is
# named.
for options in "" "--set rma.reference=true" "--set check.rma=true"; do
  for how in lock lock_all update gate fence post; do
    case $how in
      update | gate) died="signal 11" ;;
      *) died="signal 9" ;;
    esac
    # shellcheck disable=SC2086
    out=$(timeout -k 1 10 "$MPIEXEC" $options -n 4 "$PROGRAMS/rma_death" $how 2>&1 </dev/null)
    [ $? -ne 124 ] || fail "a rank that dies, $how $options: the others wait"
    grep -q "rank 1 of 4 .* was killed by $died" <<<"$(tr -s '\n ' ' ' <<<"$out")" || fail "a rank that dies, $how $options:
$out"
  done
done
finish
