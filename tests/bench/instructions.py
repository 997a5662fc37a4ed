#!/usr/bin/env python3
"""Instructions of the calls that every program makes most, counted on two ranks.

    tests/bench/instructions.py MPIEXEC PROGRAM COLLECTIVE [BUDGETS]

PROGRAM is built from instructions.c, and callgrind counts; COLLECTIVE is built from collective_instructions.c, which counts
by itself (x86-64 only: elsewhere it prints nothing, and its row is left out). Counted is what a call executes up to its return, the library and the
transport included, when it does not have to wait: the difference between many calls and a few, so that first use
(connecting, memory) is left out. Prints lines as the other benchmarks do; with BUDGETS, whose lines read
`instructions send bytes 8 <= 100`, the exit status is 1 when one is above its limit."""
import os
import re
import subprocess
import sys
import tempfile

FEW, MOST_TRIES = 8, 16

# what, the calls that are counted, the rank whose calls they are, and how often it makes them at the most. A receiver takes memory
# now and then, which more calls share; a sender that makes more has to wait for room.
PLAN = [
    ("send", ["MPI_Send"], 0, 40),
    ("recv", ["MPI_Recv"], 1, 200),
    ("exchange", ["MPI_Isend", "MPI_Irecv", "MPI_Waitall"], 0, 40),
    ("put", ["MPI_Put"], 0, 40),
    ("get", ["MPI_Get"], 0, 40),
    ("fetch", ["MPI_Fetch_and_op"], 0, 40),
    ("flush_all", ["MPI_Win_flush_all"], 0, 40),
    ("lock", ["MPI_Win_lock", "MPI_Win_unlock"], 0, 40),
]


# Calls that a tool watches, those to MPI_PROC_NULL: what is counted is nearly all the tool's.
TRACED = ["null_send", "null_recv"]


def count_traced(mpiexec, program, what, times):
    """Instructions of the whole program, which makes so many calls under --trace."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [mpiexec, f"--trace={folder}/run.json", "-n", "1", "--set", "memory.heap_reserve=1GiB", "valgrind", "--tool=callgrind",
             "--quiet", f"--callgrind-out-file={folder}/counts", program, what, str(times)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        if done.returncode != 0 or not os.path.exists(f"{folder}/run.json"):
            sys.exit(f"instructions: the run failed:\n{done.stdout}")
        return total(f"{folder}/counts")


def total(path):
    with open(path, encoding="utf-8") as result:
        return int(re.search(r"^(?:summary|totals): (\d+)", result.read(), re.MULTILINE).group(1))


def count(mpiexec, program, what, calls, rank, times):
    """Instructions of all `calls` that rank makes."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(2):
            os.mkfifo(os.path.join(folder, str(number)))
        # A call goes by one of its two names; which one the symbol table offers first differs.
        toggles = [f"--toggle-collect={prefix}{call}" for call in calls for prefix in ("", "P")]
        done = subprocess.run(
            [mpiexec, "-n", "2", "--set", "memory.heap_reserve=1GiB", "valgrind", "--tool=callgrind", "--quiet", "--collect-atstart=no", *toggles,
             f"--callgrind-out-file={folder}/pid%p", program, what, str(times), folder],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        found = re.search(rf"rank {rank} pid (\d+)", done.stdout)
        if done.returncode != 0 or not found:
            sys.exit(f"instructions: the run failed:\n{done.stdout}")
        return total(os.path.join(folder, f"pid{found.group(1)}"))


def each_call(mpiexec, program, what, calls, rank, many, limit):
    """Instructions of one call. On a machine that is busy elsewhere calls also do what is due by the clock more often: the
    least counts, and what is above the limit is counted again, because that is not what the limit is for. The few calls
    are counted until their least has come twice: if they were disturbed, the difference would be too small, or negative.
    Without a limit the many are counted until theirs has come twice, too."""
    counts = {FEW: [], many: []}

    def settled(times):
        return counts[times].count(min(counts[times], default=0)) > 1

    for _ in range(MOST_TRIES):
        counts[many].append(count(mpiexec, program, what, calls, rank, many))
        while not settled(FEW) and len(counts[FEW]) < MOST_TRIES:
            counts[FEW].append(count(mpiexec, program, what, calls, rank, FEW))
        each = (min(counts[many]) - min(counts[FEW])) / (many - FEW)
        if settled(FEW) and each > 0 and (settled(many) if limit is None else each <= limit):
            break
    return each if each > 0 else float("inf")


def count_collective(mpiexec, program):
    """The row that `program` prints, as (name, instructions); None where it cannot count."""
    done = subprocess.run([mpiexec, "-n", "2", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=120, check=False)
    if done.returncode != 0:
        sys.exit(f"instructions: the run failed:\n{done.stdout}")
    found = re.search(r"^collective_(instructions .*) instructions (\d+)$", done.stdout, re.MULTILINE)
    return (found.group(1), int(found.group(2))) if found else None


def limits(path):
    found = {}
    with open(path, encoding="utf-8") as budgets:
        for line in budgets:
            words = line.split("#")[0].split()
            if len(words) > 2 and words[-2] == "<=":
                found[" ".join(words[:-2])] = float(words[-1])
    return found


def main():
    mpiexec, program, collective = sys.argv[1:4]
    allowed = limits(sys.argv[4]) if len(sys.argv) > 4 else {}
    rows = []
    for what, calls, rank, many in PLAN:
        row = f"instructions {what} bytes 8"
        rows.append((row, each_call(mpiexec, program, what, calls, rank, many, allowed.get(row))))
    for what in TRACED:
        many, few = (count_traced(mpiexec, program, what, times) for times in (3000, 1000))
        rows.append((f"instructions traced_{what} bytes 8", (many - few) / 2000))
    counted = count_collective(mpiexec, collective)
    if counted:
        rows.append(counted)
    failed = False
    for row, each in rows:
        over = each > allowed.get(row, each)
        failed = failed or over
        print(f"{row} count {each:.0f}" + (f"   (allowed: {allowed[row]:.0f})" if over else ""), flush=True)
    sys.exit(1 if failed else 0)


main()
