#!/usr/bin/env python3
"""Every parameter with a number, a size, a time, a switch or a choice is tried with a real job: the ends of its range,
0, 1, and what lies beyond. What is in the range works, or is a limit that the job's error names; what is not is refused
with a sentence that names parameter, value and range, before a rank starts. Nothing hangs, nothing crashes.

usage: ranges.py MPIEXEC ASHLAR_INFO PROGRAM [PREFIX_OF_PARAMETERS]
"""
import json
import os
import re
import subprocess
import sys
import tempfile

FACTORS = {"": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
           "ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
BEYOND_ALL = {"bytes": "900TiB", "duration": "1000000h", "count": str(2**63), "integer": str(2**62), "number": "1e300"}
NUMBERS = BEYOND_ALL.keys()


def number(text):
    digits, unit = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", text).groups()
    return int(float(digits) * FACTORS[unit])


def values(row):
    """What is tried: (value, whether it is in the range)."""
    if row["type"] == "switch":
        return [("true", True), ("false", True), ("2", False)]
    if row["type"] == "choice":
        return [(choice, True) for choice in row["choices"]] + [("nonesuch", False)]
    if row["type"] not in NUMBERS:
        return []
    ends, *besides = row["range"].split(", or ")
    least, most = ends.split(" to ")
    unit = "ns" if row["type"] == "duration" else ""
    low, high, single = number(least), number(most), [number(b) for b in besides]
    tried = {}
    for text in [least, most, "0", "1" + unit, f"{low - 1}{unit}", f"{high + 1}{unit}", BEYOND_ALL[row["type"]], "-1", "x"]:
        if not re.fullmatch(r"[0-9.]+[A-Za-z]*", text):
            tried[text] = False
        else:
            tried[text] = low <= number(text) <= high or number(text) in single
    return tried.items()


def main(mpiexec, info, program, prefix=""):
    mpiexec, info, program = map(os.path.abspath, (mpiexec, info, program))
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("ASHLAR", "XDG_"))}
    wrong = jobs = 0
    with tempfile.TemporaryDirectory() as home:
        environment["HOME"] = home
        rows = json.loads(subprocess.run([info, "--json", "--params", "--level", "developer-all"], env=environment, cwd=home,
                                         capture_output=True, check=True).stdout)
        for row in rows:
            key = row["key"]
            if not key.startswith(prefix):
                continue
            if row["type"] in NUMBERS and "range" not in row:
                print(f"{key} has no range")
                wrong += 1
                continue
            for value, right in values(row):
                command = [mpiexec, "-n", "3", "--set", f"{key}={value}", program]
                jobs += 1
                try:
                    done = subprocess.run(command, env=environment, cwd=home, capture_output=True, timeout=90, text=True,
                                          errors="replace", stdin=subprocess.DEVNULL)
                except subprocess.TimeoutExpired:
                    print(f"{key}={value} hangs")
                    wrong += 1
                    continue
                ran = "ok 3" in done.stdout.splitlines()
                # A limit of few requests is a right value, and the job needs more: the error has to name it.
                limited = key.endswith(".request_limit") and done.returncode not in (134, 139) and key in done.stderr
                if right and not limited and (done.returncode != 0 or not ran):
                    print(f"{key}={value} is in its range and fails with {done.returncode}:\n{done.stdout[-400:]}{done.stderr[-800:]}")
                    wrong += 1
                if not right and (done.returncode in (0, 139, 134) or ran or key not in done.stderr or value not in done.stderr):
                    print(f"{key}={value} is not refused ({done.returncode}), or not with its name and value:\n{done.stderr[-800:]}")
                    wrong += 1
    print(f"{jobs} jobs, {wrong} mistakes")
    return 1 if wrong or not jobs else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
