#!/usr/bin/env python3
"""erroneous.py MPIEXEC PROGRAM...: the standard's erroneous examples, in each method: what is said of each, and that jobs whose
ranks wait for each other for ever are told of. Elements count from one. Cases run beside each other, as some of them wait."""
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

STUCK = ["--stall", "1", "--timeout", "2.5"]  # the second report of a stall would come after 3 s
TYPES, COLLECTIVES = ["--set", "check.datatypes=true"], ["--set", "check.collectives=true"]
# what, ranks, options of mpiexec, its exit status, and texts of the output: each as often as there are ranks that say it
CASES = [
    ("types", 2, TYPES, 0, [("MPI_Recv: class 3, rank 1: MPI_ERR_TYPE", 1), ("rank 0 sent 10 x MPI_REAL (tag 0)", 1), ("receives 40 x MPI_BYTE", 1)]),
    ("types", 2, [], 0, [("MPI_Recv: class 0", 1)]),
    ("any", 2, TYPES, 0, [("rank 1 sent MPI_REAL (tag 0)", 1), ("receives MPI_INTEGER", 1)]),
    ("receives", 2, STUCK, 124, [("rank 0 waits in MPI_Recv from rank 1 tag 0", 2), ("a cycle 0 -> 1 -> 0", 2)]),
    ("sends", 2, STUCK, 124, [("rank 1 waits in MPI_Ssend of ", 2), ("a cycle 0 -> 1 -> 0", 2)]),
    ("bsend", 1, [], 0, [("MPI_Bsend: class 1, rank 0: MPI_ERR_BUFFER", 1), ("no buffer is attached", 1)]),
    ("order", 2, COLLECTIVES, 0, [("MPI_Bcast: class 8, ", 2), ("rank 1 passed root 1, but rank 0 passed root 0", 2)]),
    ("barrier", 2, COLLECTIVES, 0, [("MPI_Bcast: class 16, ", 2), ("rank 1 called MPI_Bcast, but rank 0 called MPI_Ibarrier", 1),
                                    ("rank 1 called MPI_Ibarrier, but rank 0 called MPI_Bcast", 1)]),
    ("message", 2, STUCK, 124, [("rank 0 waits in MPI_Bcast on", 2), ("rank 1 waits in MPI_Recv from rank 0 tag 0", 2),
                                ("a cycle 0 -> 1 -> 0", 2)]),
    ("cycle", 3, STUCK, 124, [("rank 2 waits in MPI_Bcast on", 2), ("a cycle 0 -> 2 -> 1 -> 0", 2)]),
    ("forms", 2, COLLECTIVES, 0, [("MPI_Ialltoall: class 0", 1), ("MPI_Wait: class 16", 1), ("MPI_Alltoall: class 16", 1),
                                  ("rank 1 called MPI_Alltoall, but rank 0 called MPI_Ialltoall", 2)]),
    ("cancel", 2, [], 0, [("MPI_Cancel: class 7, ", 2), ("argument request is that of MPI_Ibarrier", 2), ("MPI_Wait: class 0, ", 2)]),
    ("alias", 2, [], 0, [("MPI_Allreduce: class 1, ", 2), ("arguments sendbuf and recvbuf are the same memory", 2)]),
    ("match", 1, [], 0, [("MPI_Type_free: class 3, ", 1), ("'MPI_INTEGER4', which is predefined", 1),
                         ("MPI_Type_match_size: class 13, ", 1), ("argument size is 3", 1)]),
    ("elements", 1, [], 0, [("argument ranks(2) is 77", 1), ("argument dims(2) is -5", 1), ("argument array_of_blocklengths(2) is -1", 1),
                            ("MPI_Waitall: argument array_of_requests(2) is 123456", 1),
                            ("MPI_Testall: argument array_of_requests(2) is 123456", 1)]),
    ("split", 2, [], 0, [("MPI_File_read_all: class 35, ", 2), ("the split collective MPI_File_read_at_all_begin", 2),
                         ("MPI_File_read_at_all_end: class 0, ", 2), ("nothing is lost", 2)]),
]


def check(mpiexec, program, what, ranks, options, status, texts):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([mpiexec, *options, "-n", str(ranks), program, what], stdin=subprocess.DEVNULL, timeout=50, cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    name = f"{os.path.basename(program)} {what} {' '.join(options)}"
    problems = [] if done.returncode == status else [f"{name}: exit status {done.returncode}, not {status}"]
    problems += [f"{name}: '{text}' stands there {done.stdout.count(text)} times, not {n}" for text, n in texts
                 if done.stdout.count(text) != n]
    return [*problems, done.stdout] if problems else []


def main():
    mpiexec, *programs = sys.argv[1:]
    jobs = [(mpiexec, program, *case) for program in programs for case in sorted(CASES, key=lambda c: c[3], reverse=True)]
    with ThreadPoolExecutor(9) as pool:
        problems = [text for found in pool.map(lambda job: check(*job), jobs) for text in found]
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


main()
