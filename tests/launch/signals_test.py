#!/usr/bin/env python3
"""Signals passed on, and nothing left when mpiexec dies."""
import signal
import subprocess
import time
import unittest

from harness import MPIEXEC, alive, contents, mpiexec, plain, wait_until


class Signals(unittest.TestCase):
    def start(self, script, ranks=2):
        job = subprocess.Popen([MPIEXEC, "-n", str(ranks), "sh", "-c", script], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        for _ in range(ranks):
            self.assertEqual(job.stdout.readline(), b"ready\n")
        return job

    def test_user_signals_are_passed_on(self):
        job = self.start("trap 'echo usr1; exit 4' USR1; echo ready; while :; do sleep 0.05; done")
        job.send_signal(signal.SIGUSR1)
        self.assertEqual(job.stdout.read(), b"usr1\nusr1\n")
        self.assertEqual(job.wait(10), 4)

    def test_terminate(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            job = self.start("echo ready; exec sleep 30")
            job.send_signal(number)
            self.assertEqual(job.wait(10), 128 + number)
            self.assertIn(f"ended by signal {number:d} ", plain(job.stderr.read()))

    def test_ranks_may_clean_up_and_succeed(self):
        job = self.start("trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.05; done")
        job.send_signal(signal.SIGTERM)
        self.assertEqual(job.stdout.read(), b"saved\nsaved\n")
        self.assertEqual(job.wait(10), 0)
        self.assertRegex(plain(job.stderr.read()), r"mpiexec: signal 15 \(SIGTERM, terminated\) was passed on to the ranks, "
                                                   r"and all of them ended with exit code 0, after [0-9.]+ s $")

    def test_the_second_interrupt_kills(self):
        job = self.start("trap '' INT TERM; echo ready; while :; do sleep 0.05; done")
        job.send_signal(signal.SIGINT)
        time.sleep(0.2)
        self.assertIsNone(job.poll())
        job.send_signal(signal.SIGINT)
        self.assertEqual(job.wait(10), 130)

    def test_ranks_that_outlive_a_signal_are_told_of(self):
        job = self.start("trap '' TERM; echo ready; while :; do sleep 0.1; done")
        job.send_signal(signal.SIGTERM)
        said = b""
        while "a second one kills them" not in plain(said):
            line = job.stderr.readline()
            self.assertNotEqual(line, b"", said)
            said += line
        self.assertRegex(plain(said), r"signal 15 \(SIGTERM, terminated\) was passed on, and 2 of 2 ranks still run")
        job.send_signal(signal.SIGTERM)
        self.assertEqual(job.wait(10), 143)

    def test_stop_and_continue(self):
        job = self.start("echo ready; exec sleep 30")
        def sleepers():
            children = contents(f"/proc/{job.pid}/task/{job.pid}/children").split()
            return [pid for pid in children if contents(f"/proc/{pid}/comm") == "sleep\n"]
        self.assertTrue(wait_until(lambda: len(sleepers()) == 2))
        ranks = sleepers()

        def states():
            return {contents(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()[0] for pid in [*ranks, job.pid]}
        job.send_signal(signal.SIGTSTP)
        self.assertTrue(wait_until(lambda: states() == {"T"}), states())
        job.send_signal(signal.SIGCONT)
        self.assertTrue(wait_until(lambda: states() <= {"S", "R"}), states())
        job.terminate()
        self.assertEqual(job.wait(10), 143)

    def test_ignored_signals_stay_ignored(self):
        job = subprocess.Popen(["sh", "-c", f"trap '' HUP; exec {MPIEXEC} -n 1 sh -c 'echo ready; kill -HUP $$; exit 6'"],
                               stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.assertEqual(job.communicate()[0], b"ready\n")
        self.assertEqual(job.returncode, 6)


class Deaths(unittest.TestCase):
    """kill -9 of mpiexec: nothing may be left."""

    def kill_launcher(self, script, ranks=4):
        job = subprocess.Popen([MPIEXEC, "-n", str(ranks), "sh", "-c", script], stdout=subprocess.PIPE,
                               stdin=subprocess.DEVNULL)
        pids = [int(job.stdout.readline()) for _ in range(ranks)]
        self.assertTrue(all(map(alive, pids)))
        with open(f"/proc/{job.pid}/task/{job.pid}/children") as file:
            pids += [int(pid) for pid in file.read().split()]  # the guard too
        job.kill()
        job.wait()
        self.assertTrue(wait_until(lambda: not any(map(alive, pids))), pids)
        job.stdout.close()

    def test_direct_children(self):
        self.kill_launcher("echo $$; exec sleep 100")

    def test_grandchildren(self):
        self.kill_launcher("sh -c 'echo $$; sleep 100; true'; true")

    def test_grandchildren_die_with_a_failing_job(self):
        done = mpiexec("-n", 2, "sh", "-c", "[ $ASHLAR__RANK = 1 ] && { sleep 0.3; kill -SEGV $$; }; "
                                            "sh -c 'trap \"\" TERM; echo $$; while :; do sleep 0.1; done'; true")
        self.assertEqual(done.returncode, 139)
        self.assertTrue(wait_until(lambda: not alive(int(done.stdout))))


if __name__ == "__main__":
    unittest.main()
