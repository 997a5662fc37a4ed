#!/usr/bin/env python3
"""What --explain=transport says of native matching: matching_explain.py MPIEXEC PROGRAM

A network is asked to match messages where a process has one lane, and on none of several. PROGRAM has several threads.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import explained  # noqa: E402
from explained import expect, joined  # noqa: E402

MPIEXEC, PROGRAM = sys.argv[1:]


def explain(lanes):
    return joined(explained.explain(MPIEXEC, 2, "transport", "--set", "transport=ucx,self", "--set", "p2p.matching=native",
                                    "--set", f"threads.lanes={lanes}", PROGRAM, "19", "2", "4", seconds=120))


expect(r"network of ucx: .*\n +because .*; it matches tags of \d+ bits", explain(1))
expect(r"network of ucx: .*\n +because .*; no tags: p2p\.matching or the job's settings exclude them", explain(2))
