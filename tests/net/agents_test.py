#!/usr/bin/env python3
"""What agents and the shells behind them do beside leading to a host. As hosts_test.py; with a login shell that is no
Bourne shell, where there is one (package tcsh)."""
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from hosts_test import HOSTS, MPIEXEC, HostsTest, flat, run_tests
from sshd import Sshd, path_of_sshd

CSH = shutil.which("tcsh")

# It has no way to say what it does not know: whatever is special to any shell is refused.
STRICT = """#!/bin/sh
# A login shell that takes plain words alone: strict -c "WORDS".
case "$2" in
  *[!A-Za-z0-9_./\\ :=+,@-]*) echo "strict: what is this: $2" >&2; exit 1 ;;
esac
exec /bin/sh -c "$2"
"""

NAMES = """import os, sys
print(repr((sys.argv[1:], os.environ["ODD"])))
"""


class ShellTest(HostsTest):
    SIZE = 2
    ODD = "two words", "$HOME `x`", "\"'\\!", "", "a{b,c}*?[d]~", "%n^!!", "ü\n;"

    def folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    def login_shell(self, shell):
        """The agent leads to a shell that is not /bin/sh."""
        self.cluster.agent("")
        with open(self.cluster.command) as file:
            text = file.read()
        self.assertIn("/bin/sh -c", text)
        with open(self.cluster.command, "w") as file:
            file.write(text.replace("/bin/sh -c", f"{shell} -c"))

    def check_job(self):
        done = self.run_job("--host", "a,b", "-n", 4, HOSTS)
        self.assertEqual(done.stderr, "")
        self.assertEqual(sorted(done.stdout.splitlines()),
                         [f"rank {r} of 4 on {'aabb'[r]}, {r % 2} of 2 there, local {r % 2}" for r in range(4)])
        script = os.path.join(self.folder(), "names.py")
        with open(script, "w") as file:
            file.write(NAMES)
        odd = "'$x' !y `z`"
        done = self.run_job("--host", "b", "-x", f"ODD={odd}", "-n", 1, sys.executable, script, *self.ODD)
        self.assertEqual((done.stdout, done.stderr), (repr((list(self.ODD), odd)) + "\n", ""))

    def test_a_shell_that_knows_plain_words_alone(self):
        shell = os.path.join(self.folder(), "strict")
        with open(shell, "w") as file:
            file.write(STRICT)
        os.chmod(shell, 0o755)
        self.login_shell(shell)
        self.check_job()

    @unittest.skipIf(CSH is None, "no tcsh is installed")
    def test_csh(self):
        self.login_shell(f"{CSH} -f")
        self.check_job()

    @unittest.skipIf(CSH is None, "no tcsh is installed")
    def test_csh_with_start_files_that_print(self):
        home = self.folder()
        with open(os.path.join(home, ".cshrc"), "w") as file:
            file.write("echo Welcome\necho -n 'no newline'\nsh -c 'echo a warning >&2'\nalias mpiexec false\n")
        self.login_shell(f"env HOME={home} {CSH}")
        self.check_job()
        # A file that ends the shell is a start that fails, with the words of the shell.
        with open(os.path.join(home, ".cshrc"), "a") as file:
            file.write("no_such_command_here\nexec sh -c 'echo Not today.; exit 3'\n")
        err = flat(self.run_job("--host", "a,b", "-n", 2, "true", status=127).stderr)
        self.assertRegex(err, "cannot start ranks on host b: it ended with exit status 3 before mpiexec there had said")
        self.assertIn("Not today.", err)
        self.assertIn("no_such_command_here: Command not found.", err)
        self.assertTrue(self.cluster.none_left("--daemon"))

    @unittest.skipIf(CSH is None or path_of_sshd() is None, "no tcsh or no sshd is installed")
    def test_csh_behind_ssh(self):
        with open("/etc/shells") as shells:
            if CSH not in shells.read().split():
                self.skipTest("tcsh is no login shell here")
        servers = Sshd(self.cluster, [], "")
        with open(servers.file("passwd")) as file:
            users = file.read().splitlines()
        changed = [":".join(user.split(":")[:6] + [CSH]) if user.startswith("root:") else user for user in users]
        servers.write("passwd", "\n".join(changed) + "\n")
        with open(servers.file("client"), "a") as file:
            file.write(f"Host b\n  HostName {self.cluster.address('b')}\n")
        servers.start("b")
        self.addCleanup(servers.stop)
        shell = self.cluster.inside("a", *servers.agent().replace("%h", "b").split(), "echo $shell $0")
        self.assertIn("csh", shell.stdout)
        done = self.run_job("--launch-agent", servers.agent(), "--host", "a,b", "-n", 4, HOSTS)
        self.assertEqual(len(done.stdout.splitlines()), 4, done.stderr)


