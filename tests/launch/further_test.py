#!/usr/bin/env python3
"""Jobs that start others, and jobs that meet."""
import os
import subprocess
import tempfile
import time
import unittest

from harness import MPIEXEC, mpiexec, plain

FURTHER = os.path.join(os.path.dirname(os.environ["STUCK"]), "further")


def begin(*words):
    return subprocess.Popen([MPIEXEC, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def alone(*words):
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Meeting(unittest.TestCase):
    def meet(self, server, client, sizes):
        out = [job.communicate(timeout=60) for job in (server, client)]
        self.assertEqual([(server.returncode, out[0][1]), (client.returncode, out[1][1])], [(0, b""), (0, b"")])
        self.assertEqual([text for text, _ in out],
                         [b"met %d\nmerged %d\n" % (sizes[1], sum(sizes)), b"met %d\nmerged %d\n" % (sizes[0], sum(sizes))])

    def test_two_jobs(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "port")
            self.meet(begin("-n", 2, FURTHER, "accept", file), begin("-n", 3, FURTHER, "connect", file), (2, 3))

    def test_a_job_and_a_process_without_a_launcher(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "port")
            self.meet(alone(FURTHER, "accept", file), begin("-n", 2, FURTHER, "connect", file), (1, 2))

    def test_processes_without_a_launcher_by_a_name(self):
        service = f"a service of process {os.getpid()}"
        jobs = [alone(FURTHER, what, service) for what in ("publish", "look-up")]
        out = [job.communicate(timeout=60) for job in jobs]
        self.assertEqual([job.returncode for job in jobs], [0, 0], out)
        self.assertEqual(out, [(b"met 1\n", b""), (b"met 1\n", b"")])


class Ends(unittest.TestCase):
    def test_a_job_outlives_the_one_that_it_is_disconnected_from(self):
        done = mpiexec("-n", 1, FURTHER, "outlives")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"parent ends\nchild ends\n", b""))

    def test_finalize_waits_for_connected_processes(self):
        done = mpiexec("-n", 2, FURTHER, "finalizes")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"child ends\n", b""))

    def test_the_end_of_the_parent_ends_a_connected_job(self):
        began = time.monotonic()
        done = mpiexec("-n", 1, FURTHER, "parent-dies")
        self.assertEqual(done.returncode, 128 + 9)
        self.assertIn("was killed by signal 9", plain(done.stderr))
        self.assertIn("mpiexec: job 1: ", plain(done.stderr))
        self.assertLess(time.monotonic() - began, 20)

    def test_the_end_of_a_child_is_an_error_of_the_parent(self):
        done = mpiexec("-n", 1, FURTHER, "child-dies")
        self.assertEqual(done.stdout, b"the child is gone\n")
        self.assertEqual(done.returncode, 128 + 9)
        self.assertRegex(plain(done.stderr), r"mpiexec: job 1: rank 0 of 2 .* was killed by signal 9")

    def test_abort_of_a_communicator_ends_both_jobs(self):
        began = time.monotonic()
        done = mpiexec("-n", 1, FURTHER, "abort")
        self.assertEqual(done.returncode, 5)
        self.assertLess(time.monotonic() - began, 20)

    def test_a_time_limit_is_one_of_all_jobs(self):
        done = mpiexec("--timeout", 3, "-n", 1, FURTHER, "hangs")
        self.assertEqual(done.returncode, 124)
        words = plain(done.stderr)
        self.assertIn("mpiexec: the time limit of 3 s is over", words)
        self.assertIn("mpiexec: job 1: the time limit", words)
        self.assertIn("of another job", words)


if __name__ == "__main__":
    unittest.main(verbosity=2)
