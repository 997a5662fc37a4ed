"""A Slurm of its own on the hosts of cluster.py: its controller on host a, and nodes n1, n2, ... on hosts b, c, ..."""
import glob
import os
import shutil
import socket
import subprocess
import tempfile
import time

CONF = """ClusterName=test
SlurmctldHost=a(10.77.0.1)
SlurmctldPort={ctld}
SlurmdPort={slurmd}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
PlugStackConfig=/dev/null
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Slurm:
    """`with Slurm(cluster) as slurm`; raises FileNotFoundError where Slurm is not installed or does not come up."""

    def __init__(self, cluster, cpus=4):
        self.cluster, self.cpus = cluster, cpus
        self.nodes = {f"n{i}": host for i, host in enumerate(cluster.names[1:], 1)}
        self.path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        for tool in "munged", "slurmctld", "slurmd", "salloc", "sbatch", "srun":
            if not shutil.which(tool, path=self.path):
                raise FileNotFoundError(f"{tool} is not installed (Debian: slurm-wlm, munge)")
        self.daemons = []

    def file(self, name):
        return os.path.join(self.folder, name)

    def start(self, host, *words):
        with open(self.file(f"{words[0]}.{host}.log"), "w") as log:
            self.daemons.append(subprocess.Popen(self.words(host, *words), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                 env=self.environment()))

    def words(self, host, *words):
        flags = ["-n", "-i", "-u", "-m"] + ([] if host == "a" else ["-p"])
        return ["nsenter", "-t", str(self.cluster.pids[host]), *flags, f"--wdns={os.getcwd()}", "--", *words]

    def environment(self):
        return dict(os.environ, SLURM_CONF=self.file("slurm.conf"), PATH=self.path)

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="ashlar-slurm-")
        os.chmod(self.folder, 0o755)
        try:
            self.set_up()
        except BaseException:
            self.__exit__()
            raise
        return self

    def set_up(self):
        os.mkdir(self.file("state"))
        with open(self.file("munge.key"), "wb") as key:
            key.write(os.urandom(128))
        os.chmod(self.file("munge.key"), 0o600)
        with open(self.file("slurm.conf"), "w") as conf:
            conf.write(CONF.format(folder=self.folder, ctld=free_port(), slurmd=free_port()))
            for node, host in self.nodes.items():
                conf.write(f"NodeName={node} NodeHostname={host} NodeAddr={self.cluster.address(host)} CPUs={self.cpus} "
                           "RealMemory=512 State=UNKNOWN\n")
            conf.write(f"PartitionName=all Nodes={','.join(self.nodes)} Default=YES MaxTime=INFINITE State=UP\n")
        # Nothing here uses them, and /sys of a host has none to be found.
        with open(self.file("cgroup.conf"), "w") as conf:
            conf.write(f"CgroupPlugin=cgroup/v1\nCgroupMountpoint={self.folder}\n")
        # Each host has its own /dev/shm, and /tmp is that of all.
        with open(self.file("mpi.conf"), "w") as conf:
            conf.write("PMIxCliTmpDirBase=/dev/shm\n")
        self.start("a", "munged", "-F", "--force", f"--key-file={self.file('munge.key')}", f"--socket={self.file('munge.socket')}",
                   f"--pid-file={self.file('munge.pid')}", f"--log-file={self.file('munge.log')}",
                   f"--seed-file={self.file('munge.seed')}")
        self.start("a", "slurmctld", "-D", "-i", "-f", self.file("slurm.conf"))
        for node, host in self.nodes.items():
            os.mkdir(self.file(f"spool.{node}"))
            self.start(host, "slurmd", "-D", "-f", self.file("slurm.conf"), "-N", node)
        end = time.monotonic() + 60
        while time.monotonic() < end and all(daemon.poll() is None for daemon in self.daemons):
            states = self.run("a", "sinfo", "-h", "-N", "-o", "%T").stdout.split()
            if states == ["idle"] * len(self.nodes):
                return
            time.sleep(0.2)
        logs = ""
        for log in glob.glob(self.file("*.log")):
            with open(log) as text:
                logs += f"{log}:\n{text.read()[-1000:]}\n"
        raise FileNotFoundError("Slurm did not come up: " + logs)

    def run(self, host, *words, timeout=60, **options):
        return subprocess.run(self.words(host, *map(str, words)), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=timeout, env=dict(self.environment(), **options))

    def __exit__(self, *_):
        # Nodes before the controller before munge, so that each can still say goodbye.
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
