#!/usr/bin/env python3
"""Jobs whose daemons start each other, on hosts that are namespaces (cluster.py).

mpiexec is on a and starts the daemons on b and c; b those on d and e, c those on f and g, and d that on h. Run by ctest with
MPIEXEC and HOSTS (the program hosts.c) in the environment.
"""
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import unittest

from cluster import Cluster
from hosts_test import HOSTS, MPIEXEC, HostsTest, flat
from relay import frame

ABOVE = {"b": "a", "c": "a", "d": "b", "e": "b", "f": "c", "g": "c", "h": "d"}
ALL = "abcdefgh"


def hosts_behind(host):
    """Those that are reached through this one."""
    behind = [other for other, above in ABOVE.items() if above == host]
    return set(behind).union(*map(hosts_behind, behind))


class TreeTest(HostsTest):
    TREE = ("--set", "mpiexec.tree_from=3", "--set", "mpiexec.tree_width=2", "--host", ",".join(ALL))

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(len(ALL), one_tree=True)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)

    def daemon(self, host):
        found = self.cluster.processes(host, "--daemon", name="mpiexec")
        self.assertEqual(len(found), 1, host)
        return found[0]

    def started_from(self):
        """By host: the one on which the process runs that has started its daemon."""
        names = {os.readlink(f"/proc/{pid}/ns/net"): name for name, pid in self.cluster.pids.items()}
        tree = {}
        for host in ALL[1:]:
            pid, space = self.daemon(host), None
            while space in (None, os.readlink(f"/proc/{self.daemon(host)}/ns/net")):
                with open(f"/proc/{pid}/stat") as file:
                    pid = int(file.read().rsplit(")", 1)[1].split()[1])
                space = os.readlink(f"/proc/{pid}/ns/net")
            tree[host] = names[space]
        return tree

    def nothing_is_left(self):
        for pattern in (HOSTS, "--daemon", "sleep 99"):
            self.assertTrue(self.cluster.none_left(pattern), pattern)

    def job_that_waits(self, *words):
        return self.start_job(*words, *self.TREE, "-n", 16, HOSTS, "wait", ready=16)

    def end(self, process):
        process.kill()
        process.communicate()
        self.nothing_is_left()


