#!/usr/bin/env python3
"""Shows how far a build or a test run is: ninja ... | progress.py building, or ctest ... | progress.py testing.

What ninja and ctest print for each step that goes well is replaced: on a terminal by one line that is rewritten every
second, elsewhere (a log of continuous integration) by a line every EVERY seconds, 15 unless given as second argument:

      1:40  building: 312 of 666, framework/coll/op.cc.o
      5:10  testing: 123 of 606, for 12 s mpi.coll_reduce.16

Everything else passes through: errors, warnings, the output of tests that fail, the summary.
"""
import os
import re
import select
import sys
import time

NINJA = re.compile(r"\[(\d+)/(\d+)\] (?:.* )?(\S+)$")
START = re.compile(r" *Start +(\d+): (\S+)$")
PASSED = re.compile(r" *\d+/\d+ Test +#\d+: .* Passed +[\d.]+ sec$")
ENDED = re.compile(r" *(\d+)/(\d+) Test +#(\d+): ")
TERMINAL = sys.stdout.isatty()


class Progress:
    def __init__(self, what, every):
        self.what, self.every = what, every
        self.began = self.shown = time.monotonic()
        self.done, self.total = "0", "?"
        self.running = {}  # what has begun and not ended, by number: name and when, the longest first

    def write(self, text):
        sys.stdout.write(("\r\x1b[K" if TERMINAL else "") + text)
        sys.stdout.flush()

    def show(self, now):
        self.shown = now
        seconds = int(now - self.began)
        line = f"{seconds // 60:5d}:{seconds % 60:02d}  {self.what}: {self.done} of {self.total}"
        name, since = next(iter(self.running.values()), ("", now))
        line += f", for {int(now - since)} s {name}" if now - since >= 5 else f", {name}" if name else ""
        self.write(line[:118] if TERMINAL else line + "\n")

    def take(self, line):
        """One line of the tool's output."""
        ended = ENDED.match(line)
        step, start = NINJA.match(line), START.match(line)
        if step:
            self.done, self.total, name = step.groups()
            self.running = {"": (name, time.monotonic())}
        elif start:
            self.running[start.group(1)] = (start.group(2), time.monotonic())
        else:
            if ended:
                self.done, self.total, number = ended.groups()
                self.running.pop(number, None)
            if not PASSED.match(line):
                self.write(line + "\n")

    def run(self, descriptor):
        rest = b""
        while True:
            now = time.monotonic()
            if now - self.shown >= self.every:
                self.show(now)
            ready, _, _ = select.select([descriptor], [], [], min(1.0, max(0.05, self.every)))
            if not ready:
                continue
            data = os.read(descriptor, 1 << 16)
            if not data:
                break
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self.take(line.decode(errors="replace"))
        if rest:
            self.take(rest.decode(errors="replace"))
        self.show(time.monotonic())
        if TERMINAL:
            sys.stdout.write("\n")


def main():
    Progress(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1.0 if TERMINAL else 15.0).run(0)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
