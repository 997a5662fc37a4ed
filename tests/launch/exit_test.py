#!/usr/bin/env python3
"""Exit status, environment and binding of the ranks."""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from harness import DRIVER, LIBRARIES, MPIEXEC, NATIVE, SANITIZED, STUCK, mpiexec, plain


class ExitStatus(unittest.TestCase):
    def test_success(self):
        done = mpiexec("-n", 4, "true")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))

    def test_first_non_zero_status(self):
        done = mpiexec("-n", 4, "sh", "-c", "[ $ASHLAR__RANK = 2 ] && exit 7; [ $ASHLAR__RANK = 1 ] && sleep 0.3 && exit 5; exit 0")
        self.assertEqual(done.returncode, 7)
        self.assertRegex(plain(done.stderr), r"rank 2 of 4 \(sh, .*\) ended with exit code 7\. Rank 1 did not return 0 either\. $")

    def test_a_rank_alone_is_as_without_mpiexec(self):
        done = mpiexec("-n", 1, "sh", "-c", "exit 3")
        self.assertEqual((done.returncode, done.stderr), (3, b""))

    def test_other_ranks_finish_when_one_without_mpi_returns_non_zero(self):
        done = mpiexec("-n", 2, "sh", "-c", "[ $ASHLAR__RANK = 0 ] && exit 3; sleep 0.3; echo finished")
        self.assertEqual((done.returncode, done.stdout), (3, b"finished\n"))

    def test_signal(self):
        began = time.monotonic()
        done = mpiexec("-n", 4, "sh", "-c", "[ $ASHLAR__RANK = 2 ] && kill -SEGV $$; sleep 20")
        self.assertEqual(done.returncode, 128 + signal.SIGSEGV)
        self.assertRegex(plain(done.stderr), r"rank 2 of 4 \(sh, process \d+ on .*\) was killed by signal 11 "
                                             r"\(SIGSEGV, segmentation fault\).*The other 3 ranks were stopped\.")
        self.assertLess(time.monotonic() - began, 10)

    def test_a_rank_that_ends_is_named_and_not_those_that_noticed_first(self):
        done = mpiexec("-n", 3, DRIVER, NATIVE, "blame", "1")
        self.assertEqual(done.returncode, 128 + signal.SIGSEGV)
        self.assertRegex(plain(done.stderr), r"rank 1 of 3 .* was killed by signal 11 \(SIGSEGV, segmentation fault\).* "
                                             r"The other 2 ranks were stopped\. $")

    def test_equal_errors_of_many_ranks_are_one_paragraph(self):
        done = mpiexec("-n", 8, DRIVER, NATIVE, "aborts", "5")
        self.assertEqual(done.returncode, 6)
        self.assertRegex(plain(done.stderr), r"^mpiexec: rank \d of 8 .* aborted the job with code 6, after .* "
                         r"7 ranks \(0-4 and 6-7\) said: rank 0-4 and 6-7: argument dest is 10-14 and 16-17, but there are ranks 0\.\.3 "
                         r"Rank 5 said: the message is too long $")

    def test_an_abort_waits_for_no_rank_that_computes(self):
        began = time.monotonic()
        done = mpiexec("-n", 3, DRIVER, NATIVE, "abort", "1")
        self.assertIn("It said: the driver was told to", plain(done.stderr))
        self.assertIn("The other 2 ranks were stopped.", plain(done.stderr))
        self.assertLess(time.monotonic() - began, 10)

    def test_a_rank_that_blames_one_that_lives_is_named_after_a_moment(self):
        began = time.monotonic()
        done = mpiexec("-n", 2, DRIVER, NATIVE, "blame", "1!")
        self.assertEqual(done.returncode, 58)
        self.assertRegex(plain(done.stderr), r"rank 0 of 2 .* aborted the job with code 58.*It said: a peer is gone")
        self.assertLess(time.monotonic() - began, 10)

    def test_ranks_that_resist_are_killed(self):
        began = time.monotonic()
        done = mpiexec("-n", 3, "sh", "-c", "[ $ASHLAR__RANK = 0 ] && { sleep 0.2; kill -KILL $$; }; trap '' TERM; while :; do sleep 0.1; done")
        self.assertEqual(done.returncode, 137)
        self.assertLess(time.monotonic() - began, 10)

    def test_a_library_that_the_loader_does_not_find(self):
        with tempfile.TemporaryDirectory() as folder:
            moved = os.path.join(folder, "moved")  # its run path is relative to where it was built
            shutil.copy(STUCK, moved)
            for ranks in 1, 2:
                done = mpiexec("-n", ranks, moved)
                self.assertEqual(done.returncode, 127)
                self.assertRegex(plain(done.stderr),
                                 r"ended with exit code 127.* The dynamic loader did not find libmpi_abi\.so\.1: .*"
                                 r"mpicc of this installation.* LD_LIBRARY_PATH=" + re.escape(LIBRARIES) + r"\. $")
            # Whatever else ends with 127 is not explained so.
            for words in ("sh", "-c", "exit 127"), ("-genv", "LD_LIBRARY_PATH", LIBRARIES, "sh", "-c", "no-such-command"):
                done = mpiexec("-n", 2, *words)
                self.assertEqual(done.returncode, 127)
                self.assertNotIn("loader", plain(done.stderr))

    def test_a_program_of_another_mpi_library(self):
        program = os.path.join(os.path.dirname(STUCK), "other_program")
        done = mpiexec("-n", 2, program)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(plain(done.stderr),
                         r"none of the 2 ranks joined the job: .*other_program needs libmpich\.so\.12, which belongs to "
                         r"another MPI library, and each process ran alone\. Compile it with the mpicc of this installation")
        program = os.path.join(os.path.dirname(STUCK), "other_abi_program")
        library = os.path.join(os.path.dirname(STUCK), "other_abi", "libmpi_abi.so.1")
        alone = r"none of the 2 ranks joined the job: .*other_abi_program ran with " + re.escape(library) + \
            r", which belongs to another MPI library, and each process ran alone\. Run it with LD_LIBRARY_PATH=" + \
            re.escape(LIBRARIES) + ", or"
        self.assertRegex(plain(mpiexec("-n", 2, program).stderr), alone)
        # The variable comes before the program's run path.
        self.assertNotIn("ran alone", plain(mpiexec("-n", 2, "-genv", "LD_LIBRARY_PATH", LIBRARIES, program).stderr))
        # One process is alone in any case; programs without MPI never join.
        for words in (1, program), (2, "true"), (2, STUCK, "nothing"):
            self.assertNotIn("ran alone", plain(mpiexec("-n", *words).stderr))

    def test_program_not_found(self):
        done = mpiexec("-n", 2, "no-such-program-here")
        self.assertEqual(done.returncode, 127)
        self.assertIn("no program no-such-program-here", plain(done.stderr))

    def test_library_missing_in_one_segment_stops_the_job(self):
        done = mpiexec("-n", 1, DRIVER, NATIVE, "modex", ":", "-n", 1, "sh", "-c", "sleep 0.3; exit 127")
        self.assertEqual(done.returncode, 127)
        self.assertIn("rank 1 of 2", plain(done.stderr))

    def test_programs_that_cannot_run(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "script\x1b[31m")
            with open(path, "w") as file:
                file.write("#!/no/such/interpreter\n")
            os.chmod(path, 0o755)
            for words, cwd in ((["-n", 2, path], None), (["-n", 2, "-wdir", folder, "./script\x1b[31m"], "/")):
                done = mpiexec(*words, cwd=cwd)
                self.assertEqual(done.returncode, 127)
                self.assertIn("script\\x1b[31m: the interpreter that it asks for in its first line, /no/such/interpreter",
                              plain(done.stderr))

    def test_few_descriptors_are_told(self):
        done = subprocess.run(["bash", "-c", f"ulimit -n 24; {MPIEXEC} -n 20 true"], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 127)
        self.assertIn("Too many open files (the limit on open files, ulimit -n, is 24)", plain(done.stderr))

    def test_unknown_option(self):
        done = mpiexec("--tag-outptu", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"Did you mean --tag-output?", done.stderr)

    def test_other_hosts(self):
        done = mpiexec("--launch-agent", "false", "-host", "elsewhere", "true")
        self.assertEqual(done.returncode, 127)
        self.assertIn("cannot start ranks on host elsewhere: it ended with exit status 1", plain(done.stderr))

    def test_version_and_help(self):
        self.assertIn(b"Ashlar", mpiexec("--version").stdout)
        self.assertIn(b"--bind-to", mpiexec("--help").stdout)

    def test_timeout(self):
        done = mpiexec("--timeout", "0.3", "-n", 3, "sh", "-c", "[ $ASHLAR__RANK = 1 ] || sleep 20")
        self.assertEqual(done.returncode, 124)
        self.assertIn("time limit of 0.3 s is over; ranks 0 and 2 of 3", plain(done.stderr))


