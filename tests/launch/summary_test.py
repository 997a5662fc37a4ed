#!/usr/bin/env python3
"""mpiexec --summary: the lines at the end of a job, and that their figures are those of the job."""
import os
import re
import subprocess
import unittest

from harness import MPIEXEC, SANITIZED, SUPPORT, mpiexec, plain

PROGRAM = os.path.join(os.path.dirname(os.environ["STUCK"]), "trace_program")
WRAPPERS = os.path.join(SUPPORT, "libashlar_tool.so")
ENVIRONMENT = dict(os.environ)
if SANITIZED:   # its library comes after ours
    ENVIRONMENT["ASAN_OPTIONS"] = "verify_asan_link_order=0:detect_leaks=0"


def run(*words, ranks=4, options=("--summary",), status=0):
    done = mpiexec(*options, "-n", ranks, PROGRAM, *words, env=ENVIRONMENT, timeout=30)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done


def messages(source, to):
    return 1 + (source * 3 + to * 5) % 7


class Summary(unittest.TestCase):
    def lines(self, *words, **options):
        text = run(*words, **options).stderr.decode()
        found = text[text.index("summary of"):].splitlines()
        self.assertLessEqual(len(found), 25)
        return found

    def test_its_form(self):
        lines = self.lines("pattern")
        self.assertRegex(lines[0], r"^summary of \S*trace_program: 4 ranks on \S+, [\d.]+ m?s$")
        for line, pattern in zip(lines[1:], (r"  in MPI +min .* \(rank \d\) +mean .* max .* \(rank \d\) +[\d.]+ %$",
                                             r"  computing +min .* load balance [01]\.\d\d$",
                                             r"  messages +\d+ with .*: self .* in \d+, shm .* in \d+$|  messages .*: shm .*self",
                                             r"  memory +min .*MiB")):
            self.assertRegex(line, pattern)

    def test_messages_are_counted(self):
        line = self.lines("pattern")[3]
        count = sum(messages(a, b) for a in range(4) for b in range(4))
        self.assertEqual(re.search(r"messages +(\d+) with", line)[1], str(count))
        self.assertEqual(sum(map(int, re.findall(r" in (\d+)", line))), count)

    def test_calls_and_their_ranks(self):
        lines = self.lines("imbalance")
        barrier = next(line for line in lines if "MPI_Barrier" in line).split()
        self.assertEqual(barrier[1], "80")
        self.assertRegex(" ".join(lines), r"computing .* max .* \(rank 3\)")

    def test_advice_names_its_parameter(self):
        text = "\n".join(self.lines("imbalance"))
        self.assertRegex(text, r"try  rank 3 computes for \S+ m?s, the mean is .*: the others wait for it\n +tool.trace.file: ")

    def test_a_killed_rank(self):
        text = "\n".join(self.lines("killed", status=137))
        self.assertRegex(text, r"note +\d of 4 ranks did not finalise MPI; rank 3 ended by signal 9")
        self.assertIn("MPI_Send ", text)

    def test_threads_are_counted_together(self):
        lines = self.lines("threads", ranks=2)
        self.assertIn("48,000", next(line for line in lines if "MPI_Sendrecv " in line))

    def test_standard_output_is_the_programs(self):
        done = run("pattern")
        self.assertEqual(done.stdout, b"")

    def test_which_calls(self):
        text = "\n".join(self.lines("null", "1000", options=("--summary", "--set", "tool.summary.calls=MPI_Comm_rank,MPI_Send")))
        self.assertIn("MPI_Comm_rank", text)
        self.assertRegex(text, r"MPI_Send +4,000 ")
        self.assertNotIn("MPI_Finalize", text)

    def test_a_call_that_does_not_exist(self):
        done = run("null", options=("--summary", "--set", "tool.summary.calls=MPI_Sent"))
        self.assertIn("tool.summary does not watch this job: 'MPI_Sent' is neither", plain(done.stderr))
        self.assertEqual(plain(done.stderr).count("does not watch"), 1)

    def test_a_buffer_that_is_too_small(self):
        done = run("null", options=("--summary", "--set", "tools.buffer=64KiB"))
        self.assertRegex(plain(done.stderr), r"tool.summary does not watch this job: it needs \d+ bytes for itself, and tools.buffer leaves it \d+")

    def test_more_ranks_than_a_line_lists(self):
        self.assertRegex(self.lines("many", "3", ranks=40)[0], "40 ranks")

    def test_without_mpiexec(self):
        done = subprocess.run([PROGRAM, "null", "10"], capture_output=True, timeout=60,
                              env={**ENVIRONMENT, "ASHLAR_tool": "summary", "LD_PRELOAD": WRAPPERS})
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        self.assertRegex(done.stderr.decode(), r"summary of \S*trace_program: 1 ranks")


if __name__ == "__main__":
    unittest.main()
