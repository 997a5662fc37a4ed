#!/usr/bin/env python3
"""What a rank printed and had not flushed when it ended the job, and ends that need no MPI_Finalize."""
import os
import subprocess
import tempfile
import time
import unittest

from harness import MPIEXEC, contents, mpiexec, plain

PROGRAM = os.path.join(os.path.dirname(os.environ["STUCK"]), "last_words")


class LastWords(unittest.TestCase):
    def test_they_come_before_the_end(self):
        for how, status in (("abort", 3), ("error", None)):
            for ranks in (1, 3):
                done = mpiexec("-n", ranks, PROGRAM, how)
                self.assertEqual(done.stdout, f"last words of rank {ranks - 1}".encode())
                self.assertIn("MPI_Abort was called" if how == "abort" else "MPI_Send", plain(done.stderr))
                if status:
                    self.assertEqual(done.returncode, status)

    def test_of_a_session_that_cannot_begin(self):
        for how in "only-refused", "only-fatal":
            for command in [PROGRAM, how], [MPIEXEC, "-n", "1", PROGRAM, how]:
                with self.subTest(command=command):
                    done = subprocess.run(command, capture_output=True, timeout=60)
                    self.assertEqual(done.stdout, b"last words without a session")
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn("MPI_THREAD_BRAIDED", plain(done.stderr))

    def test_files_too(self):
        with tempfile.TemporaryDirectory() as folder:
            mpiexec("-n", 2, PROGRAM, "file", folder + "/f")
            self.assertEqual(contents(folder + "/f"), "kept")

    def test_without_a_launcher(self):
        done = subprocess.run([PROGRAM, "abort"], capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (3, b"last words of rank 0"))

    def test_a_held_lock_does_not_keep_the_job_from_ending(self):
        began = time.monotonic()
        done = mpiexec("-n", 2, PROGRAM, "locked")
        self.assertEqual((done.returncode, done.stdout), (3, b"last words of rank 1"))
        self.assertLess(time.monotonic() - began, 20)

    def test_a_full_pipe_does_not_keep_the_job_from_ending(self):
        # Its own streams, and no reader: the pipe is full before the program begins.
        began = time.monotonic()
        ends = os.pipe()
        self.addCleanup(os.close, ends[0])
        os.set_blocking(ends[1], False)
        try:
            while os.write(ends[1], bytes(4096)):
                pass
        except BlockingIOError:
            os.set_blocking(ends[1], True)
        job = subprocess.Popen([MPIEXEC, "-n", "1", PROGRAM, "abort"], stdout=ends[1], stderr=subprocess.PIPE)
        os.close(ends[1])
        self.assertEqual(job.wait(30), 3)
        self.assertIn("MPI_Abort was called", plain(job.stderr.read()))
        job.stderr.close()
        self.assertLess(time.monotonic() - began, 20)


class Sessions(unittest.TestCase):
    def test_a_session_may_outlive_the_world(self):
        for ranks in (1, 3):
            done = mpiexec("-n", ranks, PROGRAM, "session")
            self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_a_session_that_is_left_open_is_a_failure(self):
        done = mpiexec("-n", 3, PROGRAM, "session-left")
        self.assertEqual(done.returncode, 1)
        self.assertIn("without calling MPI_Session_finalize", plain(done.stderr))

    def test_what_was_not_called_is_named(self):
        for how, words in ("only-left", "without calling MPI_Session_finalize"), \
                          ("both-left", "without calling MPI_Finalize and MPI_Session_finalize"), \
                          ("only-code", "ended with exit code 3, after MPI_Session_finalize"):
            with self.subTest(how=how):
                done = mpiexec("-n", 2, PROGRAM, how)
                self.assertEqual(done.returncode, 3 if how == "only-code" else 1)
                self.assertIn(words, plain(done.stderr))

    def test_after_the_last_session_a_rank_may_end_at_once(self):
        done = mpiexec("-n", 2, PROGRAM, "only-over")
        self.assertEqual((done.returncode, done.stderr), (0, b""))


if __name__ == "__main__":
    unittest.main()
