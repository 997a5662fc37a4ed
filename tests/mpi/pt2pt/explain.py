#!/usr/bin/env python3
"""What --explain=p2p says: explain.py MPIEXEC PROGRAM

Of each link, from which size a message takes which protocol, why, and which parameters change it. PROGRAM sends to the
next rank.
"""
import re
import subprocess
import sys

MPIEXEC, PROGRAM = sys.argv[1:]


def explain(*options):
    done = subprocess.run([MPIEXEC, "-n", "2", "--explain=p2p", *options, PROGRAM], text=True, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        sys.exit(f"explain.py: status {done.returncode}\n{done.stdout}")
    return re.sub(r"\n {11,}", " ", done.stdout)  # a long sentence goes on in the next line


def expect(pattern, text):
    if not re.search(pattern, text):
        sys.exit(f"explain.py: no '{pattern}' in\n{text}")


usual = explain()
expect(r"p2p, peer 1: eager to \d+ ?(bytes|KiB), rendezvous with (fragments|a single copy) above", usual)
expect(r"because +(by the transport's cost model \(latency \d+ ns, copies |eager messages are bounded by )", usual)
expect(r"change +p2p\.eager_limit, p2p\.get_min, p2p\.single_copy, p2p\.shared_posts", usual)
if usual.count("p2p, peer 1:") != 1:
    sys.exit(f"explain.py: one record for each link\n{usual}")

expect(r"p2p, peer 1: eager to 2KiB, .*\n +because +p2p\.eager_limit is 2KiB\n", explain("--set", "p2p.eager_limit=2KiB"))
expect(r"because +p2p\.eager_limit is 1GiB, cut to \d+KiB, the most that the transport takes at once",
       explain("--set", "p2p.eager_limit=1GiB"))
expect(r"rendezvous with fragments above\n.*\n +not +single copy: p2p\.single_copy is false\n",
       explain("--set", "p2p.single_copy=false"))
expect(r"rendezvous with fragments above\n.*\n +not +single copy: the transport cannot read the memory of this peer\n",
       explain("--set", "transport.shm.single_copy=false"))
