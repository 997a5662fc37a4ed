"""Hosts made of namespaces, joined by a network, and the agent that leads to them.

Host a is where mpiexec runs: it has a network, a host name, System V memory and mounts of its own, and sees all processes,
so that its agent can enter the others. The others have everything of their own, processes too.
"""
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time

AGENT = """#!/bin/sh
# agent HOST WORDS...: as ssh does, the words become one line of a shell on the host.
host=$1
shift
{prelude}
pid=$(cat {folder}/$host) || {{ echo "agent: Could not resolve hostname $host" >&2; exit 255; }}
exec nsenter -t $pid -n -i {processes}-u -m {clock}-- /bin/sh -c "$*"
"""


class Cluster:
    """`with Cluster(3) as cluster`: hosts a, b, c. Raises PermissionError where no namespaces can be made.

    `one_tree`: all hosts see all processes, so that the agent leads from any of them to any other.
    `clocks`: seconds by which the monotonic clocks of hosts are ahead of that of host a, such as {"b": 1000}.
    """

    def __init__(self, hosts, clocks=None, one_tree=False):
        self.one_tree = one_tree
        self.clocks = clocks or {}
        self.names = [chr(ord("a") + i) for i in range(hosts)]
        self.pids = {}
        self.holders = []
        self.folder = tempfile.mkdtemp(prefix="ashlar-hosts-")

    def __enter__(self):
        try:
            for name in self.names:
                self.make_host(name)
            self.join()
        except BaseException:
            self.__exit__()
            raise
        self.agent("")
        return self

    def __exit__(self, *_):
        for holder in self.holders:
            holder.kill()
            holder.wait()
            holder.stdin.close()
            holder.stdout.close()
        for name in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, name))
        os.rmdir(self.folder)

    def has_all_processes(self, name):
        return name == "a" or self.one_tree

    def make_host(self, name):
        own = ["--net", "--ipc", "--uts", "--mount"] + ([] if self.has_all_processes(name) else ["--pid", "--fork", "--mount-proc"])
        if name in self.clocks:
            own += ["--time", "--monotonic", str(self.clocks[name])]
        # /sys lists network interfaces, for those libraries that look there: it has to be of the host's own.
        script = (f"hostname {name} && ip link set lo up && mount -t tmpfs tmpfs /dev/shm && mount -t sysfs sysfs /sys && "
                  "echo ready && exec cat")
        # The host ends with its input, that is with this process, however that ends.
        holder = subprocess.Popen(["unshare", *own, "--kill-child", "sh", "-c", script], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.holders.append(holder)
        if holder.stdout.readline() != "ready\n":
            raise PermissionError("namespaces are not permitted here")
        pid = holder.pid
        if not self.has_all_processes(name):
            with open(f"/proc/{pid}/task/{pid}/children") as children:
                pid = int(children.read().split()[0])
        self.pids[name] = pid
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(str(pid))

    def inside(self, name, *words, **options):
        """Runs a command on a host."""
        flags = ["-n", "-i", "-u", "-m"] + ([] if self.has_all_processes(name) else ["-p"])
        return subprocess.run(["nsenter", "-t", str(self.pids[name]), *flags, "--", *words], check=True,
                              capture_output=True, text=True, **options)

    def join(self):
        """A bridge on host a, and a cable from it to each other host: 10.77.0.1, .2, ..."""
        self.inside("a", "ip", "link", "add", "br0", "type", "bridge")
        self.inside("a", "ip", "addr", "add", "10.77.0.1/24", "dev", "br0")
        self.inside("a", "ip", "link", "set", "br0", "up")
        for number, name in enumerate(self.names[1:], 2):
            self.inside("a", "ip", "link", "add", f"to{name}", "type", "veth", "peer", "name", f"eth_{name}")
            self.inside("a", "ip", "link", "set", f"eth_{name}", "netns", str(self.pids[name]))
            self.inside("a", "ip", "link", "set", f"to{name}", "master", "br0", "up")
            self.inside(name, "ip", "link", "set", f"eth_{name}", "name", "eth0")
            self.inside(name, "ip", "addr", "add", f"10.77.0.{number}/24", "dev", "eth0")
            self.inside(name, "ip", "link", "set", "eth0", "up")

    def address(self, name):
        return f"10.77.0.{self.names.index(name) + 1}"

    def agent(self, prelude):
        """The agent, with lines of a shell that it begins with."""
        self.command = os.path.join(self.folder, "agent")
        with open(self.command, "w") as file:
            file.write(AGENT.format(folder=self.folder, prelude=prelude, processes="" if self.one_tree else "-p ", clock="-T " if self.clocks else ""))
        os.chmod(self.command, 0o755)

    def relay(self, host, *plan):
        """The agent with relay.py in its middle, on the way to one host."""
        words = " ".join(map(shlex.quote, [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "relay.py"),
                                           *plan]))
        self.agent(f'if test $host = {host} && test -z "$RELAYED"; then RELAYED=1 exec {words} -- $0 $host "$@"; fi')

    def words(self, mpiexec, *words, cwd=None):
        """mpiexec on host a; nsenter becomes it, so the process is its own."""
        return ["nsenter", "-t", str(self.pids["a"]), "-n", "-i", "-u", "-m", f"--wdns={cwd or os.getcwd()}", "--", mpiexec,
                "--launch-agent", self.command + " %h", *map(str, words)]

    def start_on(self, name, *words):
        """A process on any host, whoever it is."""
        flags = ["-n", "-i", "-u", "-m"] + ([] if name == "a" else ["-p"])
        return subprocess.Popen(["nsenter", "-t", str(self.pids[name]), *flags, f"--wdns={os.getcwd()}", "--", *map(str, words)],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, mpiexec, *words, timeout=60, cwd=None, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run(self.words(mpiexec, *words, cwd=cwd), capture_output=True, text=True, timeout=timeout,
                              **options)

    def start(self, mpiexec, *words, cwd=None, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen(self.words(mpiexec, *words, cwd=cwd), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                **options)

    @staticmethod
    def command_line(pid):
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace")

    @staticmethod
    def name_of(pid):
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()

    def processes(self, host, pattern, name=None):
        """The processes of a host whose command line has `pattern` (and whose name is `name`), by their numbers outside."""
        space = os.readlink(f"/proc/{self.pids[host]}/ns/net")
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if (pattern in self.command_line(pid) and os.readlink(f"/proc/{pid}/ns/net") == space
                        and name in (None, self.name_of(pid))):
                    found.append(int(pid))
            except OSError:
                pass
        return sorted(found)

    def listens(self, name, port):
        """Whether a process of the host has opened this port."""
        with open(f"/proc/{self.pids[name]}/net/tcp") as sockets:
            return any(line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A" for line in sockets)

    def none_left(self, pattern, seconds=10, name=None):
        """Whether no host has such a process any more."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not any(self.processes(host, pattern, name) for host in self.names):
                return True
            time.sleep(0.05)
        return False

    def kill(self, pid, number=signal.SIGKILL):
        os.kill(pid, number)

    def kill_all(self, host, pattern):
        """Kills what processes() finds. One of them may end with another, before its own turn."""
        for pid in self.processes(host, pattern):
            try:
                self.kill(pid)
            except ProcessLookupError:
                pass
