#!/usr/bin/env python3
"""Runs a job of two ranks between hosts whose two networks are cut for moments, again and again.

usage: flapping_test.py MPIEXEC TRAFFIC TRANSPORT SECONDS [SEED]

TRANSPORT: tcp, ucx or ofi (over tcp;ofi_rxm). All messages have to arrive once and in order, with every byte as it was sent. When
which network is cut, which way and for how long follows from the seed.
"""
import collections
import random
import subprocess
import sys
import tempfile
import time

from two_networks import TwoNetworks

RATE = "40mbit"  # the networks are the limit, not the cores
LONGEST = 5  # seconds; most cuts are much shorter
SETTINGS = {
    "tcp": ("transport.tcp.keepalive=1s", "transport.tcp.user_timeout=1s"),
    "ucx": (),
    "ofi": ("transport.ofi.provider=tcp;ofi_rxm",),
}
WAYS = {"both ways": "bc", "one way": "b", "the other way": "c"}  # the hosts whose packets are swallowed


def cut(hosts, card, way, seconds):
    if way == "interface down":
        hosts.inside("c", "ip", "link", "set", card, "down")
        time.sleep(seconds)
        hosts.inside("c", "ip", "link", "set", card, "up")
    else:
        hosts.silence(card, WAYS[way])
        time.sleep(seconds)
        hosts.restore(card, WAYS[way])


def flap(hosts, job, chance):
    """Cuts one network at a time until the job ends. Returns how often each has been cut in which way."""
    done = collections.Counter()
    while job.poll() is None:
        time.sleep(chance.uniform(0.1, 2.0))
        card, way = chance.choice(("eth0", "eth1")), chance.choice(("interface down", *WAYS))
        cut(hosts, card, way, LONGEST * chance.random() ** 3)
        done[f"{card} {way}"] += 1
    return done


def main():
    mpiexec, traffic, transport, seconds = sys.argv[1:5]
    seed = sys.argv[5] if len(sys.argv) > 5 else "1"
    words = ["--timeout", int(seconds) + 200, "--explain=transport", "--host", "b,c"]
    for setting in (f"transport={transport},self", *SETTINGS[transport]):
        words += ["--set", setting]
    with TwoNetworks(RATE) as hosts, tempfile.TemporaryFile("w+") as errors:
        job = subprocess.Popen(hosts.words(mpiexec, *words, "-n", 2, traffic, "flow", seconds), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=errors, text=True)
        ready = job.stdout.readline() == job.stdout.readline() == "ready\n"
        done = flap(hosts, job, random.Random(seed)) if ready else {}
        out = job.communicate()[0]
        errors.seek(0)
        said = errors.read()
    counts = {words: said.count(words) for words in ("was resumed after", "what was due over it is read over others")}
    print(f"seed {seed}: cuts {dict(done)}; {counts}; {out.split('rows ')[-1].strip()} rows")
    if job.returncode != 0 or "rows " not in out:
        print(f"status {job.returncode}\n{out}{said}")
        return 1
    return 0 if done else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PermissionError as reason:
        print(reason)
        sys.exit(77)
