#!/usr/bin/env python3
"""Jobs on several hosts, which are namespaces (cluster.py), under MPICH's mpiexec, which speaks PMI-1.

Run by ctest with HOSTS, TRAFFIC (the programs hosts.c and traffic.c) and BIN (where the other MPI programs are) in the
environment; HYDRA names the launcher, if it is not mpiexec.hydra.
"""
import os
import shutil
import subprocess
import sys
import unittest

from cluster import Cluster

HYDRA = shutil.which(os.environ.get("HYDRA", "mpiexec.hydra"))
HOSTS = os.path.abspath(os.environ["HOSTS"])
TRAFFIC = os.path.abspath(os.environ["TRAFFIC"])
BIN = os.path.abspath(os.environ["BIN"])

# Called as ssh: options, a host's address, and a line for the shell there.
AGENT = """#!/bin/sh
while case $1 in -*) true ;; *) false ;; esac; do shift; done
pid=$(cat {folder}/at-$1) || exit 255
shift
exec nsenter -t $pid -n -i -p -u -m -- /bin/sh -c "$*"
"""


class HydraTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(3)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.agent = os.path.join(cls.cluster.folder, "like-ssh")
        with open(cls.agent, "w") as file:
            file.write(AGENT.format(folder=cls.cluster.folder))
        os.chmod(cls.agent, 0o755)
        for name in cls.cluster.names:
            os.link(os.path.join(cls.cluster.folder, name), os.path.join(cls.cluster.folder, f"at-{cls.cluster.address(name)}"))

    def job(self, hosts, *words, timeout=60, **variables):
        """The launcher on host a. Its interface is named, as names of hosts lead nowhere here."""
        command = ["nsenter", "-t", str(self.cluster.pids["a"]), "-n", "-i", "-u", "-m", f"--wdns={os.getcwd()}", "--", HYDRA,
                   "-iface", "br0", "-launcher", "ssh", "-launcher-exec", self.agent, "-hosts",
                   ",".join(self.cluster.address(name) for name in hosts), *map(str, words)]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout,
                              env=dict(os.environ, **variables))

    def right(self, done):
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return sorted(done.stdout.splitlines())

    def test_ranks_know_each_others_hosts(self):
        for protocol in ("auto", "pmi2"):
            lines = self.right(self.job("bc", "-ppn", 2, "-n", 4, HOSTS, "hello", ASHLAR_launch_pmi_protocol=protocol))
            self.assertEqual(lines, [f"rank {r} of 4 on {'bbcc'[r]}, {r % 2} of 2 there, local ?" for r in range(4)])
        lines = self.right(self.job("abc", "-ppn", 1, "-n", 6, HOSTS, "hello"))
        self.assertEqual([line.split()[5] for line in lines], ["a,", "b,", "c,", "a,", "b,", "c,"])

    def test_messages_between_and_within_hosts(self):
        self.right(self.job("ab", "-ppn", 2, "-n", 4, TRAFFIC))
        self.right(self.job("abc", "-ppn", 1, "-n", 16, os.path.join(BIN, "pt2pt_sendrecv")))

    def test_ends(self):
        done = self.job("bc", "-ppn", 2, "-n", 4, HOSTS, "exit")
        self.assertEqual(done.returncode, 7, done)
        done = self.job("bc", "-ppn", 2, "-n", 4, HOSTS, "abort")
        self.assertNotEqual(done.returncode, 0, done)
        self.assertIn("MPI_Abort was called", done.stderr)
        done = self.job("bc", "-ppn", 2, "-n", 4, HOSTS, "kill")
        self.assertNotEqual(done.returncode, 0, done)
        self.assertTrue(self.cluster.none_left(HOSTS), "ranks are left")


if __name__ == "__main__":
    try:
        with Cluster(1):
            pass
    except (PermissionError, FileNotFoundError) as refusal:
        print(refusal)
        sys.exit(77)
    if not HYDRA:
        print("mpiexec.hydra of MPICH is not installed (Debian: apt-get install mpich)")
        sys.exit(77)
    unittest.main()
