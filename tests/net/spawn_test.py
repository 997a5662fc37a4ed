#!/usr/bin/env python3
"""Jobs on several hosts that start others, and jobs of several hosts that meet. As hosts_test.py; and FURTHER: the program
tests/launch/further.c."""
import os
import tempfile
import time

from hosts_test import BIN, HOSTS, MPIEXEC, HostsTest, flat, run_tests

FURTHER = os.environ.get("FURTHER", os.path.join(BIN, "../further"))
MANY = os.path.abspath(os.environ.get("MANY", os.path.join(BIN, "../net/spawn_many")))


class SpawnTest(HostsTest):
    def children(self, *words, then="end", root=0, count=2, keys=(), ranks=2, status=0):
        """The hosts of the children, in the order of their ranks."""
        out = self.run_job("--bind-to", "none", *words, "-n", ranks, HOSTS, "spawn", root, count, then, *keys,
                           status=status).stdout
        lines = sorted(line for line in out.splitlines() if line.startswith("child"))
        self.folders = {line.split(" in ")[1] for line in lines}
        self.assertEqual([line.split()[1] for line in lines], [str(r) for r in range(len(lines))], out)
        return "".join(line.split()[5] for line in lines)

    def test_children_run_on_all_hosts_whoever_starts_them(self):
        for root in (0, 1):
            self.assertEqual(self.children("--host", "a,b", root=root, count=4), "aabb")
        for root in (0, 1, 2):
            self.assertEqual(self.children("--host", "c,b", root=root, count=3, ranks=3), "ccb")

    def test_slots_that_are_free_come_first(self):
        self.assertEqual(self.children("--host", "a:2,b:2"), "bb")
        self.assertEqual(self.children("--host", "a:2,b:2,c:1", count=5), "bbcaa")
        self.assertEqual(self.children("--host", "b:1,c:2", ranks=1, count=2), "cc")

    def test_hosts_that_the_program_names(self):
        self.assertEqual(self.children("--host", "a,b", keys=["host=c"]), "cc")
        self.assertEqual(self.children("--host", "a,b", root=1, keys=["host=c:1,a:2"], count=3), "caa")
        self.assertEqual(self.children(ranks=1, keys=["host=b"]), "bb")
        self.assertEqual(self.children(ranks=2, root=1, keys=["host=b,localhost"]), "ba")
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("c slots=1\nb slots=3\n")
            file.flush()
            self.assertEqual(self.children("--host", "a,b", keys=[f"hostfile={file.name}"], count=3), "cbb")

    def test_the_other_keys_hold_on_all_hosts(self):
        self.assertEqual(self.children("--host", "a,b", root=1, keys=["wdir=/usr", "soft=1:3"], count=4), "aab")
        self.assertEqual(self.folders, {"/usr"})
        self.assertEqual(self.children("--host", "b,c", keys=[f"arch={os.uname().machine}"]), "bc")

    def test_a_process_without_a_launcher_starts_some_on_other_hosts(self):
        process = self.cluster.start_on("a", "env", f"ASHLAR_mpiexec_launch_agent={self.cluster.command} %h", HOSTS, "spawn", 0,
                                        3, "end", "host=b:1,c:2")
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err), (0, ""))
        self.assertEqual(sorted(line.split()[5] for line in out.splitlines()), ["b", "c", "c"])

    def test_output_says_whose_it_is(self):
        out = self.run_job("--host", "a,b", "-l", "-n", 1, HOSTS, "spawn", 0, 2, "end").stdout
        self.assertRegex(out, r"(?m)^\[?0\]?:? ?child 0 of 2 on a in")
        self.assertRegex(out, r"(?m)^\[?1\]?:? ?child 1 of 2 on b in")

    def test_a_port_is_on_no_command_line_and_in_no_environment(self):
        process = self.start_job("--host", "a,b", "--explain", "-n", 2, HOSTS, "spawn", 1, 2, "wait", ready=0)
        lines = [process.stdout.readline() for _ in range(6)]
        self.assertEqual(lines.count("ready\n"), 4, lines)
        seen = 0
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as words, open(f"/proc/{pid}/environ", "rb") as environment:
                    text = words.read() + environment.read()
            except OSError:
                continue
            seen += HOSTS.encode() in text
            self.assertNotIn(b"ashlar-port", text)
        self.assertGreaterEqual(seen, 4)
        process.terminate()
        status, out, err, _ = self.end_of(process, 20)
        self.assertNotIn("ashlar-port", out + err)
        self.assertTrue(self.cluster.none_left(HOSTS))


