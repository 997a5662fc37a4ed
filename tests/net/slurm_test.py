#!/usr/bin/env python3
"""mpiexec in allocations of a real Slurm, and srun itself. The nodes are namespaces (slurm.py, cluster.py). Nodes n1 to n3 are hosts b to d.

Run by ctest with MPIEXEC, HOSTS (the program hosts.c) and BIN (where the other MPI programs are) in the environment.
"""
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

from cluster import Cluster
from slurm import Slurm

MPIEXEC = os.path.abspath(os.environ["MPIEXEC"])
HOSTS = os.path.abspath(os.environ["HOSTS"])
BIN = os.environ.get("BIN", os.path.join(os.path.dirname(MPIEXEC), "../tests/mpi"))


class SlurmTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(4)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.slurm = Slurm(cls.cluster)
        cls.slurm.__enter__()
        cls.addClassCleanup(cls.slurm.__exit__)


class AllocationTest(SlurmTest):
    """mpiexec in an allocation."""

    def salloc(self, options, *words, status=0, **environment):
        """mpiexec on host a, which is none of the nodes."""
        done = self.slurm.run("a", "salloc", "--quiet", *options, MPIEXEC, *words, **environment)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        return done

    def hosts_of(self, options, *words):
        """The host of each rank, by a program without MPI."""
        out = self.salloc(options, *words, "sh", "-c", "echo $ASHLAR__RANK $(hostname)").stdout
        return "".join(host for _, host in sorted((int(line.split()[0]), line.split()[1]) for line in out.splitlines()))

    def test_the_nodes_are_the_hosts_and_the_tasks_the_ranks(self):
        self.assertEqual(self.hosts_of(["-w", "n[1-2]", "--ntasks-per-node=3"]), "bbbccc")
        self.assertEqual(self.hosts_of(["-w", "n[1,3]", "--ntasks-per-node=1"]), "bd")
        self.assertEqual(self.hosts_of(["-w", "n3", "-n", 2]), "dd")
        out = self.slurm.run("a", "salloc", "--quiet", "-N", 3, "-n", 5, "sh", "-c",
                             f"echo $SLURM_JOB_NODELIST $SLURM_TASKS_PER_NODE; exec {MPIEXEC} sh -c hostname").stdout.splitlines()
        counts = [int(count) for count, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", out[0].split()[1]) for _ in range(int(times or 1))]
        self.assertEqual((out[0].split()[0], sum(counts)), ("n[1-3]", 5))
        self.assertEqual(sorted(out[1:]), [host for host, count in zip("bcd", counts) for _ in range(count)])

    def test_options_choose_among_them(self):
        tasks = ["-N", 3, "--ntasks-per-node=2"]
        self.assertEqual(self.hosts_of(tasks, "-n", 2), "bb")
        self.assertEqual(self.hosts_of(tasks, "-n", 7), "bbccddb")
        self.assertEqual(self.hosts_of(tasks, "-ppn", 1), "bcd")
        self.assertEqual(self.hosts_of(tasks, "--npernode", 1, "-n", 2), "bc")
        self.assertEqual(self.hosts_of(tasks, "--map-by", "node", "-n", 5), "bcdbc")
        self.assertEqual(self.hosts_of(tasks, "--map-by", "ppr:1:node", "--rank-by", "node"), "bcd")
        self.assertEqual(self.hosts_of(tasks, "--map-by", "node", "--rank-by", "slot", "-n", 5), "bbccd")
        self.assertEqual(self.hosts_of(tasks, "--host", "n2,n3", "-n", 4), "ccdd")
        self.assertEqual(self.hosts_of(tasks, "--host", "localhost"), "a")

    def test_the_nodes_are_explained(self):
        err = self.salloc(["-w", "n[1-2]", "--ntasks-per-node=2"], "--explain=launch", "true").stderr
        self.assertRegex(err, r"launch hosts +n1:2, n2:2|hosts.*n1:2, n2:2")

    def test_ranks_exchange_messages(self):
        out = self.salloc(["-N", 3, "--ntasks-per-node=2"], HOSTS, "hello").stdout
        self.assertEqual(sorted(out.splitlines()),
                         [f"rank {r} of 6 on {'bbccdd'[r]}, {r % 2} of 2 there, local {r % 2}" for r in range(6)])

    def test_mpiexec_on_the_first_node(self):
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            script, output = os.path.join(folder, "job"), os.path.join(folder, "output")
            with open(script, "w") as file:
                file.write(f"#!/bin/sh\n{MPIEXEC} {HOSTS} hello\n{MPIEXEC} -n 1 sh -c 'hostname; ps -o comm= -p $PPID'\n")
            # That this Slurm binds nothing to cores, of which srun complains, is not told.
            done = self.slurm.run("a", "sbatch", "--quiet", "--wait", "-w", "n[1-2]", "--ntasks-per-node=2", f"--output={output}",
                                  script)
            with open(output) as file:
                lines = file.read().splitlines()
        self.assertEqual(done.returncode, 0, (done, lines))
        self.assertEqual(sorted(lines[:4]),
                         [f"rank {r} of 4 on {'bbcc'[r]}, {r % 2} of 2 there, local {r % 2}" for r in range(4)])
        # The rank of its own node is its child, without a daemon between.
        self.assertEqual(lines[4:], ["b", "mpiexec"])

    def test_srun_is_the_agent_unless_another_is_named(self):
        for words in ((), ("--launcher", "srun"), ("--launcher", "slurm")):
            self.assertRegex(self.check(*words), r"host n1 agent srun --nodes=1 --ntasks=1 --nodelist=n1 .*A job can run on this host")
        self.assertIn("The agent is ssh -x", self.check("--launcher", "ssh"))
        self.assertIn("there is no program other-agent", self.check(ASHLAR_mpiexec_launch_agent="other-agent %h"))
        self.assertIn("there is no program other-agent", self.check("--launch-agent", "other-agent %h"))
        self.assertIn("The agent is ssh -x", self.check("--host", "n1,stranger"))

    def check(self, *words, **environment):
        """What --check says of the agent, which need not lead anywhere."""
        done = self.slurm.run("a", "salloc", "--quiet", "-w", "n1", MPIEXEC, "--check", "--set", "mpiexec.start_timeout=10s",
                              *words, "true", **environment)
        return re.sub(r"\s+", " ", done.stdout + done.stderr)

    def test_the_installation_may_lie_elsewhere(self):
        prefix = os.path.dirname(os.path.dirname(MPIEXEC))
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            os.symlink(prefix, os.path.join(folder, "there"))
            out = self.salloc(["-w", "n[1-2]", "--ntasks-per-node=1"], "--prefix", os.path.join(folder, "there"), "sh", "-c",
                              "readlink /proc/$PPID/exe; tr '\\0' ' ' < /proc/$PPID/cmdline").stdout
            self.assertEqual(out.count(f"{folder}/there/bin/mpiexec --daemon"), 2, out)
        done = self.salloc(["-N", 2, "-n", 2], "--prefix", "/nowhere", "true", status=127)
        self.assertIn("/nowhere/bin/mpiexec", done.stderr)

    def test_a_rank_that_fails_ends_the_job(self):
        began = time.monotonic()
        done = self.salloc(["-w", "n[1-2]", "--ntasks-per-node=2"], HOSTS, "kill", status=137)
        self.assertRegex(re.sub(r"\s+", " ", done.stderr), r"rank 3 of 4 \(\S*hosts, process \d+ on n2\) .*signal 9")
        self.assertLess(time.monotonic() - began, 40)
        self.assertTrue(self.cluster.none_left(HOSTS))

    def test_a_list_that_cannot_be_read(self):
        environment = dict(os.environ, SLURM_JOB_ID="7", SLURM_JOB_NODELIST="n[1-")
        done = subprocess.run([MPIEXEC, "true"], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("SLURM_JOB_NODELIST=n[1- is no list of nodes such as n[01-03,7],m5", done.stderr)
        for words in ("--host", "localhost"), ("-n", "1", "--host", "localhost"):
            self.assertEqual(subprocess.run([MPIEXEC, *words, "true"], env=environment).returncode, 0)


class SrunTest(SlurmTest):
    """Programs that srun starts on several nodes, through Slurm's own PMIx server."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        listed = cls.slurm.run("a", "srun", "--mpi=list")
        if "pmix" not in listed.stdout + listed.stderr:
            raise unittest.SkipTest("this Slurm has no PMIx plug-in that can be used")

    def srun(self, nodes, each, *words, status=0, timeout=60):
        done = self.slurm.run("a", "srun", "--mpi=pmix", "--quiet", "-w", nodes, f"--ntasks-per-node={each}", *words, timeout=timeout)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        return done

    def test_ranks_know_who_is_on_their_node(self):
        for nodes, each, hosts in ("n[1-3]", 2, "bbccdd"), ("n[2-3]", 1, "cd"):
            out = self.srun(nodes, each, HOSTS, "hello").stdout
            self.assertEqual(sorted(out.splitlines()),
                             [f"rank {r} of {len(hosts)} on {host}, {r % each} of {each} there, local ?" for r, host in enumerate(hosts)])
        out = self.srun("n[1-2]", 2, "--distribution=cyclic", HOSTS, "hello").stdout
        self.assertEqual(sorted(out.splitlines()), [f"rank {r} of 4 on {'bcbc'[r]}, {r // 2} of 2 there, local ?" for r in range(4)])

    def test_programs(self):
        for program in "pt2pt_random", "pt2pt_wildcards", "coll_random", "comm_make", "finalize":
            with self.subTest(program=program):
                self.srun("n[1-2]", 2, os.path.join(BIN, program), timeout=120)

    def test_a_rank_that_aborts_or_is_killed_ends_the_job(self):
        self.assertIn("MPI_Abort was called", self.srun("n[1-2]", 2, HOSTS, "abort", status=9).stderr)
        began = time.monotonic()
        done = self.slurm.run("a", "srun", "--mpi=pmix", "-w", "n[1-2]", "--ntasks-per-node=2", HOSTS, "kill")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "rank [0-3] of 'MPI_COMM_WORLD' is gone")
        self.assertLess(time.monotonic() - began, 40)


if __name__ == "__main__":
    try:
        with Cluster(2) as cluster, Slurm(cluster):
            pass
    except (PermissionError, FileNotFoundError) as refusal:
        print(refusal)
        sys.exit(77)
    unittest.main()
