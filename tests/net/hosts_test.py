#!/usr/bin/env python3
"""Jobs on several hosts, which are namespaces (cluster.py).

Run by ctest with MPIEXEC, HOSTS (the program hosts.c) and BIN (where the other MPI programs are) in the environment; by
hand: MPIEXEC=build/bin/mpiexec HOSTS=build/tests/net/hosts tests/net/hosts_test.py [Class.test...]
"""
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from cluster import Cluster
from relay import frame
from sshd import Sshd, path_of_sshd

MPIEXEC = os.path.abspath(os.environ["MPIEXEC"])
HOSTS = os.path.abspath(os.environ["HOSTS"])
BIN = os.environ.get("BIN", os.path.join(os.path.dirname(MPIEXEC), "../tests/mpi"))
INFO = os.path.join(os.path.dirname(MPIEXEC), "ashlar_info")


def was_built(transport):
    """Whether the build has the component: libraries that are not installed are no failure."""
    return bool(glob.glob(os.path.join(os.path.dirname(MPIEXEC), "..", "lib*", "**", f"ashlar_transport_{transport}.so"),
                          recursive=True))


def flat(text):
    return re.sub(r"\s+", " ", text)


class HostsTest(unittest.TestCase):
    SIZE = 3

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(cls.SIZE)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)

    def setUp(self):
        self.cluster.agent("")

    def run_job(self, *words, status=0, **options):
        done = self.cluster.run(MPIEXEC, *words, **options)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        return done

    def start_job(self, *words, ready=0, **options):
        process = self.cluster.start(MPIEXEC, *words, **options)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        for _ in range(ready):
            line = process.stdout.readline()
            self.assertIn("ready", line, process.stderr.read() if not line else line)
        return process

    def end_of(self, process, seconds):
        """Output and error of a job that has to end in this time."""
        began = time.monotonic()
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f"the job has not ended within {seconds} s")
        return process.returncode, out, flat(err), time.monotonic() - began


