#!/usr/bin/env python3
"""quiet.py MPIEXEC PROGRAM: jobs that never end wait without using their cores, and when their time is over mpiexec says
who waits for whom."""
import os
import subprocess
import sys
import time

LOOKED_AT = 2.0  # seconds
ALLOWED = 0.1  # seconds of processor time in them, of each rank

# way, options of mpiexec, what it has to say
CASES = [
    ("receive", [], "rank 0 waits in MPI_Recv from rank 1 tag 7 on 'MPI_COMM_WORLD'; rank 1 waits in MPI_Recv from rank 0"),
    ("ssend", [], "rank 0 waits in MPI_Ssend of 4 bytes to rank 1 tag 3 on 'MPI_COMM_WORLD'; rank 1 waits in MPI_Ssend"),
    ("waitany", [], "waits for MPI_Irecv from rank 1 tag 0"),
    ("threads", [], "MPI_Recv from rank 1 tag 7"),
    ("threads", ["--set", "threads.lanes=1"], "MPI_Recv from rank 1 tag 7"),
    ("receive", ["--set", "progress.thread=true"], "waits in MPI_Recv from rank 1 tag 7"),
]


def ranks_of(mpiexec, program):
    """Processes that run this program for this mpiexec."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
                parent = int(stat.read().rsplit(")", 1)[1].split()[1])
            if parent == mpiexec and os.readlink(f"/proc/{pid}/exe") == os.path.realpath(program):
                found.append(int(pid))
        except OSError:
            pass
    return found


def seconds_used(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def check(mpiexec, program, way, options, sentence):
    name = " ".join([way, *options])
    command = [mpiexec, "--timeout", "8", *options, "-n", "2", program, way]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as job:
        for _ in range(2):
            job.stdout.readline()
        time.sleep(1.0)
        ranks = ranks_of(job.pid, program)
        before = [seconds_used(pid) for pid in ranks]
        time.sleep(LOOKED_AT)
        used = [seconds_used(pid) - start for pid, start in zip(ranks, before)]
        said = " ".join(job.communicate(timeout=60)[1].split())
    problems = []
    if len(ranks) != 2:
        problems.append(f"{name}: {len(ranks)} ranks were found")
    if any(seconds > ALLOWED for seconds in used):
        problems.append(f"{name}: in {LOOKED_AT} s the ranks used {used} s of processor time")
    if job.returncode != 124:
        problems.append(f"{name}: exit status {job.returncode}")
    if sentence not in said:
        problems.append(f"{name}: '{sentence}' is not in: {said}")
    return problems


def main():
    mpiexec, program = sys.argv[1:]
    problems = [problem for case in CASES for problem in check(mpiexec, program, *case)]
    print("\n".join(problems), end="\n" if problems else "")
    sys.exit(1 if problems else 0)


main()
