#!/usr/bin/env python3
"""Bits of reductions under coll.reproducible: coll_reproducible.py MPIEXEC PROGRAM

The same whichever way the ranks are placed on nodes, whichever components and copies there are, and whatever algorithm a
rule asks for. Without the parameter at least one of these ways gives others, or this test could not fail.
"""
import subprocess
import sys

MPIEXEC, PROGRAM = sys.argv[1:]

WAYS = [[], ["coll.node_size=1"], ["coll.node_size=2"], ["coll.node_size=3"], ["coll=p2p,inter"], ["coll=^shm"],
        ["coll.shm.single_copy=false"], ["coll.shm.piece=4KiB"],
        ["coll.allreduce.algorithm=ring", "coll.reduce.algorithm=binomial", "coll.reduce_scatter.algorithm=pairwise",
         "coll.scan.algorithm=doubling"],
        ["coll.node_size=2", "coll.allreduce.algorithm=rabenseifner", "coll.exscan.algorithm=doubling"]]


def bits(ranks, settings, *more):
    options = [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run([MPIEXEC, "-n", str(ranks), *more, *options, PROGRAM], text=True, timeout=100,
                          capture_output=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0 or len(done.stdout.split()) != ranks:
        sys.exit(f"coll_reproducible.py: {ranks} ranks, {settings}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


for ranks in (3, 5, 8):
    wanted = bits(ranks, ["coll.reproducible=true"])
    differ = 0
    for way in WAYS:
        if bits(ranks, ["coll.reproducible=true", *way]) != wanted:
            sys.exit(f"coll_reproducible.py: other bits on {ranks} ranks with {' '.join(way)}")
        differ += bits(ranks, way) != wanted
    if bits(ranks, ["coll.reproducible=true"], "--bind-to", "none") != wanted:
        sys.exit(f"coll_reproducible.py: other bits on {ranks} ranks that are not bound")
    if differ == 0:
        sys.exit("coll_reproducible.py: every order gives the same bits, so nothing was tested")