class StartTest(HostsTest):
    def test_ranks_of_two_hosts_know_each_other(self):
        out = self.run_job("--host", "a,b", "-n", 4, HOSTS, "hello").stdout
        self.assertEqual(sorted(out.splitlines()),
                         [f"rank {r} of 4 on {'aabb'[r]}, {r % 2} of 2 there, local {r % 2}" for r in range(4)])

    def test_three_hosts_and_no_rank_beside_mpiexec(self):
        out = self.run_job("--host", "c,b", "-n", 4, HOSTS, "hello").stdout
        self.assertEqual(sorted(out.splitlines()),
                         [f"rank {r} of 4 on {'ccbb'[r]}, {r % 2} of 2 there, local {r % 2}" for r in range(4)])
        out = self.run_job("--host", "a:1,b:3,c:2", "-n", 6, HOSTS, "hello").stdout
        self.assertEqual([line.split()[5] for line in sorted(out.splitlines())], ["a,", "b,", "b,", "b,", "c,", "c,"])

    def test_one_host_that_is_not_this_one(self):
        out = self.run_job("--host", "b", "-n", 3, HOSTS, "hello").stdout
        self.assertEqual(sorted(out.splitlines()), [f"rank {r} of 3 on b, {r} of 3 there, local {r}" for r in range(3)])

    def hosts_of(self, *words):
        """The host of each rank, by a program without MPI."""
        out = self.run_job(*words, "sh", "-c", "echo $ASHLAR__RANK $(hostname)").stdout
        return "".join(host for _, host in sorted((int(line.split()[0]), line.split()[1]) for line in out.splitlines()))

    def test_which_rank_goes_where(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("# hosts\na slots=2\nb:4 # four\n\nc slots=1 max_slots=4\n")
            file.flush()
            self.assertEqual(self.hosts_of("--hostfile", file.name, "-n", 7), "aabbbbc")
            self.assertEqual(self.hosts_of("-f", file.name, "-n", 9), "aabbbbcaa")
            self.assertEqual(self.hosts_of("--hostfile", file.name, "--host", "b,c", "-n", 5), "bbbbc")
            self.assertEqual(self.hosts_of("--hostfile", file.name, "--map-by", "node", "-n", 6), "abcabb")
        self.assertEqual(self.hosts_of("--host", "a,b", "-n", 5), "aaabb")
        self.assertEqual(self.hosts_of("--host", "a,b,b", "-n", 3), "abb")
        self.assertEqual(self.hosts_of("--host", "a,b", "--map-by", "node", "-n", 5), "ababa")
        self.assertEqual(self.hosts_of("--host", "a,b,c", "-ppn", 2), "aabbcc")
        self.assertEqual(self.hosts_of("--host", "a,b,c", "-ppn", 2, "-n", 3), "aab")
        self.assertEqual(self.hosts_of("--host", "a,b", "--map-by", "ppr:2:node", "--rank-by", "node"), "abab")
        self.assertEqual(self.hosts_of("--host", "a,b", "--bynode", "--rank-by", "slot", "-n", 4), "aabb")
        self.assertEqual(self.hosts_of("--host", "a,b", "-n", 1, "sh", "-c", "echo $ASHLAR__RANK $(hostname)", ":", "-n", 3),
                         "aabb")
        self.assertEqual(self.hosts_of("--host", "b", "-n", 1, "sh", "-c", "echo $ASHLAR__RANK $(hostname)", ":", "--host",
                                       "c", "-n", 2), "bcc")

    def test_the_first_error_handler_is_that_of_all_ranks(self):
        self.run_job("-initial-errhandler", "mpi_errors_return", "--host", "a,b", "-n", 4, os.path.join(BIN, "info_env"), "init",
                     "maxprocs=4", "mpi_initial_errhandler=mpi_errors_return")

    def test_placement_is_shown_with_hosts(self):
        out = self.run_job("--host", "a,b", "--show-placement", "-n", 2, "true").stdout
        self.assertRegex(out, r"rank 0 on a: true: .*\nrank 1 on b: true: .*\n")

    def test_environment_and_arguments_arrive_and_are_on_no_command_line(self):
        words = "two words", "$HOME `x`", "\"'\\", "", "ü\n;"
        process = self.start_job("--host", "b", "-x", "SECRET=never-shown 'x'", "-n", 1, sys.executable, "-c",
                                     "import os, sys, time; print([*sys.argv[1:], os.environ['SECRET'], os.getcwd()], "
                                     "flush=True); time.sleep(1)", *words, cwd="/usr")
        line = process.stdout.readline()
        self.assertEqual(line, repr([*words, "never-shown 'x'", "/usr"]) + "\n")
        lines = [self.cluster.command_line(pid) for name in "abc" for pid in self.cluster.processes(name, "--daemon")]
        self.assertTrue(lines)
        self.assertEqual([line for line in lines if "never-shown" in line], [])
        self.assertEqual(process.wait(), 0)

    def test_the_network_is_tcp_between_hosts_and_memory_inside(self):
        err = flat(self.run_job("--host", "a,b", "-n", 4, "--explain=transport", HOSTS, "hello").stderr)
        self.assertRegex(err, r"transport, peer 1: shm")
        self.assertRegex(err, r"transport, peer 2: tcp")


class StreamsTest(HostsTest):
    SIZE = 2

    def test_lines_are_whole_and_tagged(self):
        out = self.run_job("--host", "a,b", "-n", 4, "-l", "sh", "-c",
                           "for i in $(seq 200); do echo line $i of $ASHLAR__RANK; done").stdout
        lines = out.splitlines()
        self.assertEqual(len(lines), 800)
        self.assertTrue(all(re.fullmatch(r"\[?(\d)\]?:? ?line \d+ of \1", line) for line in lines), lines[:5])

    def test_much_output_arrives_in_order(self):
        out = self.run_job("--host", "b", "-n", 1, "sh", "-c", "seq 1000000; echo end >&2")
        self.assertEqual(out.stdout, "".join(f"{i}\n" for i in range(1, 1000001)))
        self.assertEqual(out.stderr, "end\n")

    def test_input_reaches_a_rank_of_another_host(self):
        data = b"".join(b"%d\n" % i for i in range(2000000))
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.seek(0)
            out = self.run_job("--host", "a,b", "-n", 2, "--stdin", 1, "sh", "-c",
                               "test $ASHLAR__RANK = 0 || md5sum", stdin=file).stdout
        import hashlib
        self.assertEqual(out.split()[0], hashlib.md5(data).hexdigest())

    def test_a_rank_need_not_read_its_input(self):
        done = subprocess.run(["sh", "-c", 'yes | "$@"', "x", *self.cluster.words(MPIEXEC, "--host", "b", "-n", "2", "true")],
                              timeout=60, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_files_of_output_are_here(self):
        with tempfile.TemporaryDirectory() as folder:
            self.run_job("--host", "a,b", "-n", 2, "--output", f"{folder}/%h.%r.%s", "sh", "-c",
                         "echo out $ASHLAR__RANK; echo err >&2")
            self.assertEqual(sorted(os.listdir(folder)), ["a.0.err", "a.0.out", "b.1.err", "b.1.out"])
            with open(f"{folder}/b.1.out") as file:
                self.assertEqual(file.read(), "out 1\n")

    def test_a_full_disk(self):
        """mpiexec writes the files of ranks on other hosts: the job goes on, and says at its end what is lost."""
        with tempfile.TemporaryDirectory() as folder:
            self.cluster.inside("a", "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder)
            try:
                done = self.run_job("--host", "b", "-n", 2, "--output", f"{folder}/%r", "sh", "-c", "seq 100000; echo end >&2",
                                    status=1)
            finally:
                self.cluster.inside("a", "umount", folder)
            self.assertIn("the disk is full, and the files of ranks 0-1", flat(done.stderr))

    def test_a_reader_that_leaves_ends_the_job(self):
        done = subprocess.run(["bash", "-c", '"$@" | head -n 1; exit ${PIPESTATUS[0]}', "x",
                               *self.cluster.words(MPIEXEC, "--host", "a,b", "-n", "2", "yes")],
                              timeout=60, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("y\n", "", 141))


class EndTest(HostsTest):
    def test_exit_status(self):
        err = flat(self.run_job("--host", "a,b", "-n", 4, HOSTS, "exit", status=7).stderr)
        self.assertRegex(err, r"rank 3 of 4 \(.*hosts, process \d+ on b\) ended with exit code 7")
        self.run_job("--host", "b", "-n", 2, "sh", "-c", "exit 5", status=5)

    def test_abort(self):
        err = flat(self.run_job("--host", "a,b", "-n", 4, HOSTS, "abort", status=9).stderr)
        self.assertRegex(err, r"rank 3 of 4 \(.* on b\) aborted the job with code 9")

    def test_a_killed_rank_ends_the_rest(self):
        err = flat(self.run_job("--host", "a,b,c", "-n", 6, HOSTS, "kill", status=137).stderr)
        self.assertRegex(err, r"rank 5 of 6 \(.* on c\) was killed by signal 9")
        self.assertTrue(self.cluster.none_left(HOSTS))

    def test_a_killed_daemon_is_a_lost_host(self):
        process = self.start_job("--host", "a,b,c", "-n", 6, HOSTS, "wait", ready=6)
        daemons = [pid for pid in self.cluster.processes("c", "--daemon") if self.cluster.name_of(pid) == "mpiexec"]
        self.assertEqual(len(daemons), 1)
        self.cluster.kill(daemons[0])
        status, _, err, seconds = self.end_of(process, 20)
        self.assertEqual(status, 1, err)
        self.assertRegex(err, r"rank 4 of 6 \(.* on c\) was lost with its host: its agent, .*, (ended|was killed)")
        self.assertTrue(self.cluster.none_left(HOSTS))
        self.assertLess(seconds, 10)

    def test_a_killed_agent_is_a_lost_host(self):
        process = self.start_job("--host", "a,b", "-n", 4, HOSTS, "wait", ready=4)
        agents = [pid for pid in self.cluster.processes("b", "nsenter") if "--daemon" in self.cluster.command_line(pid)]
        self.assertEqual(len(agents), 1)
        self.cluster.kill(agents[0])
        status, _, err, _ = self.end_of(process, 20)
        self.assertEqual(status, 1, err)
        self.assertRegex(err, r"rank 2 of 4 \(.* on b\) was lost with its host: its agent, .*, was killed by signal 9")
        self.assertTrue(self.cluster.none_left(HOSTS))

    def test_a_killed_mpiexec_leaves_nothing(self):
        process = self.start_job("--host", "a,b", "-n", 4, HOSTS, "wait", ready=4)
        process.kill()
        process.communicate()
        self.assertTrue(self.cluster.none_left(HOSTS))
        self.assertTrue(self.cluster.none_left("--daemon"))

    def test_an_interrupt_reaches_all(self):
        process = self.start_job("--host", "a,b", "-n", 4, "sh", "-c", "trap 'exit 3' INT; echo ready; sleep 100 & wait",
                                 ready=4)
        process.send_signal(signal.SIGINT)
        status, _, err, _ = self.end_of(process, 20)
        self.assertEqual(status, 3, err)

    def test_a_time_limit_speaks_of_all_hosts(self):
        err = flat(self.run_job("--timeout", 3, "--host", "a,b", "-n", 4, HOSTS, "recv", status=124).stderr)
        self.assertIn("rank 0 waits in MPI_Recv from rank 3 tag 7", err)
        self.assertIn("rank 3 waits in MPI_Recv from rank 0 tag 7", err)
        self.assertIn("a cycle 0 -> 3 -> 0", err)

    def test_a_stall_is_told_of_ranks_that_compute_elsewhere(self):
        process = self.start_job("--stall", 2, "--timeout", 8, "--host", "a,b", "-n", 4, HOSTS, "wait", ready=4)
        status, _, err, _ = self.end_of(process, 40)
        self.assertEqual(status, 124, err)
        self.assertIn("no rank has made progress for 2 s", err)
        self.assertRegex(err, r"ranks 0-2 wait in MPI_Barrier on 'MPI_COMM_WORLD', in which rank 3 is not")
        self.assertRegex(err, r"rank 3 is not inside MPI: it sleeps")


    def test_what_ranks_of_all_hosts_wait_for_can_be_asked(self):
        process = self.start_job("--host", "a,b", "-n", 4, HOSTS, "recv", ready=4)
        words = "rank 3 waits in MPI_Recv from rank 0 tag 7"
        for _ in range(20):
            told = subprocess.run([INFO, "waits", "--pid", str(process.pid)], capture_output=True, text=True, timeout=30)
            if words in flat(told.stdout):
                break
        self.assertIn(words, flat(told.stdout), told.stderr)
        self.assertIn("a cycle 0 -> 3 -> 0", flat(told.stdout))
        # A rank's own launcher on another host knows the ranks there.
        # Processes that have ended and wait for their parent have names, and no program.
        script = (f'for p in /proc/[0-9]*; do test "$(readlink $p/exe)" = {HOSTS} && '
                  f'exec {INFO} waits --pid ${{p#/proc/}} 2>&1; done')
        inside = self.cluster.inside("b", "sh", "-c", script).stdout
        self.assertIn(words, flat(inside))
        self.assertIn("ranks 0-1 run on another host, of which the job's mpiexec knows more", flat(inside))
        values = subprocess.run([INFO, "--pvars", "--pid", str(process.pid)], capture_output=True, text=True, timeout=30)
        self.assertEqual(values.returncode, 0, values.stderr)


class KeepGoingTest(HostsTest):
    SURVIVORS = os.path.join(os.path.dirname(HOSTS), "..", "survivors")

    def went_on(self, ranks, victim, how, what, hosts="a,b", **options):
        done = self.run_job("--keep-going", "--host", hosts, "-n", ranks, self.SURVIVORS, f"{victim},{how}", what, **options)
        self.assertEqual(sorted(done.stdout.splitlines()), [f"rank {r} went on" for r in range(ranks) if r != victim])
        return flat(done.stderr)

    def test_ranks_of_all_hosts_go_on_without_a_failed_one(self):
        for victim in 1, 2:
            for what in "receive", "barrier", "large", "tasks":
                with self.subTest(victim=victim, what=what):
                    words = self.went_on(4, victim, "killed", what, status=128 + 9)
                    self.assertRegex(words, rf"rank {victim} of 4 \(.* on {'aabb'[victim]}\) was killed by signal 9")
                    self.assertIn("The others go on", words)

    def test_the_only_rank_of_a_host(self):
        for victim, hosts in (1, "a:1,b:1,c:1"), (0, "b:1,c:2"), (2, "a:2,c:1"):
            with self.subTest(hosts=hosts):
                self.went_on(3, victim, "exits", "barrier", hosts=hosts, status=7)

    def test_a_lost_host(self):
        job = self.start_job("--keep-going", "--host", "a:2,b:1", "-n", 3, self.SURVIVORS, "2,lost", "linger", ready=3)
        daemons = [pid for pid in self.cluster.processes("b", "--daemon") if self.cluster.name_of(pid) == "mpiexec"]
        self.cluster.kill(daemons[0])
        _, out, err, _ = self.end_of(job, 20)
        self.assertEqual(sorted(out.splitlines()), ["rank 0 went on", "rank 1 went on"], err)
        self.assertRegex(err, r"rank 2 of 3 \(.* on b\) was lost with its host")


class SilenceTest(HostsTest):
    """Connections that are cut without an end, and interrupts: nothing is left anywhere."""
    LIMIT = ("--set", "mpiexec.host_silence=2s")
    STUBBORN = ("sh", "-c", "trap '' INT TERM; echo ready; while :; do sleep 0.2; done")

    def cut(self, name):
        """Nothing passes between this host and the others any more."""
        relays = [pid for pid in self.cluster.processes("a", "relay.py") if self.cluster.name_of(pid).startswith("python")]
        self.assertEqual(len(relays), 1)
        self.cluster.kill(relays[0], signal.SIGSTOP)
        self.cluster.inside("a", "ip", "link", "set", f"to{name}", "down")
        self.addCleanup(self.cluster.inside, "a", "ip", "link", "set", f"to{name}", "up")

    def none_left(self, *patterns):
        for pattern in patterns + ("--daemon", "relay.py"):
            self.assertTrue(self.cluster.none_left(pattern), pattern)

    def test_a_host_that_vanishes(self):
        self.cluster.relay("c")
        process = self.start_job(*self.LIMIT, "--host", "a,b,c", "-n", 6, HOSTS, "wait", ready=6)
        self.cut("c")
        status, _, err, seconds = self.end_of(process, 20)
        self.assertEqual(status, 1, err)
        self.assertRegex(err, r"^mpiexec: rank 4 of 6 \(\S+ process \d+ on c\) was lost with its host: the host has been silent "
                              r"for 2 s \(mpiexec.host_silence\), after \S+ s. The other 5 ranks were stopped. $")
        self.assertLess(seconds, 5)
        self.none_left(HOSTS)

    def test_ranks_end_when_mpiexec_has_vanished(self):
        process = self.start_job(*self.LIMIT, "--host", "a,b", "-n", 4, HOSTS, "wait", ready=4)
        process.send_signal(signal.SIGSTOP)
        end = time.monotonic() + 15
        while self.cluster.processes("b", HOSTS) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(self.cluster.processes("b", HOSTS), [])
        self.assertEqual(self.cluster.processes("b", "--daemon"), [])
        process.send_signal(signal.SIGCONT)
        status, _, err, _ = self.end_of(process, 20)
        self.assertEqual(status, 1, err)
        self.assertIn("was lost with its host", err)
        self.none_left(HOSTS)

    def test_a_job_that_its_user_stops_is_not_lost(self):
        process = self.start_job(*self.LIMIT, "--host", "a,b", "-n", 4, HOSTS, "wait", ready=4)
        process.send_signal(signal.SIGTSTP)
        time.sleep(5)
        self.assertEqual(len(self.cluster.processes("b", HOSTS)), 2)
        process.send_signal(signal.SIGCONT)
        time.sleep(3)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.end_of(process, 20)[0], 130)
        self.none_left(HOSTS)

    def test_the_second_interrupt_kills_at_once(self):
        process = self.start_job("--host", "a,b", "-n", 4, *self.STUBBORN, ready=4)
        process.send_signal(signal.SIGINT)
        time.sleep(1.5)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        status, _, err, seconds = self.end_of(process, 20)
        self.assertEqual(status, 130, err)
        self.assertIn("was passed on, and 4 of 4 ranks still run; a second one kills them", err)
        self.assertIn("ended by signal 2", err)
        self.assertLess(seconds, 2)
        self.none_left("trap '' INT")

    def test_the_second_interrupt_does_not_wait_for_a_host_that_has_vanished(self):
        self.cluster.relay("b")
        process = self.start_job("--host", "a,b", "-n", 4, *self.STUBBORN, ready=4)
        self.cut("b")
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        status, _, err, seconds = self.end_of(process, 20)
        self.assertEqual(status, 130, err)
        self.assertIn("ended by signal 2", err)
        self.assertLess(seconds, 4)
        self.none_left("trap '' INT")

    def test_an_interrupt_does_not_wait_for_an_agent_that_is_stuck(self):
        self.cluster.agent('test $host = c && { echo stuck >&2; exec sleep 1234; }')
        process = self.start_job("--host", "a,b,c", "-n", 3, HOSTS)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        status, _, err, seconds = self.end_of(process, 20)
        self.assertEqual(status, 130, err)
        self.assertIn("signal 2 (SIGINT, interrupt) came before the ranks began", err)
        self.assertLess(seconds, 2)
        self.none_left("sleep 1234")

    def test_mpiexec_killed_behind_a_relay(self):
        self.cluster.relay("b")
        process = self.start_job("--host", "a,b", "-n", 4, HOSTS, "wait", ready=4)
        process.kill()
        process.communicate()
        self.none_left(HOSTS)


class FramesTest(HostsTest):
    """What cannot be read ends the host, and the sentence names host, kind and step."""
    SIZE = 2
    START, FENCE_DONE, READY, STARTED, OUTPUT, RANK_ENDED = 2, 6, 64, 66, 67, 70  # mpiexec/frames.h
    CLOCK, TOOLS, CLOCK_BACK, TOOL_PAGES, TOOLS_SENT = 48, 49, 112, 113, 114

    def lost(self, way, kind, extra, words):
        self.cluster.relay("b", way, str(kind), extra.hex())
        err = flat(self.run_job("--host", "a,b", "-n", 4, HOSTS, "wait", status=1, timeout=30).stderr)
        self.assertRegex(err, r"rank 2 of 4 \(.* on b\) was lost with its host: ")
        self.assertIn(words, err)
        self.assertTrue(self.cluster.none_left(HOSTS))
        self.assertTrue(self.cluster.none_left("--daemon"))

    def test_an_unknown_kind_before_the_start(self):
        self.cluster.relay("b", "back", str(self.READY), frame(99, b"xyz").hex())
        err = flat(self.run_job("--host", "a,b", "-n", 4, HOSTS, status=127, timeout=30).stderr)
        self.assertIn("cannot start ranks on host b: mpiexec there has sent a message of kind 99 (of which there is none; 3 "
                      "bytes), which cannot be read, before its ranks were to start", err)
        self.assertTrue(self.cluster.none_left("--daemon"))

    def test_half_a_message(self):
        self.lost("back", self.OUTPUT, frame(self.RANK_ENDED, bytes([2, 0, 0, 0])),
                  "mpiexec there has sent a message of kind 70 (a rank's end; 4 bytes), which cannot be read, while the job ran")

    def test_more_than_a_message(self):
        self.lost("back", self.OUTPUT, frame(self.STARTED, bytes([2, 0, 0, 0, 1, 0, 0, 0, 0])), "kind 66 (a rank's start; 9")

    def test_a_rank_of_another_host(self):
        self.lost("back", self.OUTPUT, frame(self.STARTED, bytes([0, 0, 0, 0, 1, 0, 0, 0])), "kind 66 (a rank's start; 8")

    def test_what_tools_have_recorded_that_nobody_asked_for(self):
        page = bytes([2, 0, 0, 0]) + bytes(8) + b"page"
        for kind, body in (self.TOOL_PAGES, page), (self.TOOLS_SENT, b""), (self.CLOCK_BACK, bytes(24)):
            self.lost("back", self.OUTPUT, frame(kind, body), f"mpiexec there has sent a message of kind {kind} (")
        self.lost("there", self.START, frame(self.TOOLS, b"\1"), "mpiexec there was sent a message of kind 49 (that tools are to tell")

    def test_what_tools_have_recorded_beyond_their_memory(self):
        for rank, offset in (2, 1 << 40), (2, (1 << 64) - 2), (0, 0), (77, 0):
            body = rank.to_bytes(4, "little") + offset.to_bytes(8, "little") + b"page"
            self.cluster.relay("b", "back", str(self.TOOL_PAGES), frame(self.TOOL_PAGES, body).hex())
            err = flat(self.run_job("--summary", "--host", "a,b", "-n", 4, HOSTS, "hello", timeout=60).stderr)
            self.assertIn("2 of 4 ranks have no records", err)

    def test_the_wait_for_what_tools_have_recorded_can_be_ended(self):
        self.cluster.relay("b", "back", str(self.TOOL_PAGES), "mute")
        process = self.start_job("--summary", "--host", "a,b", "-n", 4, HOSTS, "hello")
        lines = [process.stdout.readline() for _ in range(4)]
        self.assertEqual(len(lines), 4)
        self.assertTrue(self.cluster.none_left(HOSTS, name="hosts"))
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
        code, _, err, _ = self.end_of(process, 10)
        self.assertEqual(code, 0, err)
        self.assertIn("the report of the tools lacks what other hosts had not sent when mpiexec was told to end", err)
        self.assertIn("2 of 4 ranks have no records", err)

    def test_a_line_of_some_program(self):
        self.lost("back", self.OUTPUT, b"Killed by signal 15.\n",
                  "its agent has passed on bytes that are no message of mpiexec's, \"Killed by signal 15.\\n\", while the job ran")

    def test_half_a_message_to_the_daemon(self):
        self.lost("there", self.START, frame(self.FENCE_DONE, b"x"),
                  "mpiexec there was sent a message of kind 6 (a fence; 1 bytes), which cannot be read, while the job ran")

    def test_a_line_to_the_daemon(self):
        self.lost("there", self.START, b"yes, continue connecting\n",
                  "mpiexec there was sent bytes that are no message of mpiexec's, \"yes, continue connecting\\n\", while the job ran")


@unittest.skipUnless(path_of_sshd(), "there is no sshd")
class SshTest(HostsTest):
    """Hosts that are reached by ssh over the wire between them."""

    def servers(self, options=""):
        servers = Sshd(self.cluster, ["b", "c"], options)
        self.addCleanup(servers.stop)
        return servers

    def words(self, servers, *words, options=()):
        return ["--launch-agent", servers.agent(*options), *words]

    def test_a_job(self):
        out = self.run_job(*self.words(self.servers(), "--host", "b,a,c", "-n", 6, HOSTS)).stdout
        self.assertEqual(sorted(out.splitlines()),
                         [f"rank {r} of 6 on {'bbaacc'[r]}, {r % 2} of 2 there, local {r % 2}" for r in range(6)])

    def test_start_files_that_print(self):
        servers = self.servers("ForceCommand echo Welcome; echo warning >&2; printf 'no end'; exec sh -c \"$SSH_ORIGINAL_COMMAND\"\n")
        done = self.run_job(*self.words(servers, "--host", "a,b", "-n", 2, "hostname"))
        self.assertEqual((sorted(done.stdout.splitlines()), done.stderr), (["a", "b"], ""))

    def refused(self, words, *expected):
        began = time.monotonic()
        err = flat(self.run_job(*words, status=127).stderr)
        self.assertLess(time.monotonic() - began, 20)
        for part in expected:
            self.assertIn(part, err)
        self.assertTrue(self.cluster.none_left("--daemon"))

    def test_no_key(self):
        servers = self.servers()
        os.unlink(servers.file("key"))
        self.refused(self.words(servers, "--host", "a,b", "-n", 2, "true"),
                     "cannot start ranks on host b: it ended with exit status 255", "Permission denied (publickey")

    def test_no_server(self):
        servers = self.servers()
        self.refused(self.words(servers, "--host", "a,b", "-n", 2, "true", options=("-p", "23")),
                     "cannot start ranks on host b: it ended with exit status 255", "Connection refused")

    def test_a_shell_that_is_none(self):
        servers = self.servers("ForceCommand echo This account is not available.; exit 1\n")
        self.refused(self.words(servers, "--host", "a,b", "-n", 2, "true"),
                     "cannot start ranks on host b: it ended with exit status 1", "This account is not available.")

    def test_a_wire_that_is_cut(self):
        process = self.start_job(*self.words(self.servers(), "--set", "mpiexec.host_silence=2s", "--host", "a,b,c", "-n", 6,
                                             HOSTS, "wait"), ready=6)
        self.cluster.inside("a", "ip", "link", "set", "toc", "down")
        self.addCleanup(self.cluster.inside, "a", "ip", "link", "set", "toc", "up")
        status, _, err, seconds = self.end_of(process, 20)
        self.assertEqual(status, 1, err)
        self.assertRegex(err, r"rank 4 of 6 \(\S+ process \d+ on c\) was lost with its host: the host has been silent for 2 s")
        self.assertLess(seconds, 5)
        # Nothing tells the daemon there but the silence.
        self.assertTrue(self.cluster.none_left(HOSTS))
        self.assertTrue(self.cluster.none_left("mpiexec --daemon"))

    def test_a_killed_mpiexec(self):
        process = self.start_job(*self.words(self.servers(), "--host", "a,b", "-n", 4, HOSTS, "wait"), ready=4)
        process.kill()
        process.communicate()
        self.assertTrue(self.cluster.none_left(HOSTS))
        self.assertTrue(self.cluster.none_left("mpiexec --daemon"))

    CHAIN = ("--set", "mpiexec.tree_from=1", "--set", "mpiexec.tree_width=1", "--explain=launch")

    def none_left(self):
        self.assertTrue(self.cluster.none_left(HOSTS))
        self.assertTrue(self.cluster.none_left("mpiexec --daemon"))

    def test_a_host_behind_another_one(self):
        servers = self.servers()
        done = self.run_job(*self.words(servers, *self.CHAIN, "--host", "a,b,c", "-n", 6, HOSTS))
        self.assertEqual(sorted(done.stdout.splitlines()),
                         [f"rank {r} of 6 on {'aabbcc'[r]}, {r % 2} of 2 there, local {r % 2}" for r in range(6)])
        self.assertIn("1 of 2 hosts from here, 1 through others", flat(done.stderr))
        for victim, rank in ("b", 2), ("c", 4):
            process = self.start_job(*self.words(servers, *self.CHAIN, "--host", "a,b,c", "-n", 6, HOSTS, "wait"), ready=6)
            self.cluster.kill(self.cluster.processes(victim, "mpiexec --daemon", name="mpiexec")[0])
            status, _, err, _ = self.end_of(process, 20)
            self.assertEqual(status, 1, err)
            self.assertRegex(err, rf"rank {rank} of 6 \(\S+ process \d+ on {victim}\) was lost with its host: its agent, ssh ")
            self.none_left()

    def test_a_host_that_does_not_lead_on(self):
        """Its ssh has no key for the others: these are reached from here."""
        servers = self.servers()
        self.cluster.inside("b", "mount", "--bind", "/dev/null", servers.file("key"))
        try:
            done = self.run_job(*self.words(servers, *self.CHAIN, "--host", "a,b,c", "-n", 3, "hostname"))
        finally:
            self.cluster.inside("b", "umount", servers.file("key"))
        self.assertEqual(sorted(done.stdout.split()), ["a", "b", "c"])
        self.assertIn("2 of 2 hosts from here, 0 through others; ways from other hosts that failed: 1", flat(done.stderr))
        self.none_left()


class ProgramsTest(HostsTest):
    """Programs of tests/mpi with ranks on several hosts, two on each: shared memory and TCP in one job."""
    PROGRAMS = ["pt2pt_wildcards", "pt2pt_mprobe", "pt2pt_random", "pt2pt_truncate", "pt2pt_buffered", "coll_random",
                "coll_persistent", "coll_inter", "comm_groups", "comm_inter", "comm_make", "comm_disconnect", "topo_cart",
                "topo_graph", "rma_windows basic", "rma_dynamic", "rma_sync asked", "rma_errors", "rma_corners", "rma_oracle 31 30",
                "psets", "sessions", "finalize", "info_env", "threads_lanes", "file_access", "file_views", "file_errors",
                "file_atomic", "file_oracle 1 60", "file_together 1 10", "file_open", "file_pointers", "file_types 1 20",
                "file_callbacks"]

    def run_all(self, programs, hosts, ranks, *settings):
        with tempfile.TemporaryDirectory() as folder:
            for program in programs:
                with self.subTest(program=program, hosts=hosts):
                    # Hosts share the processors here, and none of them knows it.
                    name, *words = program.split()
                    done = self.cluster.run(MPIEXEC, "--bind-to", "none", "--timeout", 100, "--host", hosts, *settings,
                                            "-n", ranks, os.path.join(BIN, name), *words, timeout=120, cwd=folder)
                    self.assertIn(done.returncode, (0, 77), done.stdout + done.stderr)

    def test_on_two_hosts(self):
        self.run_all(self.PROGRAMS, "a:2,b:2", 4)

    def test_on_three_hosts(self):
        self.run_all([p for p in self.PROGRAMS if p.startswith(("coll", "comm", "topo", "threads", "file"))], "b:2,a:2,c:2", 6)

    def test_collectives_leave_a_host_by_few_messages(self):
        # Counted by the program: flags inside the hosts, one message to and from each leader, no other rank asks for an address.
        self.run_all(["coll_nodes 4"], "a:4,b:4", 8)

    def test_ranks_that_wait_leave_the_processor_to_others(self):
        core = min(os.sched_getaffinity(0))
        for transport in filter(was_built, ("tcp", "ucx", "ofi")):
            with self.subTest(transport):
                done = self.run_job("--bind-to", "none", "--host", "a:2,b:2", "-n", 4, "--set", f"transport={transport},shm,self",
                                    HOSTS, "idle", preexec_fn=lambda: os.sched_setaffinity(0, {core}))
                used = {int(words[1]): float(words[2]) for words in map(str.split, done.stdout.splitlines())}
                self.assertEqual(sorted(used), [0, 1, 2, 3])
                # Three ranks that did not sleep would use the two seconds.
                self.assertLess(used[1] + used[2] + used[3], 600, used)

    def test_rules_go_by_the_measured_network(self):
        """The first reduction brings something to measure, and the second agrees on it before it chooses."""
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as rules:
            rules.write("schema: 1\nallreduce:\n"
                        "  too_slow: {bandwidth: ..1KiB, use: recursive_doubling}\n"
                        "  measured: {nodes: 2, node_ranks: 2, bandwidth: 1KiB.., use: ring}\n"
                        "  before: {nodes: 2, node_ranks: 2, use: rabenseifner}\n")
            rules.flush()
            for transport in filter(was_built, ("tcp", "ucx", "ofi")):
                with self.subTest(transport):
                    done = self.run_job("--bind-to", "none", "--host", "a:2,b:2", "-n", 4, "--explain=coll",
                                        "--set", f"transport={transport},shm,self", "--set", f"coll.tuning_file={rules.name}",
                                        HOSTS, "sums")
                    text = flat(done.stdout + done.stderr)
                    self.assertRegex(text, r"network of 'MPI_COMM_WORLD': [0-9.e+]+ MB/s, [0-9.e+]+ us there and back because the "
                                           r"slowest path that any of 4 ranks has measured")
                    self.assertRegex(text, r"calls of allreduce: (.*, )?ring 3\b")
                    self.assertRegex(text, r"calls of allreduce: (.*, )?rabenseifner 1\b")

    def test_a_tuning_file_is_measured_on_two_hosts(self):
        tune = os.path.join(os.path.dirname(MPIEXEC), "ashlar_tune")
        done = self.run_job("--bind-to", "none", "--timeout", 100, "--host", "a:2,b:2", "-n", 4, tune, "--seconds", "0.001",
                            "--max", 64, "allreduce", timeout=120)
        self.assertRegex(done.stdout, r"\nallreduce:\n  row1: \{nodes: 2, node_ranks: 2, ranks: 4, (bytes: \.\.\d+, )?use: \w+\}\n")

    def test_files_in_two_phases(self):
        for setting in ("io.cb_buffer_size=4KiB", "io.cb_nodes=3", "io.verify=true"):
            self.run_all(["file_access", "file_views", "file_oracle 2 60", "file_together 2 10"], "a:3,b:1", 4,
                         "--set", "io.way=two_phase", "--set", setting)
        self.run_all(["file_checks"], "a:2,b:2", 4, "--set", "check.files=true")
        self.run_all(["file_threads"], "a:2,b:2", 4, "--set", "io.way=two_phase")

    def test_over_network_libraries(self):
        for library in ("ofi", "ucx"):
            if not was_built(library):
                continue
            setting = "--set", f"transport={library},shm,self"
            self.run_all(["pt2pt_wildcards", "pt2pt_random", "pt2pt_truncate", "coll_random", "comm_disconnect",
                          "rma_sync asked", "threads_lanes", "finalize"], "a:2,b:2", 4, *setting)
            err = flat(self.run_job("--host", "a,b", "-n", 4, "--explain=transport", *setting, HOSTS, "hello").stderr)
            self.assertRegex(err, r"transport, peer 1: shm")
            self.assertRegex(err, rf"transport, peer 2: {library}")

    def test_variables_of_network_libraries_are_named(self):
        def told(library, *options):
            return flat(self.run_job("--host", "a,b", "-n", 2, "--explain=transport", "--set", f"transport={library},self",
                                     *options, HOSTS, "hello").stderr)

        for library, name, variable in ("ofi", "libfabric", "FI_LOG_LEVEL"), ("ucx", "UCX", "UCX_LOG_LEVEL"):
            if was_built(library):
                self.assertRegex(told(library, "-x", f"{variable}=error"),
                                 rf"network of {library}: .* set for {name}: [A-Z_, ]*{variable}")
        if was_built("ofi"):
            advice = "FI_OFI_RXM_MSG_RX_SIZE=256 in the environment makes them 4 MiB"
            for given in True, False:
                err = told("ofi", "--set", "transport.ofi.provider=tcp;ofi_rxm",
                           *(["-x", "FI_OFI_RXM_MSG_RX_SIZE=256"] if given else []))
                self.assertEqual(advice in err, not given, err)

    def test_matching_by_the_network_and_here(self):
        """Between the hosts by tags, inside them in the kernel's queues."""
        for library, *more in ("ofi", "transport.ofi.provider=sockets"), ("ucx",):
            if not was_built(library):
                continue
            setting = ["--set", f"transport={library},shm,self", "--set", "p2p.matching=native"]
            for one in more:
                setting += ["--set", one]
            self.run_all(["pt2pt_wildcards", "pt2pt_random", "pt2pt_mprobe", "pt2pt_cancel", "pt2pt_truncate", "coll_random",
                          "finalize"], "a:2,b:2", 4, *setting)
            err = flat(self.run_job("--host", "a:2,b:2", "-n", 4, "--explain=transport", *setting, HOSTS, "hello").stderr)
            self.assertRegex(err, r"matching with peer 1: kernel .{0,40}another transport leads there")
            self.assertRegex(err, r"matching with peer 2: native")


class RefusedTest(HostsTest):
    """A start that fails names the host, the step, and what the agent said."""

    def refused(self, *expected, status=127, words=("--host", "a,b", "-n", "2", "true")):
        began = time.monotonic()
        err = flat(self.run_job(*words, status=status).stderr)
        self.assertLess(time.monotonic() - began, 20)
        for pattern in expected:
            self.assertRegex(err, pattern)
        self.assertTrue(self.cluster.none_left("--daemon"))

    def test_an_agent_that_fails(self):
        self.refused("cannot start ranks on host nowhere: it ended with exit status 255 before mpiexec there had said",
                     "Could not resolve hostname nowhere", words=("--host", "a,nowhere", "-n", "2", "true"))

    def test_an_agent_that_is_not_there(self):
        self.refused("no program .*no-such-agent", words=("--launch-agent", "no-such-agent %h", "--host", "b", "true"))

    def test_a_shell_that_prints_is_no_hindrance(self):
        self.cluster.agent("echo Welcome to $host; echo 'a warning' >&2; printf 'no newline'")
        self.run_job("--host", "a,b", "-n", 2, HOSTS)

    def test_a_host_whose_name_is_known_late(self):
        """As a container's that was just made; and a server that lets in others first."""
        for words in "ssh: Could not resolve hostname b: Temporary failure", "kex_exchange_identification: Connection closed":
            with tempfile.TemporaryDirectory() as folder:
                tries = os.path.join(folder, "tries")
                self.cluster.agent(f'if test $host = b; then echo >>{tries}; test $(wc -l <{tries}) -gt 2 || '
                                   f'{{ echo "{words}" >&2; exit 255; }}; fi')
                done = self.run_job("--host", "a,b", "-n", 2, "hostname")
                self.assertEqual(sorted(done.stdout.split()), ["a", "b"])
                self.assertEqual(flat(done.stderr).count(f"mpiexec: host b is not reached yet, and its agent is started again for "
                                                         f"5 s: {words}"), 1, done.stderr)
                os.unlink(tries)
                self.refused("cannot start ranks on host b: it ended with exit status 255 before mpiexec there had said anything. ",
                             words=("--set", "mpiexec.start_retry=0", "--host", "a,b", "-n", 2, "true"))
        self.cluster.agent("echo 'ssh: Could not resolve hostname b' >&2; exit 255")
        self.refused("before mpiexec there had said anything, in [2-4] tries. ",
                     words=("--set", "mpiexec.start_retry=1s", "--host", "a,b", "-n", 2, "true"))

    def test_a_host_that_is_tried_again_is_told_at_once(self):
        """Of several one, so that it can be read."""
        self.cluster.agent("echo 'ssh: Could not resolve hostname nowhere' >&2; exit 255")
        process = self.start_job("--set", "mpiexec.start_retry=1h", "--host", "b,c", "-n", 2, "true")
        self.assertRegex(process.stderr.readline(), "^mpiexec: host [bc] is not reached yet")
        process.terminate()
        status, _, err, _ = self.end_of(process, 20)
        self.assertEqual(status, 128 + signal.SIGTERM, err)
        self.assertNotIn("is not reached yet", err)

    def test_no_installation_there(self):
        self.refused("cannot start ranks on host b: it ended with exit status 127: there is no /nowhere/bin/mpiexec on that",
                     words=("--prefix", "/nowhere", "--host", "b", "true"))

    def test_an_agent_that_never_comes_through(self):
        self.cluster.agent("echo trying; sleep 1000")
        self.refused("host b: mpiexec there has not said anything after 2 s", "trying",
                     words=("--set", "mpiexec.start_timeout=2s", "--host", "b", "true"))

    def test_another_version(self):
        self.cluster.agent("echo 'ashlar-mpiexec-daemon 0.0.9/1 x86_64 4 b'; sleep 1000")
        self.refused("host b: .*mpiexec there is of version 0.0.9/1, and this one of version")

    def test_another_machine(self):
        version = self.cluster.inside("b", "sh", "-c", f"{MPIEXEC} --daemon </dev/null").stdout.split()[1]
        self.cluster.agent(f"echo 'ashlar-mpiexec-daemon {version} sparc 4 b'; sleep 1000")
        self.refused("host b: the host is of kind sparc, and this one of kind")

    def test_a_program_that_is_missing_there(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "program")
            os.symlink("/bin/true", program)
            self.cluster.inside("b", "mount", "-t", "tmpfs", "tmpfs", folder)
            try:
                self.refused("host b: cannot run .*/program: No such file", words=("--host", "a,b", "-n", "2", program))
            finally:
                self.cluster.inside("b", "umount", folder)

    def test_a_folder_that_is_missing_there(self):
        with tempfile.TemporaryDirectory() as folder:
            inner = os.path.join(folder, "inner")
            os.mkdir(inner)
            self.cluster.inside("b", "mount", "-t", "tmpfs", "tmpfs", folder)
            try:
                done = self.cluster.run(MPIEXEC, "--host", "a,b", "-n", 2, "true", cwd=inner)
                self.assertEqual(done.returncode, 127)
                self.assertRegex(flat(done.stderr), "host b: the folder in which mpiexec runs, .*inner, cannot be entered")
            finally:
                self.cluster.inside("b", "umount", folder)

    def test_names_that_are_none(self):
        for name in "-oProxyCommand=x", "a;b", "a b", "":
            self.refused("is no name of a host", status=2, words=("--host", name, "true"))
        self.refused("a number of ranks belongs behind the colon", status=2, words=("--host", "b:x", "true"))


def run_tests():
    try:
        with Cluster(1):
            pass
    except (PermissionError, FileNotFoundError) as refusal:
        print(refusal)
        sys.exit(77)
    unittest.main()


if __name__ == "__main__":
    run_tests()
