#!/usr/bin/env python3
"""Runs a job of two ranks over a wire that does what networks do wrong (wire.py).

usage: wire_test.py MPIEXEC TRAFFIC CONDITION SECONDS [SEED]

All messages have to arrive once and in order, whatever the wire does to the packets that carry them, and however often the
connection has to be made again. A failure is repeated with its seed.
"""
import json
import os
import subprocess
import sys

import namespaces
from namespaces import Network

WIRE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wire.py")
BAD = {"loss": 0.005, "twice": 0.005, "late": 0.01, "delay": 0.001, "hold": 0.02}
CONDITIONS = {
    # what the wire does; what it has to have done, so that the run has shown something
    "bad": (BAD, ("lost", "twice", "late")),
    "cuts": ({"delay": 0.001, "cuts": 2, "cut": 4}, ("cut",)),
    "resets": ({"delay": 0.0005, "reset": 0.001}, ("reset",)),
    "all": ({**BAD, "reset": 0.00005, "cuts": 6, "cut": 6}, ("lost", "twice", "late", "reset", "cut")),
}


def main():
    mpiexec, traffic, condition, seconds = sys.argv[1:5]
    seed = sys.argv[5] if len(sys.argv) > 5 else "1"
    plan, marks = CONDITIONS[condition]
    network = Network()
    try:
        if None in network.hosts or not os.path.exists("/dev/net/tun"):
            print("namespaces or TUN devices are not permitted here")
            return 77
        hosts = list(map(str, network.hosts))
        wire = subprocess.Popen([sys.executable, WIRE, *hosts, seed, *(f"{name}={value}" for name, value in plan.items())],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with wire:
            if wire.stdout.readline() != "ready\n":
                print("TUN devices are not permitted here")
                return 77
            words = [mpiexec, "--timeout", str(int(seconds) + 200), "--explain=transport"]
            for setting in ("transport=tcp,self", "transport.tcp.interfaces=^lo", "transport.tcp.keepalive=1s",
                            "transport.tcp.user_timeout=1s"):
                words += ["--set", setting]
            words += ["-n", "2", sys.executable, namespaces.ENTER, traffic, "flow", seconds]
            job = subprocess.run(words, env=dict(os.environ, NET_HOSTS=",".join(hosts)), capture_output=True, text=True)
            wire.stdin.close()
            done = json.loads(wire.stdout.readline())
        again = [line for line in job.stderr.splitlines() if "was resumed after" in line]
        print(f"seed {seed}: {done}; connections that went on: {len(again)}; {job.stdout.split('rows ')[-1].strip()} rows")
        if job.returncode != 0 or "rows " not in job.stdout:
            print(f"status {job.returncode}\n{job.stdout}{job.stderr}")
            return 1
        missing = [mark for mark in marks if done[mark] == 0]
        if missing:
            print(f"the wire has done nothing of {missing}")
        return 1 if missing else 0
    finally:
        network.close()


if __name__ == "__main__":
    sys.exit(main())
