#!/usr/bin/env python3
"""Ranks and mpiexec die at random moments: the right one is named, and nothing is left.

  kills.py BUILD [--runs 15] [--seed 1] [--ranks 4] [--stage MS] [--load]

--load keeps every core busy meanwhile, which makes the moments between two system calls wide. A run that goes wrong is
printed with its number; the same seed gives the same choices, the moments stay the scheduler's.
"""
import argparse
import collections
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

KINDS = ("rank", "rank", "rank", "mpiexec", "early", "early-abort")


def ours(work):
    """Processes with this folder as TMPDIR: mpiexec, its guard and the ranks. Zombies have no environment any more."""
    found = {}
    mark = f"TMPDIR={work}".encode()
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as file:
                entries = file.read().split(b"\0")
        except OSError:
            continue
        if mark not in entries:
            continue
        pid = int(path.split("/")[2])
        rank = next((e for e in entries if e.startswith(b"ASHLAR__RANK=")), None)
        # Between clone and execve a rank still has mpiexec's environment.
        found[pid] = int(rank.split(b"=")[1]) if rank else None
    return found


def wait_until_gone(work, seconds=10):
    end = time.monotonic() + seconds
    while (left := ours(work)) and time.monotonic() < end:
        time.sleep(0.01)
    return left


class Kills:
    def __init__(self, options):
        self.options = options
        self.mpiexec = os.path.join(options.build, "bin/mpiexec")
        self.victim = os.path.join(options.build, "tests/hostile/victim")
        self.random = random.Random(options.seed)
        self.failures = 0
        self.seen = collections.Counter()

    def start(self, work, words, pmix):
        command = [self.mpiexec, "-n", str(self.options.ranks)]
        if pmix:
            command += ["--set", "mpiexec.pmix=on"]
        command += [self.victim, str(self.options.stage), *words]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**os.environ, "TMPDIR": work})

    def run(self, number):
        kind = self.random.choice(KINDS)
        rank = self.random.randrange(self.options.ranks)
        # Pauses before and after, messages and collectives; the rest is start and end.
        moment = self.random.uniform(0, 5 * self.options.stage / 1e3)
        pmix = self.random.random() < 0.25
        work = tempfile.mkdtemp(prefix="ashlar-kills.")
        words = {"early": [str(rank)], "early-abort": [str(rank), "abort"]}.get(kind, [])
        job = self.start(work, words, pmix)
        killed = False
        if kind in ("rank", "mpiexec"):
            time.sleep(moment)
            killed = self.kill(job, work, kind, rank)
        try:
            out, err = job.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            left = ours(work)
            self.wrong(number, f"hangs; processes {left}")
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            out, err = job.communicate()
        text = re.sub(r"\s+", " ", err.decode(errors="replace"))
        what = f"{kind} {rank if kind != 'mpiexec' else ''} after {moment * 1e3:.1f} ms{' with PMIx' if pmix else ''}"
        self.judge(number, what, kind, rank, killed, job.returncode, text)
        if left := wait_until_gone(work):
            self.wrong(number, f"{what}: still running {left}")
            for pid in left:
                os.kill(pid, signal.SIGKILL)
        if files := os.listdir(work):
            self.wrong(number, f"{what}: left in TMPDIR: {files}")
        if files := [f for f in os.listdir("/dev/shm") if re.fullmatch(r"ashlar(-board|-shared|-coll)?-\w{6}", f)]:
            self.wrong(number, f"{what}: left in /dev/shm: {files}")
        shutil.rmtree(work)

    def kill(self, job, work, kind, rank):
        if kind == "mpiexec":
            job.send_signal(signal.SIGKILL)
            return True
        for _ in range(1000):
            found = [pid for pid, r in ours(work).items() if r == rank]
            if found:
                try:
                    os.kill(found[0], signal.SIGKILL)
                    return True
                except ProcessLookupError:
                    return False
            if job.poll() is not None:
                return False  # the job is over
        return False

    def judge(self, number, what, kind, rank, killed, status, text):
        if kind == "mpiexec":
            self.seen["mpiexec killed" if status == -signal.SIGKILL else "job over before"] += 1
            if status not in (0, -signal.SIGKILL):
                self.wrong(number, f"{what}: mpiexec's status {status}: {text}")
            return
        if kind == "rank" and (not killed or status == 0):
            # It had ended: then there is nothing to say.
            self.seen["job over before"] += 1
            if status != 0 or text:
                self.wrong(number, f"{what}: the rank had ended, but status {status}: {text}")
            return
        number_of_signal, name = (9, "SIGKILL") if kind == "rank" else (11, "SIGSEGV")
        self.seen[f"rank: {name}"] += 1
        if status != 128 + number_of_signal:
            self.wrong(number, f"{what}: status {status}: {text}")
        elif not re.search(rf"rank {rank} of \d+ \(.*?\) was killed by signal {number_of_signal} \({name}", text):
            self.wrong(number, f"{what}: not named first: {text}")

    def wrong(self, number, text):
        self.failures += 1
        print(f"run {number} of seed {self.options.seed}: {text}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("source", nargs="?")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--stage", type=int, default=15, help="milliseconds")
    parser.add_argument("--load", action="store_true")
    options = parser.parse_args()
    load = []
    if options.load:
        load = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count())]
    kills = Kills(options)
    try:
        for number in range(options.runs):
            kills.run(number)
    finally:
        for process in load:
            process.kill()
            process.wait()
    print(f"{options.runs} runs, {kills.failures} failures:", dict(kills.seen))
    return 1 if kills.failures else 0


if __name__ == "__main__":
    sys.exit(main())
