#!/usr/bin/env python3
"""Standard input, output and error: exact, whole lines, never blocking."""
import hashlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from harness import DRIVER, MPIEXEC, NATIVE, contents, mpiexec, plain


class Streams(unittest.TestCase):
    def test_stdin_of_ten_megabytes_arrives_exactly(self):
        data = os.urandom(10_000_000)
        done = mpiexec("-n", 3, "sh", "-c", "[ $ASHLAR__RANK != 0 ] || md5sum", input=data, stdin=None)
        self.assertEqual(done.stdout.split()[0].decode(), hashlib.md5(data).hexdigest())

    def test_stdin_of_a_slow_reader(self):
        data = b"".join(b"%d\n" % i for i in range(200_000))
        done = mpiexec("-n", 2, "sh", "-c", "[ $ASHLAR__RANK != 0 ] || { sleep 0.5; wc -l; }", input=data, stdin=None)
        self.assertEqual(done.stdout, b"200000\n")

    def test_stdin_of_a_chosen_rank(self):
        done = mpiexec("--stdin", 1, "-n", 3, "sh", "-c", "echo $ASHLAR__RANK $(cat)", input=b"word", stdin=None)
        self.assertEqual(sorted(done.stdout.splitlines()), [b"0", b"1 word", b"2"])
        done = mpiexec("--stdin", "none", "-n", 2, "cat", input=b"word", stdin=None)
        self.assertEqual(done.stdout, b"")

    def test_what_no_rank_reads_stays_for_the_next_program(self):
        done = subprocess.run(["sh", "-c", f"for i in 1 2; do {MPIEXEC} -n 2 true; read line; echo got $line; done"],
                              input=b"a\nb\n", capture_output=True, timeout=60)
        self.assertEqual(done.stdout, b"got a\ngot b\n")

    def test_lines_of_sixteen_ranks(self):
        program = "import os\nr = os.environ['ASHLAR__RANK']\nfor i in range(10000): print(r, i, 'x' * (i % 100))"
        done = mpiexec("-n", 16, sys.executable, "-c", program, timeout=120)
        following = [0] * 16
        for line in done.stdout.decode().splitlines():
            rank, i, text = line.split(" ")
            self.assertEqual((int(i), len(text)), (following[int(rank)], int(i) % 100))
            following[int(rank)] += 1
        self.assertEqual(following, [10000] * 16)

    def test_unbuffered_lines_of_two_programs_do_not_mix(self):
        program = "import os, sys\nfor i in range(2000):\n for c in 'abcdefgh': os.write(1, c.encode())\n os.write(1, b'\\n')"
        done = mpiexec("-n", 4, sys.executable, "-c", program)
        self.assertEqual(done.stdout, b"abcdefgh\n" * 8000)

    def test_binary_output_of_one_rank(self):
        data = os.urandom(3_000_000)
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            for ranks in (1, 2):
                done = mpiexec("-n", ranks, "sh", "-c", f"[ $ASHLAR__RANK != 0 ] || cat {file.name}")
                self.assertEqual(hashlib.md5(done.stdout).digest(), hashlib.md5(data).digest())

    def test_unfinished_last_line(self):
        self.assertEqual(mpiexec("-n", 2, "sh", "-c", "[ $ASHLAR__RANK != 0 ] || printf tail").stdout, b"tail")

    def test_last_words_of_a_killed_rank(self):
        done = mpiexec("-n", 2, "sh", "-c", "echo last words; kill -KILL $$")
        self.assertIn(b"last words\n", done.stdout)

    def test_stderr_is_separate(self):
        done = mpiexec("-n", 2, "sh", "-c", "echo out; echo err >&2")
        self.assertEqual((done.stdout, done.stderr), (b"out\n" * 2, b"err\n" * 2))

    def test_equal_warnings_of_many_ranks_are_one_paragraph(self):
        said = 'echo "ashlar: rank $ASHLAR__RANK of $ASHLAR__SIZE on node1: warning: no room for $((ASHLAR__RANK + 4)) messages" >&2'
        done = mpiexec("-n", 6, "sh", "-c", said)
        self.assertEqual(done.stderr, b"ashlar: ranks 0-5 of 6 on node1: warning: no room for 4-9 messages\n")
        for options in ["--tag-output"], []:  # one rank's stream stays as it is, and so does one warning
            done = mpiexec(*options, "-n", 2, "sh", "-c", f"[ $ASHLAR__RANK = 0 ] || {{ {said}; echo text >&2; }}")
            tag = b"[1] " if options else b""
            self.assertEqual(done.stderr, tag + b"ashlar: rank 1 of 2 on node1: warning: no room for 5 messages\n" + tag + b"text\n")

    def test_a_warning_is_held_for_a_moment_only(self):
        line = "[ $ASHLAR__RANK = 0 ] && { echo 'ashlar: rank 0 of 2: warning: w' >&2; sleep 20; }"
        job = subprocess.Popen([MPIEXEC, "-n", "2", "sh", "-c", line], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        began = time.monotonic()
        self.assertEqual(job.stderr.readline(), b"ashlar: rank 0 of 2: warning: w\n")
        self.assertLess(time.monotonic() - began, 10)
        job.terminate()
        job.communicate()

    def test_tags(self):
        done = mpiexec("--tag-output", "-n", 2, "sh", "-c", "echo a; printf b")
        self.assertEqual(sorted(done.stdout.splitlines()), [b"[0] a", b"[0] b", b"[1] a", b"[1] b"])

    def test_times(self):
        stamp = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}[+-]\d\d:\d\d "
        for ranks in 1, 2:  # a single rank would else have mpiexec's own streams
            done = mpiexec("--timestamp-output", "-n", ranks, "sh", "-c", "echo a; printf b >&2")
            self.assertRegex(done.stdout, rb"\A(" + stamp + rb"a\n){%d}\Z" % ranks)
            self.assertRegex(done.stderr, rb"\A" + stamp + rb"b(\n" + stamp + rb"b){%d}\Z" % (ranks - 1))
        done = mpiexec("--output", "tag,timestamp", "-n", 2, "sh", "-c", "echo a")
        self.assertRegex(done.stdout, rb"\A(" + stamp + rb"\[[01]\] a\n){2}\Z")

    def test_files(self):
        with tempfile.TemporaryDirectory() as tmp:
            done = mpiexec("--output", tmp + "/logs/", "-n", 11, "sh", "-c", "echo out $ASHLAR__RANK; echo err >&2")
            self.assertEqual((done.stdout, done.stderr), (b"", b""))
            self.assertEqual(contents(tmp + "/logs/rank.07.out"), "out 7\n")
            self.assertEqual(contents(tmp + "/logs/rank.10.err"), "err\n")
            mpiexec("--output", tmp + "/new", "-n", 2, "sh", "-c", "echo out; echo err >&2")
            self.assertEqual(sorted(os.listdir(tmp + "/new")), ["rank.0.err", "rank.0.out", "rank.1.err", "rank.1.out"])
            done = mpiexec("--output", tmp + "/%q", "-n", 2, "true")
            self.assertEqual(done.returncode, 2)
            self.assertIn("%q is not known - There are %r", plain(done.stderr))
            mpiexec("--output", tmp + "/both.%r", "-n", 2, "sh", "-c", "echo out; echo err >&2")
            self.assertEqual(contents(tmp + "/both.1"), "out\nerr\n")
            done = mpiexec("--output", "/proc/nowhere/%r", "-n", 2, "true")
            self.assertEqual(done.returncode, 127)
            self.assertIn("cannot write to /proc/nowhere/0: No such file or directory. The output of rank 0 goes there.", plain(done.stderr))

    def test_a_reader_that_leaves(self):
        began = time.monotonic()
        done = subprocess.run(["bash", "-c", f"{MPIEXEC} -n 3 yes | head -2; exit ${{PIPESTATUS[0]}}"],
                              capture_output=True, timeout=30)
        self.assertEqual((done.stdout, done.stderr, done.returncode), (b"y\ny\n", b"", 141))
        self.assertLess(time.monotonic() - began, 10)

    def shell(self, line):
        return subprocess.run(["bash", "-c", line], timeout=60, capture_output=True, stdin=subprocess.DEVNULL)

    def test_a_full_disk_is_told_and_the_ranks_go_on(self):
        with tempfile.TemporaryDirectory() as folder:
            script = f"for i in 1 2 3; do echo line $i; sleep 0.1; done; echo done >>{folder}/mark"
            done = self.shell(f"{MPIEXEC} -n 2 sh -c '{script}' >/dev/full")
            self.assertEqual((done.returncode, plain(done.stderr)),
                             (1, "mpiexec: standard output cannot be written: No space left on device. The ranks go on, and "
                                 "what they write there from now on is lost "))
            self.assertEqual(contents(folder + "/mark"), "done\n" * 2)
        self.assertEqual(self.shell(f"{MPIEXEC} -n 2 sh -c 'echo line >&2' 2>/dev/full").returncode, 1)

    def test_a_full_disk_hides_no_exit_status(self):
        done = self.shell(f"{MPIEXEC} -n 2 sh -c 'echo x; sleep 0.2; exit 7' >/dev/full")
        self.assertEqual(done.returncode, 7)
        self.assertIn("cannot be written", plain(done.stderr))
        # Without a word that is lost, there is nothing to tell.
        done = self.shell(f"{MPIEXEC} -n 2 true >/dev/full")
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def on_small_disk(self, *words, before="true"):
        """mpiexec with --output on a disk of 64 KiB, and what is on it afterwards."""
        with tempfile.TemporaryDirectory() as folder:
            script = (f"mount -t tmpfs -o size=64k none {folder} && {{ {before.replace('DISK', folder)}; }} && "
                      f'"$@"; status=$?; cat {folder}/rank.*; exit $status')
            done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", MPIEXEC,
                                   "--output", folder, *map(str, words)], capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
            if b"unshare" in done.stderr or b"mount:" in done.stderr:
                self.skipTest("no file system can be mounted here")
            return done, folder

    def test_files_of_ranks_that_are_cut_short(self):
        # The ranks themselves do not look whether they can write.
        done, folder = self.on_small_disk("-n", 2, "sh", "-c", "sleep 0.3; seq 20000 2>/dev/null; exit 0")
        self.assertEqual(len(done.stdout), 65536)
        self.assertEqual((done.returncode, plain(done.stderr)),
                         (1, f"mpiexec: --output {folder}: the disk is full, and the files of ranks 0-1 of 2 end where it was: what "
                             "these ranks wrote to them afterwards is lost "))
        done, _ = self.on_small_disk("-n", 2, "sh", "-c", "sleep 0.3; seq 20000 2>/dev/null; exit 7")
        self.assertEqual(done.returncode, 7)
        self.assertIn("the disk is full", plain(done.stderr))
        done, _ = self.on_small_disk("-n", 2, "sh", "-c", "seq 2000")
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_a_disk_without_room_is_refused_before_a_rank_runs(self):
        done, folder = self.on_small_disk("-n", 2, "echo", "said", before="head -c 65536 /dev/zero >DISK/other")
        self.assertEqual(done.returncode, 127)
        self.assertIn(f"cannot write to {folder}/rank.0.out: No space left on device. The output of rank 0 goes there.", plain(done.stderr))
        # What is overwritten makes room.
        done, _ = self.on_small_disk("-n", 2, "echo", "said", before="head -c 65536 /dev/zero >DISK/rank.0.out")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"said\n" * 2, b""))

    def test_the_limit_on_the_size_of_files(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.shell(f"ulimit -f 8192; {MPIEXEC} -n 2 sh -c 'yes | head -c 10000000' >{folder}/out")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("standard output cannot be written: File too large", plain(done.stderr))
            # For the ranks the signal is as it was.
            done = self.shell(f"ulimit -f 8192; {MPIEXEC} -n 1 sh -c 'exec yes >{folder}/own'")
            self.assertEqual(done.returncode, 128 + signal.SIGXFSZ)

    def test_help_that_cannot_be_written(self):
        done = self.shell(f"{MPIEXEC} --help >/dev/full")
        self.assertEqual((done.returncode, plain(done.stderr)),
                         (1, "mpiexec: standard output cannot be written: No space left on device "))

    def test_a_slow_reader_holds_the_ranks_not_the_loop(self):
        job = subprocess.Popen([MPIEXEC, "-n", "2", "yes"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        time.sleep(0.5)
        with open(f"/proc/{job.pid}/status") as status:
            self.assertLess(int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]), 30_000)
        job.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        rest = job.stdout.read()
        self.assertEqual(job.wait(20), 128 + signal.SIGTERM)
        self.assertEqual(rest.strip(b"y\n"), b"")
        job.stdout.close()

    def test_closed_streams(self):
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            done = subprocess.run(["sh", "-c", f"{MPIEXEC} -n 2 {DRIVER} {NATIVE} modex {closed}"],
                                  capture_output=True, timeout=30)
            self.assertEqual(done.returncode, 0, closed)
            self.assertEqual(done.stdout.count(b"ok"), 0 if ">&- " in closed + " " and closed != "2>&-" else 2, closed)

    def test_children_left_behind_do_not_hold_the_job(self):
        began = time.monotonic()
        done = mpiexec("-n", 2, "sh", "-c", "sleep 30 & echo done")
        self.assertEqual((done.returncode, done.stdout), (0, b"done\ndone\n"))
        self.assertLess(time.monotonic() - began, 10)

    def test_children_left_behind_and_an_unfinished_line(self):
        done = mpiexec("-n", 2, "sh", "-c", "printf unfinished; sleep 5 & exit 0")
        self.assertEqual((done.returncode, done.stdout), (0, b"unfinished\nunfinished"))

    def test_exact_bytes_to_a_full_pipe_at_the_end(self):
        done = subprocess.run(["bash", "-c", f"{MPIEXEC} -n 2 sh -c 'seq 100000' | (sleep 0.5; wc -l)"],
                              capture_output=True, timeout=30, stdin=subprocess.DEVNULL)
        self.assertEqual(done.stdout, b"200000\n")


class Terminal(unittest.TestCase):
    def talk(self, words, conversation, seconds=10):
        """Runs words on a terminal of its own; conversation: pairs of what to wait for and what to type."""
        try:
            pid, terminal = pty.fork()
        except OSError as error:
            self.skipTest(f"no terminal can be made here: {error}")
        if pid == 0:
            os.execv(words[0], words)
        seen = b""
        end = time.monotonic() + seconds
        conversation = list(conversation)
        while time.monotonic() < end:
            if conversation and conversation[0][0] in seen:
                os.write(terminal, conversation.pop(0)[1])
            if not select.select([terminal], [], [], 0.05)[0]:
                continue
            try:
                got = os.read(terminal, 4096)
            except OSError:
                break
            if not got:
                break
            seen += got
        else:
            os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
        os.close(terminal)
        return seen, os.waitstatus_to_exitcode(status)

    def test_a_question_is_seen_before_it_is_answered(self):
        for ranks in ("1", "3"):
            seen, code = self.talk(
                [MPIEXEC, "-n", ranks, "sh", "-c", "[ $ASHLAR__RANK = 0 ] || exit 0; printf 'name? '; read x; echo hello $x"],
                [(b"name? ", b"Ann\n")])
            self.assertIn(b"hello Ann", seen)
            self.assertEqual(code, 0)

    def test_end_of_input(self):
        seen, code = self.talk([MPIEXEC, "-n", "2", "sh", "-c", "[ $ASHLAR__RANK = 0 ] || exit 0; echo ready; wc -l"],
                               [(b"ready", b"one\ntwo\n"), (b"two", b"\x04")])
        self.assertRegex(seen, rb"\b2\r\n")
        self.assertEqual(code, 0)

    def test_interrupt_key(self):
        for ranks in ("1", "2"):
            seen, code = self.talk([MPIEXEC, "-n", ranks, "sh", "-c", "echo up; exec sleep 30"], [(b"up", b"\x03")])
            self.assertEqual(code, 130, seen)

    def test_a_single_rank_has_the_terminal(self):
        seen, _ = self.talk([MPIEXEC, "-n", "1", "sh", "-c", "test -t 0 && test -t 1 && echo terminal"], [])
        self.assertIn(b"terminal", seen)


if __name__ == "__main__":
    unittest.main()
