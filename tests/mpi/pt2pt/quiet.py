#!/usr/bin/env python3
"""quiet.py MPIEXEC PROGRAM: jobs that never end wait without using their cores, and when their time is over mpiexec says
who waits for whom."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import stuck_job  # noqa: E402

# way, options of mpiexec, what it has to say
CASES = [
    ("receive", [], "rank 0 waits in MPI_Recv from rank 1 tag 7 on 'MPI_COMM_WORLD'; rank 1 waits in MPI_Recv from rank 0"),
    ("ssend", [], "rank 0 waits in MPI_Ssend of 4 bytes to rank 1 tag 3 on 'MPI_COMM_WORLD'; rank 1 waits in MPI_Ssend"),
    ("waitany", [], "waits for MPI_Irecv from rank 1 tag 0"),
    ("threads", [], "MPI_Recv from rank 1 tag 7"),
    ("threads", ["--set", "threads.lanes=1"], "MPI_Recv from rank 1 tag 7"),
    ("receive", ["--set", "progress.thread=true"], "waits in MPI_Recv from rank 1 tag 7"),
]

MPIEXEC, PROGRAM = sys.argv[1:]
stuck_job.check_all([(MPIEXEC, options, PROGRAM, way, [sentence]) for way, options, sentence in CASES])
