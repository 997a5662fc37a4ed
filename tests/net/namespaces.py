"""Two hosts made of network namespaces, joined by pairs of virtual interfaces, one for each network.

namespaces.py PROGRAM...: what mpiexec starts as a rank; it moves into the namespace of the rank's number (NET_HOSTS) and becomes
the program.
"""
import ctypes
import os
import signal
import subprocess
import sys

CLONE_NEWNET = 0x40000000
ENTER = os.path.abspath(__file__)


def sh(*words, inside=None, check=True):
    enter = ["nsenter", "-t", str(inside), "-n"] if inside else []
    return subprocess.run(enter + list(words), check=check, capture_output=True, text=True)


def make_host():
    """A process that holds a network namespace. None: not permitted."""
    libc = ctypes.CDLL(None, use_errno=True)
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        made = libc.unshare(CLONE_NEWNET) == 0
        os.write(theirs, b"y" if made else b"n")
        os.close(theirs)
        while True:
            signal.pause()
    answer = os.read(ours, 1)
    os.close(ours)
    os.close(theirs)
    if answer != b"y":
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return None
    sh("ip", "link", "set", "lo", "up", inside=pid)
    return pid


class Network:
    """Two hosts; join() adds a network between them."""

    def __init__(self):
        self.hosts = [make_host(), make_host()]
        self.count = 0

    def join(self, name, addresses, mtu=1500):
        ends = [f"a{os.getpid() % 10000}{self.count}", f"b{os.getpid() % 10000}{self.count}"]
        self.count += 1
        sh("ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
        for end, host, address in zip(ends, self.hosts[:2], addresses):
            sh("ip", "link", "set", end, "netns", str(host), "name", name)
            sh("ip", "link", "set", name, "mtu", str(mtu), "up", inside=host)
            if address:
                nodad = ["nodad"] if ":" in address else []
                sh("ip", "addr", "add", address, "dev", name, *nodad, inside=host)

    def close(self):
        for host in self.hosts:
            if host:
                os.kill(host, signal.SIGKILL)
                os.waitpid(host, 0)


def enter():
    libc = ctypes.CDLL(None, use_errno=True)
    host = os.environ["NET_HOSTS"].split(",")[int(os.environ["ASHLAR__RANK"])]
    with open(f"/proc/{host}/ns/net") as namespace:
        if libc.setns(namespace.fileno(), CLONE_NEWNET) != 0:
            sys.exit("the namespace cannot be entered")
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    enter()
