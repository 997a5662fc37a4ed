#!/usr/bin/env python3
"""Surroundings in which other launchers give up."""
import os
import shutil
import subprocess
import unittest

from harness import DRIVER, MPIEXEC, NATIVE, SANITIZED, mpiexec, plain


class Hostile(unittest.TestCase):
    def check(self, words=(), **options):
        done = mpiexec("-n", 3, DRIVER, NATIVE, "modex", **options) if not words else subprocess.run(
            [*words, MPIEXEC, "-n", "3", DRIVER, NATIVE, "modex"], capture_output=True, timeout=60,
            stdin=subprocess.DEVNULL, **options)
        self.assertEqual((done.returncode, done.stdout.count(b"ok"), done.stderr), (0, 3, b""))

    def unshare(self, *flags):
        if subprocess.run(["unshare", *flags, "true"], capture_output=True).returncode:
            self.skipTest("unshare " + " ".join(flags) + " is not permitted here")
        return ["unshare", *flags]

    def test_no_network_at_all(self):
        self.check(self.unshare("-n"))

    def test_a_host_name_nobody_knows(self):
        self.check([*self.unshare("-u"), "sh", "-c", 'hostname no-such-host.invalid && exec "$@"', "sh"])

    @unittest.skipIf(SANITIZED, "sanitizers need their surroundings")
    def test_empty_environment(self):
        self.check(env={})

    def test_read_only_tmp_and_tiny_shm(self):
        self.check([*self.unshare("-m"), "sh", "-c",
                    'mount -t tmpfs -o size=64k none /dev/shm && mount -t tmpfs -o ro none /tmp && exec "$@"', "sh"]
                   if not MPIEXEC.startswith("/tmp") else self.skipTest("the tree lies in /tmp"))

    def test_another_process_namespace(self):
        self.check(self.unshare("-p", "-f", "--mount-proc"))

    @unittest.skipIf(SANITIZED, "sanitizers need their surroundings")
    def test_without_proc(self):
        self.check([*self.unshare("-m"), "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"])

    def test_an_ordinary_user(self):
        if os.getuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("needs root and setpriv")
        somebody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        if subprocess.run([*somebody, "test", "-x", DRIVER]).returncode:
            self.skipTest("the build folder is not open to other users")
        self.check(somebody)

    def test_few_descriptors(self):
        done = subprocess.run(["sh", "-c", f"ulimit -Sn 64; ulimit -Hn 64; {MPIEXEC} -n 40 true"], capture_output=True,
                              timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(plain(done.stderr), "Too many open files")
        done = subprocess.run(["sh", "-c", f"ulimit -Sn 64; {MPIEXEC} -n 100 sh -c 'ulimit -Sn'"], capture_output=True,
                              timeout=60)
        self.assertEqual((done.returncode, set(done.stdout.split())), (0, {b"64"}))

    def test_no_port_is_opened(self):
        if not shutil.which("ss"):
            self.skipTest("needs ss")
        job = subprocess.Popen([MPIEXEC, "-n", "2", DRIVER, NATIVE, "sleep"], stdout=subprocess.PIPE,
                               stdin=subprocess.DEVNULL)
        pids = [str(job.pid)] + [job.stdout.readline().split()[1].decode() for _ in range(2)]
        sockets = subprocess.run(["ss", "-anp"], capture_output=True).stdout.decode()
        for pid in pids:
            self.assertNotIn(f"pid={pid},", sockets)
            self.assertFalse([fd for fd in os.listdir(f"/proc/{pid}/fd") if os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket")])
        job.terminate()
        job.communicate()


if __name__ == "__main__":
    unittest.main()
