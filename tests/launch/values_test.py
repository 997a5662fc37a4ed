#!/usr/bin/env python3
"""The variables of a job that runs, asked for from outside: ashlar_info --pvars, --params and explain with --pid."""
import json
import os
import subprocess
import unittest

from harness import MPIEXEC, STUCK, alive, plain

INFO = os.path.join(os.path.dirname(MPIEXEC), "ashlar_info")
VALUES = os.path.join(os.path.dirname(STUCK), "values")


def info(*words):
    done = subprocess.run([INFO, *map(str, words)], capture_output=True, timeout=60)
    return done.returncode, done.stdout.decode(), plain(done.stderr)


class Job:
    def __init__(self, ranks, *words, settings=()):
        options = [word for setting in settings for word in ("--set", setting)]
        self.process = subprocess.Popen([MPIEXEC, *options, "-n", str(ranks), VALUES, *words], stdout=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(ranks):
            assert self.process.stdout.readline() == b"ready\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.stdout.close()
        self.process.wait()

    @property
    def pid(self):
        return self.process.pid

    def values(self, *words):
        code, out, error = info("--json", "--pvars", "--pid", self.pid, *words)
        assert code == 0, error
        return json.loads(out)["ranks"]

    def rank(self, number):
        return self.values()[number]["pid"]


def table(text):
    """The rows of a text with a column for each rank."""
    head, *lines = text.splitlines()
    return head.split()[1:], {line.split()[0]: line.split()[1:] for line in lines}


class Values(unittest.TestCase):
    def test_whatever_the_ranks_do(self):
        for how in ("waits",), ("polls",), ("chats",), ("waits", "threads"):
            with self.subTest(how), Job(2, *how) as job:
                for number, rank in enumerate(job.values()):
                    self.assertTrue(rank["answered"], rank)
                    self.assertEqual(rank["rank"], number)
                    self.assertTrue(alive(rank["pid"]))
                    self.assertNotIn("left_out", rank)
                    values = rank["variables"]
                    # Of messages that come and go one may be waiting just now.
                    self.assertIn(values["p2p.unexpected"] - number - 1, (0, 1) if "chats" in how else (0,))
                    locked = "threads" in how
                    self.assertEqual(values["p2p.unexpected_limit"], None if locked else 70000 + number)
                    self.assertEqual(values["comm.alive"], 2)
                    self.assertGreater(values["transport.shm.ring_memory"], 0)
                    self.assertGreater(len(values), 150)
                    self.assertEqual({name for name, value in values.items() if value is None},
                                     {"p2p.sends", "p2p.unexpected_limit", "p2p.unexpected_total_limit"} if locked else set())
                    self.assertIsNone(job.process.poll())

    def test_they_are_of_the_moment(self):
        with Job(2, "chats") as job:
            before, after = (job.values()[0]["variables"]["p2p.links"] for _ in range(2))
            self.assertEqual(before, after)
            first, second = (job.values()[0]["variables"]["runtime.queries"] for _ in range(2))
            self.assertGreater(second, first)

    def test_a_column_for_each_of_a_few_ranks(self):
        with Job(3, "waits") as job:
            code, out, _ = info("--pvars", "--pid", job.pid, "p2p.unexpected")
            self.assertEqual(code, 0)
            self.assertEqual(out.splitlines()[1].split(), ["p2p.unexpected", "1", "2", "3"])
            self.assertEqual(out.splitlines()[0].split(), ["variable", "rank", "0", "rank", "1", "rank", "2"])
            _, rows = table(info("--pvars", "--pid", job.pid)[1])
            self.assertEqual(rows["p2p.unexpected"], ["1", "2", "3"])

    def test_one_rank(self):
        with Job(3, "waits") as job:
            code, out, _ = info("--pvars", "--pid", job.rank(2), "p2p.unexpected")
            self.assertEqual((code, out.split()), (0, ["variable", "rank", "2", "p2p.unexpected", "3"]))

    def test_least_mean_and_most_of_many_ranks(self):
        with Job(8, "waits") as job:
            _, out, _ = info("--pvars", "--pid", job.pid, "p2p.unexpected")
            self.assertEqual(out.split(), ["variable", "least", "mean", "most", "p2p.unexpected", "1", "(rank", "0)", "4.5", "8",
                                           "(rank", "7)"])

    def test_a_lock_that_a_thread_may_hold(self):
        with Job(2, "waits", "threads") as job:
            _, out, _ = info("--pvars", "--pid", job.pid, "p2p.sends")
            self.assertIn("?: reading it takes a lock", out)
            self.assertEqual(table(out)[1]["p2p.sends"], ["?", "?"])

    def test_a_rank_that_computes(self):
        with Job(2, "computes") as job:
            code, out, _ = info("--pvars", "--pid", job.pid, "p2p.unexpected")
            self.assertEqual(code, 0)
            self.assertIn("rank 1 does not answer: it is not inside MPI and computes", out)
            ranks = job.values()
            self.assertEqual((ranks[0]["answered"], ranks[1]["answered"]), (True, False))
            self.assertEqual(ranks[1]["because"], "it is not inside MPI and computes")
            code, out, error = info("--pvars", "--pid", ranks[1]["pid"])
            self.assertEqual((code, out), (1, ""))
            self.assertIn("none of the 1 ranks that were asked has answered; rank 1: it is not inside MPI and computes", error)
            code, out, error = info("explain", "--pid", ranks[1]["pid"], "p2p.eager_limit")
            self.assertEqual(code, 0)
            self.assertIn("what its program has set is not known", error)

    def test_mistakes(self):
        with Job(1, "waits") as job:
            code, _, error = info("--pvars", "--pid", job.pid, "p2p.unexpcted")
            self.assertEqual(code, 1)
            self.assertIn("p2p.unexpected", error)
            self.assertEqual(info("--pvars", "--pid", job.pid, "--level", "user-basic")[0], 2)
            self.assertEqual(info("--events", "--pid", job.pid)[0], 2)


class ProgramSettings(unittest.TestCase):
    """What the program has set is known outside, with that origin."""

    def test_explain(self):
        with Job(2, "waits", settings=["p2p.eager_limit=6KiB"]) as job:
            pids = [rank["pid"] for rank in job.values()]
            for pid, number in (job.pid, 0), (pids[0], 0), (pids[1], 1):
                code, out, error = info("explain", "--pid", pid, "p2p.eager_limit")
                self.assertEqual((code, error), (0, ""))
                self.assertRegex(out, rf"^p2p\.eager_limit = {5000 + number}\n +from +the program")
                self.assertIn("6KiB", out)     # what lost
                out = info("explain", "--pid", pid, "p2p.unexpected_limit")[1]
                self.assertRegex(out, rf"^p2p\.unexpected_limit = {70000 + number}\n +from +the program")
                self.assertNotIn("the program", info("explain", "--pid", pid, "p2p.unexpected_total_limit")[1])

    def test_params(self):
        with Job(2, "waits", settings=["p2p.request_limit=123456"]) as job:
            rows = json.loads(info("--json", "--params", "--pid", job.rank(1), "p2p")[1])
            values = {row["key"]: (row["value"], row["origin"]) for row in rows}
            self.assertEqual(values["p2p.eager_limit"], ("5001", "the program"))
            self.assertEqual(values["p2p.unexpected_limit"], ("70001", "the program"))
            self.assertEqual(values["p2p.request_limit"], ("123456", "--set p2p.request_limit=123456"))
            self.assertIn("(the program)", info("--params", "--pid", job.pid, "p2p")[1])
            self.assertEqual(dict(job.values()[1]["program_settings"]),
                             {"p2p.eager_limit": "5001", "p2p.unexpected_limit": "70001"})


if __name__ == "__main__":
    unittest.main()
