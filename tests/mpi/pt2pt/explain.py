#!/usr/bin/env python3
"""What --explain=p2p says: explain.py MPIEXEC PROGRAM

Of each link, from which size a message takes which protocol, why, and which parameters change it. PROGRAM sends to the
next rank.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import explained  # noqa: E402
from explained import expect, joined  # noqa: E402

MPIEXEC, PROGRAM = sys.argv[1:]


def explain(*options):
    return joined(explained.explain(MPIEXEC, 2, "p2p", *options, PROGRAM, seconds=120))


usual = explain()
expect(r"p2p, peer 1: eager to \d+ ?(bytes|KiB), rendezvous with (fragments|a single copy) above", usual)
expect(r"because +(by the transport's cost model \(latency \d+ ns, copies |eager messages are bounded by )", usual)
expect(r"change +p2p\.eager_limit, p2p\.get_min, p2p\.single_copy, p2p\.shared_posts", usual)
if usual.count("p2p, peer 1:") != 1:
    explained.fail(f"one record for each link\n{usual}")

expect(r"p2p, peer 1: eager to 2KiB, .*\n +because +p2p\.eager_limit is 2KiB\n", explain("--set", "p2p.eager_limit=2KiB"))
expect(r"because +p2p\.eager_limit is 1GiB, cut to \d+KiB, the most that the transport takes at once",
       explain("--set", "p2p.eager_limit=1GiB"))
expect(r"rendezvous with fragments above\n.*\n +not +single copy: p2p\.single_copy is false\n",
       explain("--set", "p2p.single_copy=false"))
expect(r"rendezvous with fragments above\n.*\n +not +single copy: the transport cannot read the memory of this peer\n",
       explain("--set", "transport.shm.single_copy=false"))