class Environment(unittest.TestCase):
    def test_wdir_env_x_genv(self):
        done = mpiexec("-genv", "G", "g", "-n", 1, "-wdir", "/usr", "-env", "A", "1 2", "-x", "B=3", "sh", "-c",
                       "echo $(pwd) $G $A $B", ":", "-n", 1, "sh", "-c", "echo $G ${A-none}")
        self.assertEqual(sorted(done.stdout.splitlines()), [b"/usr g 1 2 3", b"g none"])

    def test_path(self):
        with tempfile.TemporaryDirectory() as tmp:
            with open(tmp + "/own-program", "w") as file:
                file.write("echo found $0\n")  # no #! line, as a shell would run it
            os.chmod(tmp + "/own-program", 0o755)
            done = mpiexec("-path", tmp, "own-program")
            self.assertEqual(done.stdout.decode(), f"found {tmp}/own-program\n")

    def test_ranks_know_their_numbers(self):
        done = mpiexec("-n", 3, "sh", "-c", "echo $ASHLAR__RANK $ASHLAR__LOCAL_RANK $ASHLAR__SIZE")
        self.assertEqual(sorted(done.stdout.splitlines()), [b"0 0 3", b"1 1 3", b"2 2 3"])

    @unittest.skipIf(SANITIZED, "sanitizers need their surroundings")
    def test_nothing_else_is_added(self):
        done = mpiexec("-n", 1, "env", env={"PATH": "/usr/bin:/bin", "MINE": "1"})
        names = {line.split(b"=")[0] for line in done.stdout.splitlines()}
        self.assertEqual({n for n in names if not n.startswith(b"ASHLAR__")}, {b"PATH", b"MINE"})

    def test_descriptors(self):
        done = mpiexec("-n", 2, "sh", "-c", "[ $ASHLAR__RANK = 1 ] || ls -l /proc/self/fd")
        links = re.findall(rb"(\d+) -> (\S+)", done.stdout)
        high = sorted(target for number, target in links if int(number) > 9)
        self.assertEqual([re.sub(rb"\d+", b"", t) for t in high], [b"/memfd:ashlar-board", b"/memfd:ashlar-shared", b"pipe:[]"])


