#!/usr/bin/env python3
"""rma_stuck.py MPIEXEC PROGRAM: waits for locks and epochs that never end use no processor time, and when the time of the
job is over mpiexec says who waits for whom."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import stuck_job  # noqa: E402

# way, what mpiexec has to say
CASES = [
    ("lock", "rank 0 waits for the lock of rank 0, which rank 1 holds exclusively"),
    ("lock_all", "rank 0 waits until no rank of the window is locked exclusively"),
    ("start", "rank 0 waits until rank 1 calls MPI_Win_post"),
    ("wait", "rank 0 waits until rank 1 calls MPI_Win_complete"),
    ("fence", "rank 0 waits for all processes (1 of 2 have come)"),
    ("free", "rank 0 waits for all processes (1 of 2 have come)"),
]

MPIEXEC, PROGRAM = sys.argv[1:]
stuck_job.check_all(
    problem for way, sentence in CASES
    for problem in stuck_job.check(MPIEXEC, [], PROGRAM, way, [sentence, "on window 'halo'"]))