class ProgramsTest(HostsTest):
    """The programs of tests/mpi that start or meet others."""
    PROGRAMS = "spawn", "generations", "family_keys", "at_once", "last_words"

    def run_all(self, hosts, ranks):
        for program in self.PROGRAMS:
            with self.subTest(program=program, hosts=hosts):
                self.run_job("--bind-to", "none", "--timeout", 100, "--host", hosts, "-n", ranks, os.path.join(BIN, program),
                             timeout=120)

    def test_on_two_hosts(self):
        self.run_all("a:2,b:2", 4)

    def test_on_three_hosts(self):
        self.run_all("b:2,a:2,c:2", 6)

    def test_on_one_host_that_is_not_that_of_mpiexec(self):
        self.run_all("c", 2)


class ManyTest(HostsTest):
    """Spawns in a row and at once, and what they leave: MANY_ROW and MANY_AT_ONCE of them."""
    SIZE = 2
    SLACK = 4  # descriptors, as in spawn_many.c
    ROW, AT_ONCE = int(os.environ.get("MANY_ROW", 20)), int(os.environ.get("MANY_AT_ONCE", 10))

    def ours(self):
        """The processes of the first job on each host, by what they are, and how many descriptors each has; None as long as
        there are others."""
        found = {}
        for host in self.cluster.names:
            for pid in self.cluster.processes(host, MPIEXEC) + self.cluster.processes(host, MANY):
                try:
                    name = self.cluster.name_of(pid)
                    if name in ("mpiexec", "mpiexec-guard", "spawn_many"):
                        found.setdefault((host, name), {})[pid] = len(os.listdir(f"/proc/{pid}/fd"))
                except OSError:
                    pass
        if len(found) != 6 or any(len(processes) != 1 for processes in found.values()):
            self.seen = found
            return None
        return {what: count for what, processes in found.items() for count in processes.values()}

    def settled(self, most=None):
        """Once nothing else is there any more; `most`: and no more descriptors than these."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            now = self.ours()
            if now and (most is None or all(now[what] <= most[what] + self.SLACK for what in now)):
                return now
            time.sleep(0.05)
        raise AssertionError(f"what is there: {now or self.seen}, and was: {most}")

    def files(self):
        names = set()
        for host in self.cluster.names:
            names |= {(host, name) for name in os.listdir(f"/proc/{self.cluster.pids[host]}/root/dev/shm")}
        return names

    def test_nothing_is_left(self):
        with tempfile.TemporaryDirectory() as folder:
            process = self.start_job("--bind-to", "none", "--host", "a:1,b:1", "-n", 2, MANY, self.ROW, self.AT_ONCE,
                                     os.path.join(folder, "go"), env=dict(os.environ, TMPDIR=folder))
            self.assertEqual(process.stdout.readline(), "point 1\n", process.stderr.read() if process.poll() else "")
            before, files = self.settled(), self.files()
            open(os.path.join(folder, "go.1"), "w").close()
            self.assertEqual(process.stdout.readline(), "point 2\n", process.stderr.read() if process.poll() else "")
            self.settled(before)
            self.assertEqual(self.files() - files, set())
            self.assertEqual([name for name in os.listdir(folder) if not name.startswith("go.")], [])
            open(os.path.join(folder, "go.2"), "w").close()
            status, out, err, _ = self.end_of(process, 60)
        self.assertEqual((status, out, err), (0, f"all {self.ROW} and {self.AT_ONCE} are over\n", ""))
        self.assertTrue(self.cluster.none_left(MANY))


class FaultsTest(HostsTest):
    def refused(self, *expected, hosts="a,b", keys=(), settings=(), root=1):
        """A start that fails is an error of the call, and the job goes on."""
        done = self.run_job("--host", hosts, *settings, "-n", 2, HOSTS, "spawn", root, 2, "end", *keys)
        for pattern in expected:
            self.assertRegex(flat(done.stdout), pattern)
        self.assertEqual(done.stderr, "")
        self.assertTrue(self.cluster.none_left("--daemon"))

    def test_a_host_that_is_not_reached(self):
        self.refused("not started: .*cannot start ranks on host nowhere", "it ended with exit status 255", keys=["host=b,nowhere"])

    def test_a_host_that_does_not_answer(self):
        self.cluster.agent("test $host != c || exec sleep 100")
        self.refused("cannot start ranks on host c: mpiexec there has not said anything after 2 s", keys=["host=a,c"],
                     settings=["--set", "mpiexec.start_timeout=2s"])

    def test_a_folder_that_is_not_there(self):
        self.refused("host b|host \"b\"", "/no/such/folder", keys=["host=b", "wdir=/no/such/folder"])

    def test_another_machine(self):
        self.refused("info key 'arch' asks for pdp11", keys=["arch=pdp11"])

    def family(self, *words, ready=4):
        """A job that has started another one, and waits for it as that does for it."""
        process = self.start_job("--bind-to", "none", *words, "-n", 2, HOSTS, "spawn", 0, 2, "wait")
        lines = [process.stdout.readline() for _ in range(6)]
        self.assertEqual(lines.count("ready\n"), 4, lines)
        return process

    def processes_of(self, name, pattern):
        return [pid for pid in self.cluster.processes(name, pattern) if self.cluster.name_of(pid) == "mpiexec"]

    def assert_children_gone(self, process, status):
        code, out, err, _ = self.end_of(process, 30)
        self.assertEqual(code, status, err)
        self.assertEqual(out.count("the other job is gone"), 2, out + err)
        self.assertTrue(self.cluster.none_left(HOSTS))
        return err

    def test_a_lost_host_of_the_children(self):
        process = self.family("--host", "a:1,b:1,c:2")
        daemons = self.processes_of("c", "--daemon")
        self.assertEqual(len(daemons), 1)
        self.cluster.kill(daemons[0])
        self.assertIn("was lost with its host", self.assert_children_gone(process, 1))

    def test_the_mpiexec_of_the_children_is_killed(self):
        process = self.family("--host", "a:1,b:1,c:2")
        # Each mpiexec has a guard, a child that has no children.
        further = [pid for pid in self.processes_of("a", "--launch-agent") if pid != process.pid and self.has_children(pid)]
        self.assertEqual(len(further), 1)
        self.cluster.kill(further[0])
        self.assert_children_gone(process, 137)

    @staticmethod
    def has_children(pid):
        with open(f"/proc/{pid}/task/{pid}/children") as children:
            return bool(children.read().split())

    def test_mpiexec_is_killed(self):
        process = self.family("--host", "a:1,b:1,c:2")
        self.cluster.kill(process.pid)
        process.communicate(timeout=20)
        self.assertTrue(self.cluster.none_left(HOSTS))
        self.assertTrue(self.cluster.none_left("--daemon"))

    def test_the_first_job_ends_the_one_that_is_connected_to_it(self):
        done = self.run_job("--host", "a:1,b:1,c:2", "-n", 2, FURTHER, "parent-dies", status=137)
        self.assertIn("mpiexec: job 1: the job that has started this one has failed", flat(done.stderr))
        self.assertTrue(self.cluster.none_left(FURTHER))

    def test_abort_of_a_communicator_ends_both_jobs(self):
        self.run_job("--host", "a:1,b:1,c:2", "-n", 2, FURTHER, "abort", status=5)
        self.assertTrue(self.cluster.none_left(FURTHER))

    def test_the_end_of_a_child_is_an_error_of_its_parents(self):
        done = self.run_job("--host", "a:1,b:1,c:2", "-n", 2, FURTHER, "child-dies", status=137)
        self.assertEqual(done.stdout, "the child is gone\n" * 2)
        self.assertRegex(flat(done.stderr), r"mpiexec: job 1: rank 0 of 2 .* on c\) was killed by signal 9")

    def test_a_job_outlives_the_one_that_it_is_disconnected_from(self):
        out = self.run_job("--host", "a:1,b:2", "-n", 1, FURTHER, "outlives").stdout
        self.assertEqual(out, "parent ends\nchild ends\n")

    def test_a_time_limit_is_one_of_all_jobs(self):
        done = self.run_job("--host", "a:1,b:1,c:2", "--timeout", 3, "-n", 2, HOSTS, "spawn", 0, 2, "wait", status=124)
        self.assertRegex(flat(done.stderr), r"mpiexec: job 1: the time limit")
        self.assertRegex(flat(done.stderr), r"mpiexec: the time limit of 3 s is over; .* of another job")
        self.assertTrue(self.cluster.none_left(HOSTS))

    def test_ctrl_c_ends_all(self):
        process = self.family("--host", "a:1,b:1,c:2")
        process.terminate()
        code, _, err, _ = self.end_of(process, 20)
        self.assertEqual(code, 143, err)
        self.assertTrue(self.cluster.none_left(HOSTS))
        self.assertTrue(self.cluster.none_left("--daemon"))


class NamesTest(HostsTest):
    def test_between_hosts_and_jobs(self):
        for hosts, keys in (("a,b", []), ("b,c", ["host=a,c"]), ("c", ["host=b"])):
            self.run_job("--bind-to", "none", "--host", hosts, "-n", 2, HOSTS, "spawn", 1, 3, "name", *keys)

    def test_from_one_host_to_others(self):
        self.run_job("--bind-to", "none", "-n", 2, HOSTS, "spawn", 1, 3, "name", "host=b:1,c:2")

    def test_ports_names_and_sockets_of_one_job(self):
        self.run_job("--bind-to", "none", "--host", "a:1,b:3", "-n", 4, os.path.join(BIN, "join"), self.cluster.address("a"))
        self.run_job("--bind-to", "none", "--host", "c:1,b:1,a:1", "-n", 3, os.path.join(BIN, "join"), self.cluster.address("c"))

    def test_a_name_leads_to_a_port_on_another_host(self):
        out = self.run_job("--host", "a:1,b:1", "-n", 1, FURTHER, "publish", "a service", ":", "-n", 1, FURTHER, "look-up",
                           "a service").stdout
        self.assertEqual(out, "met 1\n")


class MeetTest(HostsTest):
    """Jobs that know nothing of each other but the name of a port."""

    def meet(self, server, client, sizes, times=1):
        """Each is a host and the words that come before the program."""
        with tempfile.TemporaryDirectory() as folder:
            jobs = [self.cluster.start_on(host, *words, FURTHER, what, os.path.join(folder, "port"), times)
                    for what, (host, *words) in (("accept", server), ("connect", client))]
            out = []
            for job in jobs:
                self.addCleanup(job.kill)
                out.append(job.communicate(timeout=60))
        self.assertEqual([(job.returncode, err) for job, (_, err) in zip(jobs, out)], [(0, ""), (0, "")])
        self.assertEqual([text for text, _ in out],
                         [f"met {size}\nmerged {sum(sizes)}\n" * times for size in reversed(sizes)])

    def test_two_jobs_of_two_mpiexecs(self):
        self.meet(("a", MPIEXEC, "-n", 2), ("b", MPIEXEC, "-n", 3), (2, 3))
        self.meet(("c", MPIEXEC, "-n", 1), ("b", MPIEXEC, "-n", 2), (1, 2))

    def test_two_jobs_that_meet_again_and_again(self):
        self.meet(("a", MPIEXEC, "-n", 2), ("b", MPIEXEC, "-n", 2), (2, 2), times=30)

    def test_processes_without_a_launcher(self):
        self.meet(("a",), ("b",), (1, 1))
        self.meet(("b",), ("c", MPIEXEC, "-n", 2), (1, 2))

    def test_a_job_on_several_hosts(self):
        self.meet(("a", MPIEXEC, "--launch-agent", self.cluster.command + " %h", "--host", "a,b", "-n", 4),
                  ("c", MPIEXEC, "-n", 2), (4, 2))
        self.meet(("c", MPIEXEC, "-n", 1),
                  ("a", MPIEXEC, "--launch-agent", self.cluster.command + " %h", "--host", "b,c", "-n", 2), (1, 2))

    def test_addresses_that_lead_elsewhere(self):
        """Both hosts have a bridge for containers with one address, and one a network that leads nowhere."""
        for name in ("a", "b"):
            self.cluster.inside(name, "ip", "link", "add", "docker0", "type", "bridge")
            self.addCleanup(self.cluster.inside, name, "ip", "link", "del", "docker0")
            self.cluster.inside(name, "ip", "addr", "add", "172.17.0.1/16", "dev", "docker0")
            self.cluster.inside(name, "ip", "link", "set", "docker0", "up")
        self.cluster.inside("b", "ip", "link", "add", "dead0", "type", "veth", "peer", "name", "dead1")
        self.addCleanup(self.cluster.inside, "b", "ip", "link", "del", "dead0")
        self.cluster.inside("b", "ip", "addr", "add", "10.99.0.2/24", "dev", "dead0")
        self.cluster.inside("b", "ip", "link", "set", "dead0", "up")
        self.cluster.inside("a", "ip", "route", "add", "10.99.0.0/24", "via", "10.77.0.3")
        self.addCleanup(self.cluster.inside, "a", "ip", "route", "del", "10.99.0.0/24")
        self.meet(("b", MPIEXEC, "-n", 2), ("a", MPIEXEC, "-n", 2), (2, 2))
        self.meet(("a", MPIEXEC, "-n", 2), ("b", MPIEXEC, "-n", 2), (2, 2))

    def test_ports_that_a_firewall_lets_through(self):
        os.environ["ASHLAR_transport_tcp_ports"] = "41000-41009"
        self.addCleanup(os.environ.pop, "ASHLAR_transport_tcp_ports")
        self.meet(("a", MPIEXEC, "-n", 2), ("b", MPIEXEC, "-n", 2), (2, 2))

    def test_a_port_that_is_closed_is_refused_with_its_addresses(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "port")
            server = self.cluster.start_on("b", FURTHER, "accept", file)
            self.addCleanup(server.communicate)
            self.addCleanup(server.kill)
            end = time.monotonic() + 30
            while not os.path.exists(file) and time.monotonic() < end:
                time.sleep(0.02)
            self.cluster.kill_all("b", FURTHER)
            client = self.cluster.start_on("a", FURTHER, "connect", file)
            _, err = client.communicate(timeout=60)
        self.assertIn("MPI_ERR_PORT", err)
        self.assertRegex(flat(err), r"nothing accepts at the port.*10\.77\.0\.2:\d+: Connection refused")
        self.assertNotIn("ashlar-port", err)


if __name__ == "__main__":
    run_tests()