class Binding(unittest.TestCase):
    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two processors")
    def test_shares_cover_the_machine(self):
        done = mpiexec("-n", 2, "nproc")
        self.assertEqual(sum(map(int, done.stdout.split())), len(os.sched_getaffinity(0)))

    def test_no_binding_when_there_are_more_ranks_than_cores(self):
        cpus = len(os.sched_getaffinity(0))
        done = mpiexec("-n", cpus + 1, "nproc")
        self.assertEqual(set(done.stdout.split()), {b"%d" % cpus})

    def test_inside_a_narrow_affinity(self):
        one = sorted(os.sched_getaffinity(0))[-1]
        done = mpiexec("--bind-to", "core", "-n", 2, "nproc", preexec_fn=lambda: os.sched_setaffinity(0, {one}))
        self.assertEqual((done.returncode, done.stdout), (0, b"1\n1\n"))

    def test_show_placement_of_another_machine(self):
        env = dict(os.environ, HWLOC_SYNTHETIC="pack:2 [numa] core:4 pu:2")
        done = mpiexec("--show-placement", "-n", 4, "prog", env=env)
        self.assertEqual(done.returncode, 0)
        lines = done.stdout.decode().splitlines()
        self.assertEqual(len(lines), 4)
        self.assertIn("cores 0-1 (cpus 0-3)", lines[0])
        done = mpiexec("--show-placement", "--map-by", "socket", "-n", 2, "prog", env=env)
        self.assertIn("core 4", done.stdout.decode().splitlines()[1])

    def test_report_and_explain(self):
        done = mpiexec("--report-bindings", "--explain=launch", "-n", 2, "true")
        self.assertIn(b"rank 1: true:", done.stderr)
        self.assertIn(b"binding", done.stderr)


if __name__ == "__main__":
    unittest.main()