class PromptTest(HostsTest):
    """An agent that asks for a password waits for ever; the start has a deadline."""
    SIZE = 2
    LATE = "--set", "mpiexec.start_timeout=2s", "--host", "a,b", "-n", "2", "true"

    def agent_that_asks(self, where):
        self.cluster.agent(f"if test $host = b; then printf \"root@$host's password: \" >{where}; "
                           f"read answer <{where if where == '/dev/tty' else '/dev/stdin'}; exec sleep 7777; fi")

    def test_on_standard_error(self):
        self.agent_that_asks("/dev/stderr")
        err = flat(self.run_job(*self.LATE, status=127).stderr)
        self.assertRegex(err, "cannot start ranks on host b: mpiexec there has not said anything after 2 s.*root@b's password:")
        self.assertTrue(self.cluster.none_left("--daemon"))
        self.assertTrue(self.cluster.none_left("agent b") and self.cluster.none_left("sleep 7777"))

    def on_terminal(self, *words):
        """mpiexec with a terminal of its own; what came out of that, and the exit status."""
        pid, terminal = pty.fork()
        if pid == 0:
            command = self.cluster.words(MPIEXEC, *words)
            os.execvp(command[0], command)
        seen, status, end = b"", None, time.monotonic() + 30
        while status is None and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    seen += os.read(terminal, 65536)
                except OSError:  # nobody has it open any more
                    time.sleep(0.05)
            ended, wait_status = os.waitpid(pid, os.WNOHANG)
            if ended:
                status = os.waitstatus_to_exitcode(wait_status)
        if status is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        while select.select([terminal], [], [], 0.2)[0]:
            try:
                more = os.read(terminal, 65536)
            except OSError:
                break
            if not more:
                break
            seen += more
        os.close(terminal)
        return flat(seen.decode(errors="replace")), status

    def test_on_the_terminal(self):
        self.agent_that_asks("/dev/tty")
        seen, status = self.on_terminal(*self.LATE)
        self.assertEqual(status, 127, seen)
        self.assertIn("root@b's password:", seen)
        self.assertRegex(seen, "cannot start ranks on host b: mpiexec there has not said anything after 2 s")
        self.assertTrue(self.cluster.none_left("--daemon"))
        self.assertTrue(self.cluster.none_left("agent b") and self.cluster.none_left("sleep 7777"))

    def test_an_interrupt_does_not_wait_for_the_answer(self):
        self.agent_that_asks("/dev/stderr")
        process = self.start_job("--host", "a,b", "-n", 2, "true")
        end = time.monotonic() + 20
        while not self.cluster.processes("a", "agent b") and time.monotonic() < end:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        status, _, err, _ = self.end_of(process, 20)
        self.assertEqual(status, 130, err)
        self.assertTrue(self.cluster.none_left("agent b") and self.cluster.none_left("sleep 7777"))

    def test_in_a_check(self):
        self.agent_that_asks("/dev/stderr")
        done = self.cluster.run(MPIEXEC, "--check", "--set", "mpiexec.start_timeout=2s", "--host", "a,b", "true")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("root@b's password:", flat(done.stdout + done.stderr))
        self.assertTrue(self.cluster.none_left("agent b") and self.cluster.none_left("sleep 7777"))


if __name__ == "__main__":
    run_tests()
