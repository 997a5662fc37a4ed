#!/usr/bin/env python3
"""Ranks die at random moments while they write pieces of a file, and two jobs write one file at once: every byte is one that
was there or that was written there, what belongs to nobody is as it was, and nothing is left beside the file.

  files_killed.py BUILD [--runs 10] [--seed 1] [--ranks 3]
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

EACH, GAP, MANY = 48, 16, 20000  # files.c
OLD = 0xEE
WAYS = ("two_phase", "sieve", "list", "auto", "mapped")


class Runs:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.failures = 0
        self.ranks = options.ranks
    def wrong(self, text):
        print("files_killed:", text)
        self.failures += 1

    def start(self, file, way, what, number, rounds):
        command = [os.path.join(self.options.build, "bin/mpiexec"), "--set", f"io.way={way}", "--set", "io.cb_buffer_size=64KiB",
                   "-n", str(self.ranks), os.path.join(self.options.build, "tests/hostile/files"), what, file, str(number), str(rounds)]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def fresh(self, file, ranks):
        with open(file, "wb") as out:
            out.write(bytes([OLD]) * ((EACH + GAP) * ranks * MANY))

    def look_at(self, what, folder, file, ranks, whole):
        """The blocks of `ranks` ranks; `whole`: all were written to the end."""
        with open(file, "rb") as found:
            data = found.read()
        if len(data) != (EACH + GAP) * ranks * MANY:
            self.wrong(f"{what}: the file has {len(data)} bytes")
            return
        for rank in range(ranks):
            written = {1 + rank} if whole else {OLD, 1 + rank}
            for part, allowed in ((slice(0, EACH), written), (slice(EACH, EACH + GAP), {OLD})):
                for offset in range(part.start, part.stop):
                    values = set(data[rank * (EACH + GAP) + offset::(EACH + GAP) * ranks])
                    if not values <= allowed:
                        self.wrong(f"{what}: byte {offset} of the blocks of rank {rank} is one of {sorted(values)} and not of {sorted(allowed)}")
                        return
        if os.listdir(folder) != [os.path.basename(file)]:
            self.wrong(f"{what}: beside the file there are {os.listdir(folder)}")

    def rank_of(self, job):
        """The processes of the job's ranks."""
        try:
            with open(f"/proc/{job.pid}/task/{job.pid}/children", encoding="ascii") as file:
                children = [int(pid) for pid in file.read().split()]
        except OSError:
            return []
        found = []
        for pid in children:
            try:
                if os.path.basename(os.readlink(f"/proc/{pid}/exe")) == "files":
                    found.append(pid)
            except OSError:
                pass
        return found

    def killed(self, number):
        way = WAYS[number % len(WAYS)]
        with tempfile.TemporaryDirectory(prefix="ashlar-files.") as folder:
            file = os.path.join(folder, "data")
            self.fresh(file, self.ranks)
            job = self.start(file, way, "holes", number, 100000)
            end = time.monotonic() + 20
            while len(self.rank_of(job)) < self.ranks and time.monotonic() < end:
                time.sleep(0.005)
            time.sleep(self.random.uniform(0.1, 0.6))
            victims = self.rank_of(job)
            if victims:
                os.kill(self.random.choice(victims), signal.SIGKILL)
            else:
                self.wrong(f"run {number}: there is no rank to kill")
            try:
                job.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                self.wrong(f"run {number}, {way}: the job does not end after a rank has died")
                os.killpg(job.pid, signal.SIGKILL)
                job.communicate()
            if job.returncode == 0:
                self.wrong(f"run {number}, {way}: the job ended well without one of its ranks")
            self.look_at(f"run {number}, {way}", folder, file, self.ranks, False)

    def two_jobs(self, ways):
        """The blocks of the other job's ranks are gaps between those of each."""
        with tempfile.TemporaryDirectory(prefix="ashlar-files.") as folder:
            file = os.path.join(folder, "data")
            self.fresh(file, 2 * self.ranks)
            jobs = [self.start(file, ways[number], "beside", number, 10) for number in (0, 1)]
            for job in jobs:
                _, said = job.communicate(timeout=120)
                if job.returncode != 0:
                    self.wrong(f"two jobs, {ways}: {said.decode(errors='replace')}")
            self.look_at(f"two jobs, {ways}", folder, file, 2 * self.ranks, True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=3)
    runs = Runs(parser.parse_args())
    for number in range(runs.options.runs):
        runs.killed(number)
    for ways in (("sieve", "sieve"), ("two_phase", "two_phase"), ("auto", "auto"), ("mapped", "sieve")):
        runs.two_jobs(ways)
    sys.exit(runs.failures != 0)


if __name__ == "__main__":
    main()
