#!/usr/bin/env python3
"""With log: debug each commit says what was compiled; without it nothing is printed.

usage: types_told.py MPIEXEC types_constructed
"""
import subprocess
import sys

mpiexec, program = sys.argv[1:3]


def run(*options):
    done = subprocess.run([mpiexec, "-n", "1", *options, program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [line.split("datatype: ", 1)[1] for line in done.stderr.splitlines() if "datatype: committed " in line]


lines = run("--set", "log=debug")
wanted = {
    "committed a struct datatype without a name: 9 bytes in 1 piece: 9 bytes":
        "{double, char}: the two touch, and the gap behind them makes no difference to one item",
    "committed a vector datatype without a name: 54 bytes in 6 pieces: "
    "2 x (3 x 9 bytes, 16 apart), 64 apart":
        "a vector of vectors is strides in strides",
}
for line, why in wanted.items():
    assert any(line in said for said in lines), f"{why}: {line!r} is not in\n" + "\n".join(lines)
assert any(said.endswith("(shared)") for said in lines), "equal forms are shared:\n" + "\n".join(lines)
assert not run(), "nothing is told unasked"
