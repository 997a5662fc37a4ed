#!/usr/bin/env python3
"""Joining and leaving a job, through each launch component."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

from harness import DRIVER, MPIEXEC, NATIVE, PMIX, SINGLETON, mpiexec, plain


class Mpi(unittest.TestCase):
    """What happens around MPI_Init and MPI_Finalize, played by the driver."""

    def drive(self, ranks, action, argument=None, component=NATIVE, options=()):
        words = [DRIVER, component, action] + ([argument] if argument is not None else [])
        return mpiexec(*options, "-n", ranks, *words)

    def test_exchange(self):
        for ranks in (1, 2, 3, 7, 16):
            done = self.drive(ranks, "modex")
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual(sorted(done.stdout.split(b"\n"))[1:], sorted(b"rank %d of %d ok" % (r, ranks) for r in range(ranks)))

    def test_abort(self):
        done = self.drive(3, "abort", 1)
        self.assertEqual(done.returncode, 42)
        self.assertRegex(plain(done.stderr), r"rank 1 of 3 .* aborted the job with code 42.*It said: the driver was told to")

    def test_crash(self):
        self.assertEqual(self.drive(3, "crash", 1).returncode, 139)

    def test_leaving_without_finalize(self):
        done = self.drive(3, "leave", 2)
        self.assertEqual(done.returncode, 1)
        self.assertIn("ended with exit code 0, without calling MPI_Finalize", plain(done.stderr))

    def test_code_after_finalize(self):
        done = self.drive(3, "code", 1)
        self.assertEqual(done.returncode, 9)
        self.assertRegex(plain(done.stderr), r"^mpiexec: rank 1 of 3 \(.*\) ended with exit code 9, after MPI_Finalize\. $")

    def test_fence_with_a_missing_rank(self):
        done = self.drive(3, "skip", 1)
        self.assertEqual(done.stdout.count(b"all 3 ranks must take part, but rank 1"), 2)

    def test_fence_with_a_late_rank(self):
        done = self.drive(3, "late", 1)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.count(b"still missing: rank 1"), 2)

    def test_others_hear_of_a_death(self):
        done = self.drive(3, "watch", 1)
        self.assertEqual(done.stdout.count(b"heard that rank 1 killed by signal 9"), 2)
        self.assertEqual(done.returncode, 137)

    def test_segments_and_parameters(self):
        done = mpiexec("--bind-to", "none", "-n", 2, DRIVER, NATIVE, "info", ":", DRIVER, NATIVE, "info")
        lines = sorted(done.stdout.decode().splitlines())
        self.assertEqual([re.search(r"appnum=(\d)", line)[1] for line in lines], ["0", "0", "1"])
        for line in lines:
            self.assertIn("ranks=3 ", line)
            self.assertIn("shared=1", line)
            self.assertRegex(line, r"params=[1-9]")

    def test_children_of_a_rank_are_not_the_rank(self):
        done = self.drive(2, "child", f"{DRIVER} {NATIVE} query")
        self.assertEqual(len(re.findall(rb"priority -1: rank \d of job .* is process", done.stdout)), 2)

    def test_wrappers_that_close_descriptors(self):
        done = mpiexec("-n", 2, sys.executable, "-c",
                       f"import subprocess, sys; sys.exit(subprocess.run(['{DRIVER}', '{NATIVE}', 'modex'], close_fds=True).returncode)")
        self.assertEqual((done.returncode, done.stdout.count(b"ok")), (0, 2))

    def test_programs_one_after_another(self):
        done = mpiexec("-n", 2, "sh", "-c", f"{DRIVER} {NATIVE} modex && {DRIVER} {NATIVE} modex")
        self.assertEqual((done.returncode, done.stdout.count(b"ok")), (0, 4))

    def test_nested_launch(self):
        done = mpiexec("-n", 2, "sh", "-c", f"{MPIEXEC} -n 2 {DRIVER} {NATIVE} modex")
        self.assertEqual((done.returncode, done.stdout.count(b"of 2 ok")), (0, 4))

    def test_singleton(self):
        done = subprocess.run([DRIVER, SINGLETON, "modex"], capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (0, b"rank 0 of 1 ok\n"))

    def test_no_silent_singletons(self):
        env = dict(os.environ, PMIX_NAMESPACE="job", PMIX_RANK="0")
        done = subprocess.run([DRIVER, SINGLETON, "modex"], capture_output=True, env=env)
        self.assertEqual(done.returncode, 4)
        self.assertIn(b"PMIX_NAMESPACE=job", done.stdout)
        env["DRIVER_despite_launcher"] = "ok"
        self.assertEqual(subprocess.run([DRIVER, SINGLETON, "modex"], capture_output=True, env=env).returncode, 0)


class Pmix(unittest.TestCase):
    """The PMIx client against the PMIx server of mpiexec."""
    ON = ("--set", "mpiexec.pmix=on")

    def drive(self, ranks, action, argument=None):
        words = [DRIVER, PMIX, action] + ([argument] if argument is not None else [])
        return mpiexec(*self.ON, "-n", ranks, *words)

    def test_exchange(self):
        for ranks in (1, 4):
            done = self.drive(ranks, "modex")
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertEqual(done.stdout.count(b"ok"), ranks)

    def test_abort(self):
        done = self.drive(3, "abort", 1)
        self.assertEqual(done.returncode, 42)
        self.assertIn("It said: the driver was told to", plain(done.stderr))

    def test_crash_and_leave(self):
        self.assertEqual(self.drive(2, "crash", 1).returncode, 139)
        self.assertEqual(self.drive(2, "leave", 1).returncode, 1)

    def test_others_hear_of_a_death(self):
        self.assertEqual(self.drive(3, "watch", 1).stdout.count(b"heard that rank 1"), 2)

    def test_info(self):
        done = mpiexec(*self.ON, "-n", 2, DRIVER, PMIX, "info", ":", DRIVER, PMIX, "info")
        self.assertEqual(sorted(re.findall(rb"appnum=(\d)", done.stdout)), [b"0", b"0", b"1"])
        self.assertEqual(done.stdout.count(b"ranks=3 "), 3)

    def test_fence_with_a_late_rank(self):
        done = self.drive(3, "late", 1)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout.count(b"not all 3 ranks of job"), 2)

    def test_a_library_that_is_not_pmix(self):
        for library, reason in (("libnot.so", b"cannot load the PMIx library libnot.so"),
                                ("libm.so.6", b"the PMIx library libm.so.6 lacks PMIx_Init")):
            done = mpiexec(*self.ON, "-n", 1, DRIVER, PMIX, "modex", env=dict(os.environ, DRIVER_library=library))
            self.assertIn(reason, done.stdout)

    def test_off_sets_nothing(self):
        done = mpiexec("-n", 1, "sh", "-c", "env | grep -c ^PMIX_")
        self.assertEqual(done.stdout, b"0\n")

    def test_no_folder_is_left(self):
        with tempfile.TemporaryDirectory() as tmp:
            mpiexec(*self.ON, "-n", 2, DRIVER, PMIX, "modex", env=dict(os.environ, TMPDIR=tmp))
            self.assertEqual(os.listdir(tmp), [])


if __name__ == "__main__":
    unittest.main()
