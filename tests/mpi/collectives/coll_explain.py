#!/usr/bin/env python3
"""What --explain=coll says: coll_explain.py MPIEXEC PROGRAM

Which rule chose what and why the others lost; that a rule applies whose algorithm cannot serve the call; and, at the end,
how often each algorithm ran, by sizes.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import explained  # noqa: E402
from explained import expect  # noqa: E402

MPIEXEC, PROGRAM = sys.argv[1:]


def explain(*options):
    return explained.explain(MPIEXEC, 3, "coll", *options, PROGRAM, "1", "120", seconds=150)


usual = explain()
expect(r"coll, bcast: \w+ \(shm\)\n +because +first used for \d+ bytes on 3 ranks of 1 node: default.yaml:\d+ \(bcast\.",
       usual)
if "parameter coll.shm" in usual:
    explained.fail(f"nothing was adjusted\n{usual}")
large = explain("--set", "coll.shm.piece=16MiB")
expect(r"coll, parameter coll\.shm\.piece: 349504\n +because +16MiB \(--set coll\.shm\.piece=16MiB\) is set; "
       r"that is a rank's share of a segment for 3 ranks, which has\s+1024 KiB for all", re.sub(r"\n {14,}", " ", large))
expect(r"coll, parameter coll\.shm\.blocks: 349504\n +because +the default; there is never less room", large)
expect(r"not +binomial: the rule for this size says otherwise", usual)
expect(r"coll, calls of allreduce: (\w+ \d+(, )?)+\n +because .*to_(64B|4KiB) \d+", usual)

# A rule whose algorithm cannot serve a call is passed over, and that is said, with the reason.
unfit = explain("--set", "coll.allgather.algorithm=neighbour_exchange")
expect(r"rule coll.allgather.algorithm from --set .*: passed over\n +because .*the number of ranks is odd", unfit)

nodes = explain("--set", "coll.node_size=2")
expect(r"coll, bcast: hier \(hier\)\n +because .* on 3 ranks of 2 nodes: default.yaml:\d+ \(bcast.nodes\)", nodes)

alone = explain("--set", "coll.shm.single_copy=false")
expect(r"passed over\n +because +direct cannot serve .*: coll.shm.single_copy is off", alone)
