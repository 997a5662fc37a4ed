#!/usr/bin/env python3
"""mpiexec --check on hosts that are namespaces (cluster.py).

Run by ctest with MPIEXEC and HOSTS (the program hosts.c) in the environment; by hand:
MPIEXEC=build/bin/mpiexec HOSTS=build/tests/net/hosts tests/net/check_test.py [Class.test...]
"""
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import unittest

from cluster import Cluster
from relay import frame

MPIEXEC = os.path.abspath(os.environ["MPIEXEC"])
HOSTS = os.path.abspath(os.environ["HOSTS"])
LIBRARIES = os.path.join(os.path.dirname(os.path.dirname(MPIEXEC)), "lib")
STEP = 79  # mpiexec/frames.h
# Link-local addresses would be a way around what the tests put between the hosts.
NETWORK = ("--set", "transport.tcp.interfaces=10.77.0.0/24", "--set", "mpiexec.check_timeout=1s")


class Checked:
    """What a check has printed: {host: {row: words}}."""

    def __init__(self, done):
        self.status = done.returncode
        self.text = done.stdout + done.stderr
        self.hosts = {}
        row = None
        for line in done.stdout.splitlines():
            if line.startswith("host "):
                rows = self.hosts.setdefault(line.split()[1], {})
            elif line.startswith(" " * 14):
                rows[row] += " " + line.strip()
            elif line.startswith("  "):
                row, words = re.match(r"  (to \S+|it said|\S+) +(.*)", line).groups()
                rows[row] = words
            elif line:
                self.summary = line

    def failed(self):
        """host/row of each failure."""
        return sorted(f"{host}/{row}" for host, rows in self.hosts.items() for row, words in rows.items()
                      if words.startswith("FAILED: ") or " FAILED: " in words)


class CheckTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(3)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)

    def setUp(self):
        self.cluster.agent("")

    def check(self, *words, failed=(), seconds=20, **options):
        """Runs a check, in which exactly these rows have failed."""
        began = time.monotonic()
        checked = Checked(self.cluster.run(MPIEXEC, "--check", *words, **options))
        self.assertLess(time.monotonic() - began, seconds)
        self.assertEqual(checked.failed(), sorted(failed), checked.text)
        self.assertEqual(checked.status, 1 if failed else 0, checked.text)
        self.assertTrue(self.cluster.none_left("--daemon"))
        return checked

    def undo(self, host, *words):
        self.addCleanup(self.cluster.inside, host, *words)

    def hide(self, host, folder):
        self.cluster.inside(host, "mount", "-t", "tmpfs", "tmpfs", folder)
        self.undo(host, "umount", folder)

    def lead_astray(self, host, *others):
        """What the host sends to these others goes to an address of the link that no host has."""
        for other in others:
            words = self.cluster.address(other), "dev", "br0" if host == "a" else "eth0"
            self.cluster.inside(host, "ip", "neigh", "replace", *words, "lladdr", "02:00:00:00:00:99", "nud", "permanent")
            self.undo(host, "ip", "neigh", "del", *words)


