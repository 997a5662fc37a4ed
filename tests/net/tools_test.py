#!/usr/bin/env python3
"""Tools that watch the ranks of several hosts, which are namespaces (cluster.py) with clocks of their own.

Run by ctest with MPIEXEC, HOSTS (the program hosts.c) and TRACED (tests/launch/trace_program.c) in the environment.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from cluster import Cluster

MPIEXEC = os.path.abspath(os.environ["MPIEXEC"])
TRACED = os.path.abspath(os.environ["TRACED"])
HOSTS = os.path.abspath(os.environ["HOSTS"])
SCHEMA = os.path.join(os.path.dirname(MPIEXEC), "..", "share", "ashlar", "trace.schema.json")
AHEAD = {"b": 100_000, "c": 7}


def messages(source, to):
    return 1 + (source * 3 + to * 5) % 7


def pattern(ranks):
    return [[a, b, messages(a, b), messages(a, b) * (10 * (a + 1) + b)] for a in range(ranks) for b in range(ranks)]


def bars(document, rank):
    """The bars of a rank: call, begin and end in seconds."""
    lane = next(lane for lane in document["timeline"]["ranks"] if lane["rank"] == rank)
    unit, at, found = document["timeline"]["unit_ns"] * 1e-9, 0, []
    for i, began in enumerate(lane["began"]):
        at += began
        found.append((document["calls"][lane["call"][i]]["name"], at * unit, (at + lane["took"][i]) * unit))
    return found


class ToolsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(3, AHEAD)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def text(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def run_job(self, *words, status=0, timeout=120):
        done = self.cluster.run(MPIEXEC, *words, cwd=self.folder, timeout=timeout)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        return done

    def start_job(self, *words):
        process = self.cluster.start(MPIEXEC, *words, cwd=self.folder)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def wait_until(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return True
            time.sleep(0.02)
        return False

    def document(self, *words, options=(), hosts="a,b", ranks=4, status=0):
        self.run_job("--trace=run.json", *options, "--host", hosts, "-n", ranks, TRACED, *words, status=status)
        return self.read()

    def read(self):
        document = json.loads(self.text("run.json"))
        if os.path.exists(SCHEMA):
            import jsonschema
            with open(SCHEMA) as file:
                jsonschema.validate(document, json.load(file), cls=jsonschema.Draft7Validator)
        return document


class TraceTest(ToolsTest):
    def check_pattern(self, document, hosts):
        self.assertEqual(document["matrix"]["cells"], pattern(len(hosts)))
        self.assertEqual("".join(rank["host"] for rank in document["ranks"]), hosts)
        self.assertTrue(all(rank["finalized"] and rank["wait_status"] == 0 and rank["memory"] > 0 for rank in document["ranks"]))
        self.assertEqual(sum(t["bytes"] for t in document["transports"]), sum(cell[3] for cell in pattern(len(hosts))))
        self.assertEqual(document["warnings"], [])

    def test_ranks_of_two_hosts(self):
        document = self.document("pattern")
        self.check_pattern(document, "aabb")
        self.assertEqual(document["job"]["hosts"], ["a", "b"])
        self.assertIn("tcp", [t["name"] for t in document["transports"]])
        self.assertTrue(all(any(call == "MPI_Irecv" for call, _, _ in bars(document, rank)) for rank in range(4)))

    def test_no_rank_beside_mpiexec(self):
        self.check_pattern(self.document("pattern", hosts="c,b", ranks=6), "cccbbb")

    def check_times(self, document, ranks):
        """The clocks of the hosts are minutes and days apart; what is left of it is within what the trace says."""
        error = document["job"]["clock_error"]
        self.assertGreater(error, 0)
        self.assertLess(error, 1)
        self.assertLess(document["job"]["seconds"], min(AHEAD.values()))
        of_ranks = [[bar for bar in bars(document, rank) if bar[0] == "MPI_Barrier"] for rank in range(ranks)]
        for meeting in zip(*of_ranks):
            last = max(began for _, began, _ in meeting)
            for _, _, ended in meeting:
                self.assertGreater(ended + error, last)
        for rank in range(ranks):
            row = bars(document, rank)
            self.assertEqual((row[0][0], row[-1][0]), ("MPI_Init_thread", "MPI_Finalize"))
            self.assertGreaterEqual(row[0][1] + error, 0)
            self.assertLessEqual(row[-1][2], document["job"]["seconds"] + error)
        self.assertEqual({len(row) for row in of_ranks}, {20})

    def test_times_can_be_compared(self):
        self.check_times(self.document("imbalance", hosts="a,b,c", ranks=6), 6)
        self.check_times(self.document("imbalance", hosts="b,c"), 4)

    def test_a_rank_that_is_killed_on_another_host(self):
        document = self.document("killed", status=137)
        rank = document["ranks"][3]
        self.assertEqual((rank["host"], rank["finalized"], rank["wait_status"]), ("b", False, 9))
        self.assertEqual([(document["calls"][c["call"]]["name"], c["bytes"]) for c in rank["last_calls"]],
                         [("MPI_Send", 125 + i) for i in range(25)])
        self.assertIn([3, 0, 50, sum(range(100, 150))], document["matrix"]["cells"])
        self.assertIn("rank 3 ended by signal 9", document["warnings"][0])
        # Its counter is that of its host: the last send lies 0.2 s before its death, and the job ends after it.
        last = rank["last_calls"][-1]
        self.assertLess(last["began"], document["job"]["seconds"])
        self.assertGreater(last["began"] + document["job"]["clock_error"], document["ranks"][0]["began"])

    def test_all_that_fits_into_the_memory(self):
        calls = 700_000
        document = self.document("null", calls, options=("--set", "tools.buffer=20MiB"), hosts="a:1,b:1", ranks=2)
        for rank in document["ranks"]:
            self.assertEqual(rank["lost"], 0, rank)
        self.assertEqual(next(t for t in document["totals"] if document["calls"][t["call"]]["name"] == "MPI_Send")["calls"],
                         2 * calls)
        self.assertGreaterEqual(document["timeline"]["calls"], 2 * calls)

    def test_a_lost_host(self):
        process = self.start_job("--trace=run.json", "--set", "tools.refresh=0", "--host", "a,b", "-n", 4, HOSTS, "wait")
        self.assertEqual([process.stdout.readline() for _ in range(4)], ["ready\n"] * 4)
        daemon, = (pid for pid in self.cluster.processes("b", "--daemon") if self.cluster.name_of(pid) == "mpiexec")
        self.cluster.kill(daemon)
        _, err = process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("the trace of", err)
        self.assertTrue(any("2 of 4 ranks have no records" in warning for warning in self.read()["warnings"]))

    def test_an_interrupted_job(self):
        process = self.start_job("--trace=run.json", "--set", "tools.refresh=50ms", "--trace=run.prom", "--host", "a,b", "-n", 4,
                                 TRACED, "live")
        self.assertTrue(self.wait_until(lambda: os.path.exists(self.path("run.prom")) and
                                        'rank="3",host="b",call="MPI_Barrier"} 100' in self.text("run.prom")))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        document = self.read()
        barriers = [sum(bar[0] == "MPI_Barrier" for bar in bars(document, rank)) for rank in range(4)]
        self.assertEqual(barriers, [100] * 4)
        self.assertEqual([rank["host"] for rank in document["ranks"] if not rank["finalized"]], list("aabb"))

    def test_metrics_while_the_job_runs(self):
        process = self.start_job("--trace=run.prom", "--set", "tools.refresh=50ms", "--host", "b,c", "-n", 4, TRACED, "live")
        barriers = re.compile(r'^ashlar_calls_total\{.*host="([bc])",call="MPI_Barrier"\} 100$', re.M)
        self.assertTrue(self.wait_until(lambda: os.path.exists(self.path("run.prom")) and
                                        barriers.findall(self.text("run.prom")) == list("bbcc")))
        self.assertRegex(self.text("run.prom"), r"\nashlar_job_running\{.*\} 1\n")
        first = float(re.search(r"^ashlar_job_seconds\{.*\} (\S+)$", self.text("run.prom"), re.M)[1])
        self.assertTrue(self.wait_until(
            lambda: float(re.search(r"^ashlar_job_seconds\{.*\} (\S+)$", self.text("run.prom"), re.M)[1]) > first))
        open(self.path("go"), "w").close()
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (0, ""), err)
        self.assertRegex(self.text("run.prom"), r"\nashlar_job_running\{.*\} 0\n")
        self.assertEqual(len(re.findall(r'call="MPI_Finalize"\} 1$', self.text("run.prom"), re.M)), 4)

    def test_the_summary(self):
        text = self.run_job("--summary", "--host", "a,b,c", "-n", 6, TRACED, "pattern").stderr
        lines = text[text.index("summary of"):].splitlines()
        self.assertRegex(lines[0], r"^summary of \S*trace_program: 6 ranks on a and 2 more hosts, \S+ m?s, clocks agree within \S+ .?s$")
        line = next(line for line in lines if line.startswith("  messages"))
        self.assertEqual(re.search(r"messages +(\d+) with", line)[1], str(sum(cell[2] for cell in pattern(6))))
        self.assertIn("tcp", line)


if __name__ == "__main__":
    try:
        with Cluster(2, {"b": 1}):
            pass
    except (PermissionError, FileNotFoundError) as refusal:
        print(refusal)
        sys.exit(77)
    unittest.main()