class JobTest(TreeTest):
    def test_daemons_start_each_other(self):
        process = self.job_that_waits()
        self.assertEqual(self.started_from(), ABOVE)
        self.end(process)

    def test_ranks_of_all_hosts_know_each_other(self):
        out = self.run_job(*self.TREE, "-n", 16, HOSTS, "hello").stdout
        self.assertEqual(sorted(out.split("\n")[:-1], key=lambda line: int(line.split()[1])),
                         [f"rank {r} of 16 on {ALL[r // 2]}, {r % 2} of 2 there, local {r % 2}" for r in range(16)])
        self.nothing_is_left()

    def test_the_ways_are_told(self):
        err = flat(self.run_job("--explain=launch", *self.TREE, "-n", 8, "true").stderr)
        self.assertIn("2 of 7 hosts from here, 5 through others", err)
        self.cluster.agent('test "$(hostname)" != d || exit 255')
        err = flat(self.run_job("--explain=launch", *self.TREE, "-n", 8, "true").stderr)
        self.assertIn("2 of 7 hosts from here, 5 through others; ways from other hosts that failed: 1", err)

    def test_few_hosts_have_no_tree(self):
        process = self.start_job("--host", ",".join(ALL), "-n", 8, HOSTS, "wait", ready=8)
        self.assertEqual(set(self.started_from().values()), {"a"})
        self.end(process)

    def test_a_chain(self):
        process = self.start_job("--set", "mpiexec.tree_from=1", "--set", "mpiexec.tree_width=1", "--host", ",".join(ALL), "-n",
                                 8, HOSTS, "wait", ready=8)
        self.assertEqual(self.started_from(), {host: chr(ord(host) - 1) for host in ALL[1:]})
        self.end(process)

    def test_input_and_output_of_the_last_host(self):
        data = b"".join(b"%d\n" % i for i in range(2000000))
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.seek(0)
            out = self.run_job(*self.TREE, "-n", 8, "--stdin", 7, "sh", "-c",
                               "if test $ASHLAR__RANK = 7; then md5sum; hostname; seq 1000000; fi", stdin=file).stdout
        self.assertEqual(out.split()[0], hashlib.md5(data).hexdigest())
        self.assertEqual(out.split("\n", 1)[1], "h\n" + "".join(f"{i}\n" for i in range(1, 1000001)))

    def test_a_gibibyte_of_input_of_the_last_host(self):
        """The hosts between keep none of it."""
        source = subprocess.Popen(["head", "-c", str(1 << 30), "/dev/zero"], stdout=subprocess.PIPE)
        with source, source.stdout:
            out = self.run_job(*self.TREE, "-n", 8, "--stdin", 7, "sh", "-c",
                               "test $ASHLAR__RANK != 7 || { wc -c; grep VmHWM /proc/$PPID/status; }", stdin=source.stdout,
                               timeout=120).stdout.split()
        self.assertEqual(out[0], str(1 << 30))
        self.assertLess(int(out[2]), 32 * 1024, "KiB that the daemon had at most")

    def test_much_output_of_all_hosts(self):
        out = self.run_job(*self.TREE, "-n", 8, "-l", "sh", "-c", "for i in $(seq 20000); do echo line $i of $ASHLAR__RANK; done")
        numbers = {}
        for line in out.stdout.splitlines():
            words = line.split()
            self.assertEqual(int(words[-3]), numbers.get(words[-1], 0) + 1, line)
            numbers[words[-1]] = int(words[-3])
        self.assertEqual(numbers, {str(rank): 20000 for rank in range(8)})

    def test_ends(self):
        self.run_job(*self.TREE, "-n", 8, HOSTS, "exit", status=7)
        self.run_job(*self.TREE, "-n", 8, HOSTS, "abort", status=9)
        err = flat(self.run_job(*self.TREE, "-n", 8, HOSTS, "kill", status=137).stderr)
        self.assertRegex(err, r"rank 7 of 8 \(.* on h\) was killed by signal 9")
        self.nothing_is_left()

    def test_an_interrupt_reaches_all(self):
        process = self.start_job(*self.TREE, "-n", 8, "sh", "-c", "trap 'kill $!; exit 3' INT; echo ready; sleep 99 & wait", ready=8)
        process.send_signal(signal.SIGINT)
        status, _, err, _ = self.end_of(process, 20)
        self.assertEqual(status, 3, err)
        self.nothing_is_left()

    def test_a_time_limit_speaks_of_all_hosts(self):
        err = flat(self.run_job("--timeout", 4, *self.TREE, "-n", 8, HOSTS, "recv", status=124).stderr)
        self.assertIn("rank 0 waits in MPI_Recv from rank 7 tag 7", err)
        self.assertIn("rank 7 waits in MPI_Recv from rank 0 tag 7", err)
        self.nothing_is_left()


class LossTest(TreeTest):
    def test_any_daemon(self):
        for host in ALL[1:]:
            with self.subTest(host):
                process = self.job_that_waits()
                self.cluster.kill(self.daemon(host))
                status, _, err, seconds = self.end_of(process, 20)
                self.assertEqual(status, 1, err)
                rank = 2 * ALL.index(host)
                self.assertRegex(err, rf"(^| )mpiexec: rank {rank} of 16 \(\S+ process \d+ on {host}\) was lost with its host: its "
                                      r"agent, .*, (ended|was killed)")
                self.assertLess(seconds, 10)
                self.nothing_is_left()

    def test_mpiexec(self):
        self.end(self.job_that_waits())

    def test_a_host_that_is_silent(self):
        for host in "bh":
            with self.subTest(host):
                process = self.job_that_waits("--set", "mpiexec.host_silence=2s")
                silent = self.daemon(host)
                self.cluster.kill(silent, signal.SIGSTOP)
                status, _, err, seconds = self.end_of(process, 20)
                self.assertEqual(status, 1, err)
                self.assertRegex(err, rf"on {host}\) was lost with its host: the host has been silent for 2 s")
                self.assertLess(seconds, 8)
                self.nothing_is_left()

    def test_what_cannot_be_read(self):
        """A host whose messages make no sense is lost, and ends, though its way leads on."""
        for host in "bdh":
            with self.subTest(host):
                self.cluster.relay(host, "back", "66", frame(0x4141).hex())
                process = self.start_job(*self.TREE, "-n", 16, HOSTS, "wait")
                status, _, err, _ = self.end_of(process, 20)
                self.assertIn(status, (1, 127), err)
                self.assertRegex(err, rf"host {host}.*mpiexec there has sent a message of kind 16705")
                self.nothing_is_left()

    def test_a_daemon_that_ends_while_the_job_starts(self):
        """At any moment: the job ends with a sentence, or it has never noticed."""
        for host in "bd":
            for moment in (0, 0.02, 0.05, 0.1, 0.2):
                with self.subTest(host, moment=moment):
                    self.cluster.agent(f"if test $host = {host}; then (sleep {moment}; kill -9 $$) >/dev/null 2>&1 & fi")
                    done = self.cluster.run(MPIEXEC, *self.TREE, "-n", 8, "sleep", "3")
                    err = flat(done.stderr)
                    if done.returncode == 0:
                        continue  # the daemon of d was started once more, by way of a
                    self.assertIn(done.returncode, (1, 127), err)
                    self.assertRegex(err, rf"(cannot start ranks on host {host}: |on {host}\) was lost with its host: )")
                    self.nothing_is_left()