class GoodTest(CheckTest):
    def test_three_hosts(self):
        checked = self.check(*NETWORK, "--host", "a,b:4,c", HOSTS)
        self.assertEqual(list(checked.hosts), ["a", "b", "c"])
        for host, rows in checked.hosts.items():
            self.assertEqual("agent" in rows, host != "a")
            self.assertRegex(rows["mpiexec"], r"^/.*/bin/mpiexec, version \S+, \S+, \d+ processors?, ")
            self.assertIn("libmpi_abi.so.1", rows["library"])
            self.assertTrue(rows["program"].startswith(HOSTS), rows)
            self.assertRegex(rows["libraries"], r"^\d+, all found; MPI is that of this installation, ")
            self.assertIn(self.cluster.address(host) + "/24", rows["interfaces"])
            for other in set("abc") - {host}:
                self.assertRegex(rows[f"to {other}"],
                                 rf"^{self.cluster.address(other)} from {self.cluster.address(host)} \(\w+\): 65536 bytes both "
                                 r"ways in \d\S* (us|ms)$")
        self.assertIn("A job can run on these hosts.", checked.summary)

    def test_hosts_of_a_file_and_no_program(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("b slots=4\nc\n")
            file.flush()
            checked = self.check("--hostfile", file.name)
        self.assertEqual(list(checked.hosts), ["b", "c"])
        self.assertFalse({"program", "libraries"} & set(checked.hosts["b"]))

    def test_programs_are_looked_for_where_they_run(self):
        checked = self.check("--host", "b", "sh", ":", "--host", "c", HOSTS)
        self.assertRegex(checked.hosts["b"]["program"], r"/sh, ")
        self.assertIn("none is an MPI library", checked.hosts["b"]["libraries"])
        self.assertIn(HOSTS, checked.hosts["c"]["program"])

    def test_what_start_files_print_is_told(self):
        self.cluster.agent("echo Welcome to $host; echo 'a warning' >&2")
        self.assertIn("a warning; on standard output: Welcome to b", self.check("--host", "a,b").hosts["b"]["it said"])

    def test_ports_and_bytes_are_those_of_the_transport(self):
        checked = self.check(*NETWORK, "--set", "transport.tcp.ports=45000-45010", "--set", "transport.tcp.full_exchange=1MiB",
                             "--host", "a,b")
        self.assertRegex(checked.hosts["b"]["port"], r"^450(0\d|10)\b")
        self.assertIn(" 1048576 bytes both ways", checked.hosts["b"]["to a"])

    def test_an_address_that_two_hosts_have_is_no_hindrance(self):
        for host in "bc":
            self.cluster.inside(host, "ip", "link", "add", "docker0", "type", "bridge")
            self.undo(host, "ip", "link", "del", "docker0")
            self.cluster.inside(host, "ip", "addr", "add", "172.17.0.1/16", "dev", "docker0")
            self.cluster.inside(host, "ip", "link", "set", "docker0", "up")
        checked = self.check("--set", "transport.tcp.ports=45000", "--host", "b,c")
        self.assertRegex(checked.hosts["b"]["to c"], r"10.77.0.3 from .* 65536 bytes .* 172.17.0.1 from \S+ \(docker0\): what "
                                                     r"is there closed the connection: it is not this host")


class BadHostTest(CheckTest):
    """One host fails; the others are looked at, and reach each other."""

    def others_are_good(self, checked, bad):
        first, second = sorted(set(checked.hosts) - {bad})
        self.assertIn("both ways", checked.hosts[first][f"to {second}"])
        self.assertIn("both ways", checked.hosts[second][f"to {first}"])
        self.assertRegex(checked.summary, rf"^FAILED on 1 of 3 hosts: {bad}$")

    def test_an_agent_that_fails(self):
        self.cluster.agent("test $host = b && { echo 'Permission denied (publickey).' >&2; exit 255; }")
        checked = self.check("--host", "a,b,c", HOSTS, failed=["b/agent"])
        self.assertIn("on host b: it ended with exit status 255 before", checked.hosts["b"]["agent"])
        self.assertIn("It said: Permission denied (publickey).", checked.hosts["b"]["agent"])
        self.assertIn("mpiexec.launch_agent", checked.hosts["b"]["agent"])
        self.assertEqual(checked.hosts["a"]["to b"], "not tried: that host is not ready")
        self.others_are_good(checked, "b")

    def test_an_agent_that_is_stuck(self):
        self.cluster.agent("test $host = c && { echo 'waiting for the disk' >&2; exec sleep 1234; }")
        checked = self.check("--set", "mpiexec.start_timeout=2s", "--host", "a,b,c", failed=["c/agent"], seconds=6)
        self.assertIn("mpiexec there has not said anything after 2 s (mpiexec.start_timeout)", checked.hosts["c"]["agent"])
        self.assertIn("It said: waiting for the disk", checked.hosts["c"]["agent"])
        self.others_are_good(checked, "c")
        self.assertTrue(self.cluster.none_left("sleep 1234"))

    def test_an_agent_that_is_not_there(self):
        checked = self.check("--launch-agent", "no-such-agent %h", "--host", "a,b", failed=["b/agent"])
        self.assertIn("no program no-such-agent", checked.hosts["b"]["agent"])

    @unittest.skipUnless(shutil.which("ssh"), "there is no ssh")
    def test_a_name_that_does_not_resolve(self):
        checked = self.check("--launch-agent", "ssh -F /dev/null -o BatchMode=yes %h", "--host", "a,nowhere.invalid",
                             failed=["nowhere.invalid/agent"], seconds=60)
        self.assertIn("It said: ssh: Could not resolve hostname nowhere.invalid", checked.hosts["nowhere.invalid"]["agent"])

    def test_another_version(self):
        self.cluster.agent("test $host = b && { echo ashlar-mpiexec-daemon 9.9.9/9 $(uname -m) 1 b; exec cat; }")
        checked = self.check("--host", "a,b,c", failed=["b/agent"])
        self.assertRegex(checked.hosts["b"]["agent"], r"bin/mpiexec there is of version 9.9.9/9, and this one of version ")
        self.others_are_good(checked, "b")

    def test_a_step_that_does_not_end(self):
        """As a disk that does not answer: what comes behind the beginning of the first step is not heard."""
        self.cluster.relay("b", "back", str(STEP), "mute")
        checked = self.check("--set", "mpiexec.start_timeout=2s", "--host", "a,b,c", HOSTS, failed=["b/mpiexec"], seconds=10)
        self.assertIn("mpiexec there is not ready after 2 s (mpiexec.start_timeout)", checked.hosts["b"]["mpiexec"])
        self.others_are_good(checked, "b")

    def test_a_message_that_cannot_be_read(self):
        self.cluster.relay("b", "back", str(STEP), frame(STEP, b"x").hex())
        checked = self.check("--host", "a,b,c", failed=["b/mpiexec"])
        self.assertIn("mpiexec there has sent a message of kind 79 (a step of a check; 1 bytes), which cannot be read",
                      checked.hosts["b"]["mpiexec"])
        self.others_are_good(checked, "b")

    def test_no_installation(self):
        self.hide("c", os.path.dirname(MPIEXEC))
        checked = self.check("--host", "a,b,c", HOSTS, failed=["c/agent"])
        self.assertIn("exit status 127: there is no ", checked.hosts["c"]["agent"])
        self.assertIn("--prefix DIR", checked.hosts["c"]["agent"])
        self.others_are_good(checked, "c")

    def test_no_library(self):
        self.hide("b", LIBRARIES)
        checked = self.check("--host", "a,b,c", HOSTS, failed=["b/libraries", "b/library"])
        self.assertIn("cannot be read: No such file", checked.hosts["b"]["library"])
        self.assertIn("hosts needs libmpi_abi.so.1, which is not found", checked.hosts["b"]["libraries"])
        self.others_are_good(checked, "b")

    def test_no_program_and_no_folder(self):
        with tempfile.TemporaryDirectory(prefix="ashlar-check-") as folder:
            shutil.copy("/bin/true", folder)
            self.hide("b", folder)
            checked = self.check("--host", "a,b,c", "./true", cwd=folder, failed=["b/program"])
            self.assertIn("cannot run ./true: No such file", checked.hosts["b"]["program"])
            self.others_are_good(checked, "b")
            inner = os.path.join(folder, "here")
            os.mkdir(inner)
            checked = self.check("--host", "a,b,c", "sh", cwd=inner, failed=["b/folder"])
            self.assertIn("-wdir DIR", checked.hosts["b"]["folder"])
            self.doCleanups()


class WaysTest(CheckTest):
    """What lies between the hosts."""

    def test_two_hosts_that_are_kept_apart(self):
        self.lead_astray("b", "c")
        checked = self.check(*NETWORK, "--host", "a,b,c", failed=["b/to c", "c/to b"], seconds=8)
        for here, there in ("b", "c"), ("c", "b"):
            words = checked.hosts[here][f"to {there}"]
            self.assertIn(f"host {there} cannot be reached from this host", words)
            self.assertIn("transport.tcp.ports", words)
            self.assertIn(f"{self.cluster.address(there)}: no answer within 1 s", words)
            self.assertIn("both ways", checked.hosts[here]["to a"])
        self.assertEqual(checked.summary, "FAILED on 2 of 3 hosts: b c")

    def test_a_host_that_refuses(self):
        self.cluster.inside("c", "ip", "route", "add", "prohibit", "10.77.0.2/32")
        self.undo("c", "ip", "route", "del", "prohibit", "10.77.0.2/32")
        checked = self.check(*NETWORK, "--host", "b,c", failed=["b/to c", "c/to b"])
        self.assertIn("10.77.0.2: ", checked.hosts["c"]["to b"])

    def test_long_packets_that_are_lost(self):
        """The hosts believe in long packets, and what joins them drops these."""
        for host in "bc":
            self.cluster.inside(host, "ip", "link", "set", "eth0", "mtu", "9000")
            self.cluster.inside(host, "ip", "link", "set", "eth0", "gso_max_segs", "1")
            self.undo(host, "ip", "link", "set", "eth0", "mtu", "1500")
            self.undo(host, "ip", "link", "set", "eth0", "gso_max_segs", "65535")
        checked = self.check(*NETWORK, "--host", "b,c", failed=["b/to c", "c/to b"], seconds=8)
        self.assertIn("a connection is made, but 65536 bytes both ways do not pass within 1 s: long packets are lost on the way",
                      checked.hosts["b"]["to c"])

    def test_a_host_without_a_network(self):
        self.cluster.inside("c", "ip", "link", "set", "eth0", "down")
        self.undo("c", "ip", "link", "set", "eth0", "up")
        checked = self.check(*NETWORK, "--host", "a,b,c", failed=["c/interfaces"])
        self.assertIn("no interface that is up has an address", checked.hosts["c"]["interfaces"])
        self.assertIn("both ways", checked.hosts["a"]["to b"])

    def test_settings_that_mean_nothing(self):
        checked = self.check("--set", "transport.tcp.ports=9-8", "--host", "a,b", failed=["a/interfaces", "b/interfaces"])
        self.assertIn('transport.tcp.ports: "9-8" is neither a port nor a range', checked.hosts["b"]["interfaces"])

    def test_without_tcp_no_way_is_tried(self):
        checked = self.check("--set", "transport=^tcp", "--host", "a,b")
        self.assertIn("the parameter transport leaves out tcp", checked.text)
        self.assertNotIn("to b", checked.hosts["a"])

    def start(self, *words):
        """A check that has begun to try a way that leads nowhere."""
        self.lead_astray("b", "c")
        process = self.cluster.start(MPIEXEC, "--check", *NETWORK, *words)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        time.sleep(1)
        return process

    def test_a_daemon_that_is_killed(self):
        process = self.start("--set", "mpiexec.check_timeout=4s", "--host", "a,b,c")
        daemons = [pid for pid in self.cluster.processes("c", "--daemon") if self.cluster.name_of(pid) == "mpiexec"]
        self.assertEqual(len(daemons), 1)
        self.cluster.kill(daemons[0])
        out, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 1, err)
        self.assertRegex(out, r"FAILED: host c was lost while its ways to other hosts were tried: its agent, .*, (ended|was killed)")
        self.assertIn("FAILED on 2 of 3 hosts: b c", out)

    def test_an_interrupt(self):
        process = self.start("--set", "mpiexec.check_timeout=1min", "--host", "b,c")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=5)
        self.assertEqual((process.returncode, out), (130, ""))
        self.assertIn("signal 2 (SIGINT, interrupt) came before the hosts were checked", re.sub(r"\s+", " ", err))
        self.assertTrue(self.cluster.none_left("--daemon"))


if __name__ == "__main__":
    try:
        with Cluster(1):
            pass
    except (PermissionError, FileNotFoundError) as refusal:
        print(refusal)
        sys.exit(77)
    unittest.main()
