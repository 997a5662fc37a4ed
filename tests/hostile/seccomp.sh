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
done
# One rank may and the other may not: what is decided per pair must be agreed.
expect_ok "one rank without single copy" 2 "$MPIEXEC" -n 1 "$FORBID" EPERM process_vm_readv process_vm_writev -- "$JOB" : \
  -n 1 "$JOB"
finish
