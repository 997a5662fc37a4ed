#!/usr/bin/env python3
"""mpiexec --keep-going: the others go on when a rank has failed."""
import os
import unittest

from harness import main, mpiexec, plain

PROGRAM = os.path.join(os.path.dirname(os.environ["STUCK"]), "survivors")
SPELLINGS = "--keep-going", "-disable-auto-cleanup", "--enable-recovery"


class Survivors(unittest.TestCase):
    def run_job(self, ranks, victim, how, what, *options):
        done = mpiexec("-n", ranks, *(options or SPELLINGS[:1]), PROGRAM, f"{victim},{how}", what)
        return done, plain(done.stderr)

    def went_on(self, done, ranks, victim):
        self.assertEqual(sorted(done.stdout.decode().splitlines()),
                         sorted(f"rank {rank} went on" for rank in range(ranks) if rank != victim), done.stderr)

    def test_calls_that_need_the_failed_rank_fail_and_others_work(self):
        for what in "receive", "barrier", "large":
            for ranks, victim in (2, 1), (4, 0), (4, 2), (9, 8):
                with self.subTest(what=what, ranks=ranks, victim=victim):
                    done, words = self.run_job(ranks, victim, "killed", what)
                    self.went_on(done, ranks, victim)
                    self.assertEqual(done.returncode, 128 + 9)
                    self.assertRegex(words, rf"rank {victim} of {ranks} .* was killed by signal 9 .*The others go on")
                    self.assertEqual(words.count("was killed"), 1)

    def test_in_messages_instead_of_shared_flags(self):
        for what in "barrier", "large":
            for ranks in 3, 6:
                with self.subTest(what=what, ranks=ranks):
                    done, _ = self.run_job(ranks, 1, "killed", what, "--keep-going", "--set", "coll=^shm")
                    self.went_on(done, ranks, 1)

    def test_a_rank_that_leaves_without_finalize(self):
        done, words = self.run_job(3, 1, "exits", "barrier", "--set", "mpiexec.on_failure=continue")
        self.went_on(done, 3, 1)
        self.assertEqual(done.returncode, 7)
        self.assertIn("ended with exit code 7, without calling MPI_Finalize", words)

    def test_before_it_has_joined(self):
        # Only the victim has the variable: it is a program of its own.
        done = mpiexec("--keep-going", "-n", 2, PROGRAM, "2,early", "barrier", ":",
                       "-n", 1, "-env", "VICTIM", "1", PROGRAM, "2,early", "barrier")
        self.went_on(done, 3, 2)
        self.assertIn("before MPI_Init", plain(done.stderr))

    def test_tasks_are_handed_out_again(self):
        for spelling in SPELLINGS:
            with self.subTest(spelling=spelling):
                done, _ = self.run_job(5, 3, "killed", "tasks", spelling)
                self.went_on(done, 5, 3)

    def test_the_default_error_handler_ends_the_job(self):
        done, words = self.run_job(4, 2, "killed", "fatal")
        self.assertEqual((done.returncode, done.stdout), (128 + 9, b""))
        self.assertIn("rank 2 of 4", words)
        self.assertIn("The other 3 ranks were stopped", words)

    def test_an_abort_ends_the_job(self):
        done, words = self.run_job(4, 2, "killed", "abort")
        self.assertEqual(done.stdout, b"")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("MPI_Abort was called", words)

    def test_without_the_option_the_job_ends(self):
        done, words = self.run_job(4, 2, "killed", "receive", "--set", "mpiexec.on_failure=end")
        self.assertEqual((done.returncode, done.stdout), (128 + 9, b""))
        self.assertIn("The other 3 ranks were stopped", words)


if __name__ == "__main__":
    main(2)
