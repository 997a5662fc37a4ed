#!/usr/bin/env python3
"""rma_stuck.py MPIEXEC PROGRAM: waits for locks and epochs that never end use no processor time, and when the time of the
job is over mpiexec says who waits for whom."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import stuck_job  # noqa: E402

# way, what mpiexec has to say, and what it says where the processes wait for each other by messages
CASES = [
    ("lock", "rank 0 waits for the lock of rank 0, which rank 1 holds exclusively", None),
    ("lock_all", "rank 0 waits for the lock of rank 0, which rank 1 holds exclusively",
     "rank 0 waits until no rank of the window is locked exclusively"),
    ("start", "rank 0 waits until rank 1 calls MPI_Win_post", None),
    ("wait", "rank 0 waits until rank 1 calls MPI_Win_complete", None),
    ("fence", "in MPI_Win_fence on", "rank 0 waits in MPI_Win_fence on window 'halo'"),
    ("free", "in MPI_Win_free on", "rank 0 waits in MPI_Win_free on window 'halo'"),
    # Two threads in different calls of one window: each wait with the name of its own.
    ("threads", ["for the lock of rank 1, which rank 1 holds exclusively, in MPI_Win_lock on",
                 "until rank 1 calls MPI_Win_complete in MPI_Win_wait on"],
     ["for the lock of rank 1, which rank 1 holds exclusively (0 asked before), in MPI_Win_lock on",
      "until rank 1 calls MPI_Win_complete in MPI_Win_wait on"]),
]
BY_MESSAGES = ["--set", "rma.reference=true"]


def listed(sentences):
    return sentences if isinstance(sentences, list) else [sentences, "on window 'halo'"]


MPIEXEC, PROGRAM = sys.argv[1:]
stuck_job.check_all([
    (MPIEXEC, options, PROGRAM, way, sentences) for way, shared, other in CASES
    for options, sentences in (([], listed(shared)), (BY_MESSAGES, listed(other or shared)))])
