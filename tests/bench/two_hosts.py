"""Two hosts made of namespaces, for `compare --two-hosts`: as those of tests/net, and with them libraries of another system, which
run in a folder that has its files (chroot)."""
import os
import shlex
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "net"))
from cluster import Cluster

PROGRAMS = "bench"  # where the programs are in another system's folder

AGENT = """#!/bin/sh
# agent [-x] HOST WORDS...: as ssh does, the words become one line of a shell on the host. MPICH's launcher ssh gives -x.
[ "$1" != -x ] || shift
host=$1
shift
case $host in
{cases}
*) echo "agent: there is no host $host" >&2; exit 255 ;;
esac
exec nsenter -t $pid -n -i -u -m -p -- $enter /bin/sh -c "$*"
"""


class TwoHosts(Cluster):
    """`with TwoHosts(programs, roots)`: hosts a and b; `programs` are in the folder PROGRAMS of each of `roots`.

    `split`: the hosts have half of the cores each, as far as programs are content with what they are given.
    """

    def __init__(self, programs, roots, split=False):
        super().__init__(2)
        self.programs, self.roots = os.path.abspath(programs), roots
        half = (os.cpu_count() or 2) // 2
        self.cores = {"a": f"0-{half - 1}", "b": f"{half}-{2 * half - 1}"} if split and half else {}
        self.agents = {}

    def __enter__(self):
        super().__enter__()
        try:
            for root in {None, *self.roots}:
                self.furnish(root)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for agent in self.agents.values():
            os.unlink(agent)
        self.agents.clear()
        super().__exit__()

    def join(self):
        """One cable, and nothing else on the way."""
        self.inside("a", "ip", "link", "add", "eth0", "type", "veth", "peer", "name", "eth_b")
        self.inside("a", "ip", "link", "set", "eth_b", "netns", str(self.pids["b"]))
        self.inside("b", "ip", "link", "set", "eth_b", "name", "eth0")
        for name in self.names:
            self.inside(name, "ip", "addr", "add", f"{self.address(name)}/24", "dev", "eth0")
            self.inside(name, "ip", "link", "set", "eth0", "up")
            # What the system learns of the path from one contestant's connections is nothing to the next one's.
            self.inside(name, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save")

    def on_cores(self, name):
        return ["taskset", "-c", self.cores[name]] if self.cores else []

    @staticmethod
    def changed_root(root):
        return ["chroot", root] if root else []

    def furnish(self, root):
        """An agent where those who run in `root` see it, and for them what a host has of its own."""
        table = os.path.join(self.folder, "names")
        with open(table, "w", encoding="utf-8") as file:
            file.write("127.0.0.1 localhost\n" + "".join(f"{self.address(name)} {name}\n" for name in self.names))
        if root:
            os.makedirs(os.path.join(root, PROGRAMS), exist_ok=True)
            open(os.path.join(root, "etc/hosts"), "a", encoding="utf-8").close()
        for name in self.names if root else ():
            for what, at in ((["--bind", self.programs], PROGRAMS), (["--bind", table], "etc/hosts"),
                             (["-t", "proc", "proc"], "proc"), (["-t", "sysfs", "sysfs"], "sys"),
                             (["-t", "tmpfs", "tmpfs"], "dev/shm")):
                self.inside(name, "mount", *what, os.path.join(root, at))
        path = os.path.join(root or self.folder, "tmp" if root else "", f"agent-{os.getpid()}")
        cases = "\n".join(f"{name}) pid={pid} enter='{shlex.join(self.on_cores(name) + self.changed_root(root))}' ;;"
                          for name, pid in self.pids.items())
        with open(path, "w", encoding="utf-8") as file:
            file.write(AGENT.format(cases=cases))
        os.chmod(path, 0o755)
        self.agents[root] = path

    def launch(self, template, name, arguments, ranks, root):
        """The words that run a program of so many ranks, half of them on each host."""
        agent = self.agents[root]
        program = os.path.join(f"/{PROGRAMS}" if root else self.programs, name)
        words = shlex.split(template.format(n=ranks, hosts=f"a:{ranks // 2},b:{ranks - ranks // 2}",
                                            agent=agent[len(root.rstrip("/")):] if root else agent,
                                            program=f"{shlex.quote(program)} {arguments}".strip()))
        return ["nsenter", "-t", str(self.pids["a"]), "-n", "-i", "-u", "-m", f"--wdns={os.getcwd()}", "--", *self.on_cores("a"),
                *self.changed_root(root), *words]
