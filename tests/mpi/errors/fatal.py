#!/usr/bin/env python3
"""fatal.py MPIEXEC PROGRAM: jobs that end badly. The launcher's status tells how, its output says who and why, all ranks
are gone, and it takes no longer than a few seconds."""
import json
import os
import subprocess
import sys
import time

# way, ranks, exit status (None: any but 0), what the output has to contain (all in lower case), options of mpiexec
CASES = [
    ("bad-rank", 1, None, ["mpi_send", "4711", "mpi_err_rank"]),
    ("bad-rank", 3, None, ["mpi_send", "4711", "mpi_err_rank", "rank 2", "mpi_proc_null is allowed too."]),
    ("bad-rank-abort", 2, None, ["mpi_bcast", "-3", "mpi_err_root", "rank 1"]),
    ("truncate", 2, None, ["mpi_recv", "mpi_err_truncate", "400", "rank 1"]),
    ("abort", 3, 7, ["mpi_abort", "rank 2", "7"]),
    ("abort-0", 3, 0, ["mpi_abort", "rank 2", "error code 0"]),
    ("abort-256", 3, 1, ["mpi_abort", "rank 2", "error code 256"]),
    ("part-abort", 3, 9, ["mpi_abort", "'the last one'", "all 3 ranks of the", "not only those of 'the last one' (rank 2)"]),
    ("part-error", 3, None, ["mpi_send", "mpi_err_rank", "not only those of 'the last one' (rank 2)"]),
    ("odd-abort", 6, 9, ["mpi_abort", "all 6 ranks of the", "not only those of 'odd ones' (ranks 1, 3-5)"]),
    ("session-abort", 3, 11, ["mpi_abort", "error code 11", "rank 2"]),
    ("session", 2, None, ["mpi_group_from_session_pset", "nowhere", "- mpi_session_get_nth_pset lists them"]),
    ("threads-wait", 2, None, ["two threads wait in mpi calls", "mpi_thread_single", "mpi_thread_multiple", "rank 1"]),
    ("thread-single", 2, None, ["a thread that is not the one that initialised mpi", "mpi_thread_single"], "check.threads=true"),
    ("thread-serialized", 2, None, ["so far all is well", "two threads were in mpi calls", "mpi_thread_serialized"],
     "check.threads=true"),
    ("exit", 2, 3, ["rank 1", "3"]),
    ("return", 2, 5, ["rank 1", "5"]),
    ("kill", 3, 137, ["rank 2", "signal 9"]),
    ("segv", 2, 139, ["rank 1", "signal 11"]),
]


MARK = ("FATAL_TEST", str(os.getpid()))  # in the environment of this test's jobs: another runs the same program


def processes_of(program):
    """Processes that run this program now, in a job of this test."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/exe") != os.path.realpath(program):
                continue
            with open(f"/proc/{pid}/environ", "rb") as environment:
                if "=".join(MARK).encode() in environment.read().split(b"\0"):
                    found.append(int(pid))
        except OSError:
            pass
    return found


def check(mpiexec, program, way, ranks, status, words, setting=None):
    name = f"{way} on {ranks} ranks"
    start = time.monotonic()
    options = ["--set", setting] if setting else []
    try:
        done = subprocess.run([mpiexec, *options, "-n", str(ranks), program, way], stdin=subprocess.DEVNULL, timeout=30,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              env=os.environ | dict([MARK]))
    except subprocess.TimeoutExpired:
        return [f"{name}: mpiexec had not ended after 30 s"]
    took = time.monotonic() - start
    problems = []
    if done.returncode != status if status is not None else done.returncode == 0:
        problems.append(f"{name}: exit status {done.returncode}, not {status if status is not None else 'a failure'}")
    problems += [f"{name}: the output does not say '{word}'" for word in words if word not in done.stdout.lower()]
    if took > 10:
        problems.append(f"{name}: took {took:.1f} s")
    left = processes_of(program)
    if left:
        problems.append(f"{name}: processes left: {left}")
    if problems:
        problems.append(f"    the output was:\n{done.stdout}")
    return problems


def check_json(mpiexec, program):
    """Programs get the same record: the id of the message, and its facts one by one."""
    done = subprocess.run([mpiexec, "--set", "report=json", "-n", "3", program, "part-error"], stdin=subprocess.DEVNULL,
                          timeout=30, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    records = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    wanted = {"kind": "error", "rank": 2, "id": "argument.rank", "call": "MPI_Send", "class": "MPI_ERR_RANK",
              "text": "argument dest is 4711, but communicator 'the last one' has ranks 0..0", "argument": "dest",
              "value": "4711", "object_kind": "communicator", "object": "the last one", "object_rank": 0, "fatal": True}
    facts = {"argument": "dest", "value": 4711, "communicator": "the last one", "last": 0}
    if len(records) == 1 and wanted.items() <= records[0].items() and facts.items() <= records[0]["facts"].items():
        return []
    return [f"report=json has no such record as {wanted}, but:\n{done.stderr}"]


def main():
    mpiexec, program = sys.argv[1:]
    problems = [problem for case in CASES for problem in check(mpiexec, program, *case)]
    problems += check_json(mpiexec, program)
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