class FallBackTest(TreeTest):
    def test_hosts_that_let_nobody_in_from_each_other(self):
        self.cluster.agent('test "$(hostname)" = a || { echo "no way from $(hostname)" >&2; exit 255; }')
        process = self.job_that_waits()
        self.assertEqual(set(self.started_from().values()), {"a"})
        self.end(process)

    def test_one_from_which_no_way_leads_on(self):
        self.cluster.agent('test "$(hostname)" != d || exit 255')
        process = self.job_that_waits()
        self.assertEqual(self.started_from(), ABOVE | {"h": "b"})
        self.end(process)

    def test_one_without_the_agent(self):
        """It stands in a folder that one host does not have."""
        folder = os.path.dirname(self.cluster.command)
        self.cluster.inside("b", "mount", "-t", "tmpfs", "tmpfs", folder)
        try:
            process = self.job_that_waits()
            self.assertEqual(self.started_from(), ABOVE | {"d": "a", "e": "a"})
            self.end(process)
        finally:
            self.cluster.inside("b", "umount", folder)

    def test_an_agent_that_is_stuck_there(self):
        self.cluster.agent('test "$(hostname)" != b || exec sleep 99')
        process = self.job_that_waits("--set", "mpiexec.start_timeout=4s")
        self.assertEqual(self.started_from(), ABOVE | {"d": "a", "e": "a"})
        self.assertTrue(self.cluster.none_left("sleep 99"))
        self.end(process)

    def refused(self, pattern, *words):
        done = self.cluster.run(MPIEXEC, *words, *self.TREE, "-n", 8, "sleep", "99")
        self.assertEqual(done.returncode, 127, done.stderr)
        self.assertRegex(flat(done.stderr), pattern)
        self.nothing_is_left()

    def test_a_host_that_nobody_reaches(self):
        self.cluster.agent('test $host != h || { echo "no route to h" >&2; exit 255; }')
        self.refused("cannot start ranks on host h: it ended with exit status 255 .*The agent is .*agent h.*It said: no route to h")

    def test_another_version(self):
        self.cluster.agent('test $host != h || { echo "ashlar-mpiexec-daemon 0.0/1 x86_64 4 h"; exec sleep 99; }')
        self.refused("cannot start ranks on host h: .* is of version 0.0/1")

    def test_start_files_that_print(self):
        self.cluster.agent('echo "Welcome to $host"; printf "no end of line"')
        self.assertEqual(sorted(self.run_job(*self.TREE, "-n", 8, "hostname").stdout.split()), list(ALL))

    def test_a_program_that_is_missing_on_the_last_host(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "program")
            os.symlink("/bin/sleep", program)
            self.cluster.inside("h", "mount", "-t", "tmpfs", "tmpfs", folder)
            try:
                done = self.cluster.run(MPIEXEC, *self.TREE, "-n", 8, program, "99")
            finally:
                self.cluster.inside("h", "umount", folder)
        self.assertEqual(done.returncode, 127, done.stderr)
        self.assertRegex(flat(done.stderr), "cannot start ranks on host h: ")
        self.assertTrue(self.cluster.none_left(program))


if __name__ == "__main__":
    try:
        with Cluster(1):
            pass
    except (PermissionError, FileNotFoundError) as refusal:
        print(refusal)
        sys.exit(77)
    unittest.main()
