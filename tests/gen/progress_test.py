#!/usr/bin/env python3
"""What config/progress.py makes of the output of ninja and ctest."""
import os
import subprocess
import sys
import unittest

PROGRESS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../config/progress.py")


def shown(text, every="1000"):
    done = subprocess.run([sys.executable, PROGRESS, "working", every], input=text.encode(), capture_output=True, check=True)
    return done.stdout.decode().splitlines()


class Progress(unittest.TestCase):
    def test_steps_are_counted_and_not_passed_on(self):
        lines = shown("[1/3] Building CXX object a.cc.o\n[2/3] Linking CXX executable bin/b\n")
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], r"^ +0:\d\d  working: 2 of 3, (for \d+ s )?bin/b$")

    def test_errors_of_a_build_pass_through(self):
        lines = shown("[1/3] Building CXX object a.cc.o\nFAILED: a.cc.o\na.cc:1:2: error: no\nninja: build stopped.\n")
        self.assertEqual(lines[:3], ["FAILED: a.cc.o", "a.cc:1:2: error: no", "ninja: build stopped."])

    def test_tests_that_pass_are_counted_and_others_shown(self):
        lines = shown("Test project /b\n"
                      "      Start   1: one\n"
                      "  1/3 Test   #1: one ....   Passed    0.01 sec\n"
                      "      Start   2: two\n"
                      "  2/3 Test   #2: two ....***Failed    0.02 sec\n"
                      "the reason\n"
                      "      Start   3: three\n")
        self.assertEqual(lines[:3], ["Test project /b", "  2/3 Test   #2: two ....***Failed    0.02 sec", "the reason"])
        self.assertRegex(lines[3], r"working: 2 of 3, (for \d+ s )?three$")

    def test_of_tests_that_run_at_once_the_longest_is_named(self):
        lines = shown("      Start   1: one\n"
                      "      Start   2: two\n"
                      "      Start   3: three\n"
                      "  1/3 Test   #1: one ....   Passed    0.01 sec\n")
        self.assertRegex(lines[-1], r"working: 1 of 3, (for \d+ s )?two$")

    def test_a_log_gets_lines_while_nothing_ends(self):
        with subprocess.Popen([sys.executable, PROGRESS, "testing", "0.1"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as process:
            process.stdin.write(b"      Start   7: slow\n")
            process.stdin.flush()
            line = b""
            while b"slow" not in line:  # the limit of the test bounds this
                line = process.stdout.readline()
            self.assertRegex(line.decode(), r"testing: 0 of \?, (for \d+ s )?slow$")
            process.stdin.close()


if __name__ == "__main__":
    unittest.main()
