"""Jobs that never end: what quiet.py and rma_stuck.py look at. The ranks wait without using their cores, and when their time is
over mpiexec says who waits for whom."""
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

AT_ONCE = 7  # jobs; they wait, so they take nothing from each other
LOOKED_AT = 2.0  # seconds
ALLOWED = 0.3  # seconds of processor time in them, of each rank: spinning takes all, wake-ups cost more on a busy machine


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


def check(mpiexec, options, program, way, sentences):
    """Two ranks that run `program way` write a line each when what the other waits for cannot come any more. Returns what is
    wrong; the sentences are what mpiexec has to say."""
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
    problems += [f"{name}: '{sentence}' is not in: {said}" for sentence in sentences if sentence not in said]
    return problems


def check_all(cases):
    """Runs check() with the arguments of each case, prints what is wrong, and ends."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        problems = [problem for found in pool.map(lambda case: check(*case), cases) for problem in found]
    print("\n".join(problems), end="\n" if problems else "")
    sys.exit(1 if problems else 0)
