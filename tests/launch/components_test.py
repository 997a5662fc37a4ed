#!/usr/bin/env python3
"""An installation with many components costs a job little: of those that it does not use it opens no file."""
import ctypes
import os
import shutil
import struct
import subprocess
import tempfile
import unittest

from harness import COMPONENTS, MPIEXEC, STUCK, plain

BUILD = os.path.dirname(os.path.dirname(MPIEXEC))
PROGRAM = os.path.join(os.path.dirname(STUCK), "mpi", "pt2pt_sendrecv")
# A component of the framework tool called copy00, and a transport of that name: copies get other digits.
TEMPLATES = {"tool": os.path.join(os.environ["COPIES"], "ashlar_tool_copy00.so"),
             "transport": os.path.join(os.environ["COPIES"], "ashlar_transport_copy00.so")}
COPIES = 40
IN_OPEN, IN_NONBLOCK = 0x20, 0o4000


class Opened:
    """The names of the files in a folder that any process opens."""

    def __init__(self, folder):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self.libc.inotify_init1(IN_NONBLOCK)
        assert self.fd >= 0 and self.libc.inotify_add_watch(self.fd, os.fsencode(folder), IN_OPEN) >= 0

    def names(self):
        found = set()
        while True:
            try:
                data = os.read(self.fd, 1 << 16)
            except BlockingIOError:
                return found
            while data:
                _, _, _, length = struct.unpack_from("iIII", data)
                found.add(data[16:16 + length].rstrip(b"\0").decode())
                data = data[16 + length:]

    def close(self):
        os.close(self.fd)


def copies_of(framework, folder):
    with open(TEMPLATES[framework], "rb") as file:
        template = file.read()
    assert b"copy00\0" in template
    for number in range(COPIES):
        name = b"copy%02d" % number
        with open(os.path.join(folder, f"ashlar_{framework}_{name.decode()}.so"), "wb") as file:
            file.write(template.replace(b"copy00\0", name + b"\0"))


class ManyComponents(unittest.TestCase):
    """An installation of its own, with 40 components more of each framework."""

    @classmethod
    def setUpClass(cls):
        cls.above = tempfile.TemporaryDirectory()
        prefix = cls.above.name
        for folder in "lib", "share":
            shutil.copytree(os.path.join(BUILD, folder), os.path.join(prefix, folder), symlinks=True)
        os.mkdir(os.path.join(prefix, "bin"))
        for command in "mpiexec", "ashlar_info":
            shutil.copy(os.path.join(BUILD, "bin", command), os.path.join(prefix, "bin"))
        cls.bin = os.path.join(prefix, "bin")
        cls.components = os.path.join(prefix, os.path.relpath(COMPONENTS, BUILD))
        for framework in TEMPLATES:
            copies_of(framework, cls.components)
        cls.environment = {**os.environ, "LD_LIBRARY_PATH": os.path.join(prefix, "lib")}
        done = cls.run_command("ashlar_info", "--register")
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.above.cleanup()

    @classmethod
    def run_command(cls, command, *words):
        return subprocess.run([os.path.join(cls.bin, command), *map(str, words)], capture_output=True, timeout=60,
                              stdin=subprocess.DEVNULL, env=cls.environment)

    def opened_by_job(self, *settings):
        """The component files that mpiexec and two ranks open."""
        words = [word for setting in settings for word in ("--set", setting)]
        opened = Opened(self.components)
        done = self.run_command("mpiexec", *words, "-n", 2, PROGRAM)
        names = opened.names()
        opened.close()
        self.assertEqual((done.returncode, plain(done.stderr)), (0, ""))
        self.assertIn("ashlar_transport_shm.so", names, "the ranks use this installation")
        return {name for name in names if "copy" in name}

    def test_they_are_all_known(self):
        for framework in TEMPLATES:
            self.assertEqual(self.run_command("ashlar_info", "--components", framework).stdout.count(b"  copy"), COPIES)

    def test_tools_are_opened_by_name_alone_and_transports_as_the_settings_say(self):
        self.assertEqual(self.opened_by_job("transport=self,shm"), set())
        self.assertEqual(self.opened_by_job("transport=self,shm,copy07"), {"ashlar_transport_copy07.so"})

    def test_without_settings_every_transport_is_asked_and_no_tool(self):
        self.assertEqual(self.opened_by_job(), {f"ashlar_transport_copy{number:02d}.so" for number in range(COPIES)})


if __name__ == "__main__":
    unittest.main()
