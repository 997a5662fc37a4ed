#!/usr/bin/env python3
"""Erroneous orders of collectives are reported: coll_orders.py MPIEXEC PROGRAM

With check.collectives calls that do not fit together fail on every rank and say who differs; what waits in a circle over
several communicators is told by mpiexec --timeout.
"""
import subprocess
import sys

# which, ranks, words that the report has to contain
CASES = [
    ("opposite", 2, ["the ranks do not agree in MPI_Bcast", "rank 1 passed root 1", "rank 0 passed root 0"]),
    ("different", 3, ["the ranks are in different collectives", "rank 1 called MPI_Barrier", "called MPI_Reduce",
                      "1 of 3 ranks"]),
    ("forms", 3, ["the ranks are in different collectives", "rank 1 called MPI_Bcast", "called MPI_Ibcast"]),
    ("nonblocking", 3, ["the ranks are in different collectives", "rank 1 called MPI_Iallreduce",
                        "called MPI_Ibarrier"]),
    ("cyclic", 3, ["MPI_Bcast", "a cycle"]),
    ("mixed", 2, ["MPI_Recv", "MPI_Bcast", "a cycle"]),
]


def main():
    mpiexec, program = sys.argv[1:3]
    failures = 0
    for which, ranks, words in CASES:
        done = subprocess.run([mpiexec, "-n", str(ranks), "--set", "check.collectives=true", "--timeout", "5", program,
                               which], capture_output=True, text=True, timeout=60, check=False)
        text = " ".join((done.stdout + done.stderr).split())
        missing = [word for word in words if word not in text]
        if done.returncode == 0 or missing:
            failures += 1
            print(f"{which}: exit {done.returncode}, not said: {missing}\n{done.stdout}{done.stderr}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
