"""A real sshd on a host of cluster.py, and the ssh that leads there."""
import os
import shutil
import subprocess
import tempfile
import time

SERVER = """Port 22
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/key.pub
PidFile none
UsePAM no
StrictModes no
PermitRootLogin yes
PasswordAuthentication no
"""

CLIENT = """Host *
  IdentityFile {folder}/key
  IdentitiesOnly yes
  UserKnownHostsFile /dev/null
  StrictHostKeyChecking no
  LogLevel ERROR
"""


def path_of_sshd():
    return shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


class Sshd:
    """Servers on the named hosts, with keys of their own; `options`: further lines of sshd_config."""

    def __init__(self, cluster, names, options=""):
        self.cluster = cluster
        self.folder = tempfile.mkdtemp(prefix="ashlar-ssh-")
        for key in "host_key", "key":
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.file(key)], check=True)
        self.write("server", SERVER.format(folder=self.folder) + options)
        self.write("client", CLIENT.format(folder=self.folder) + "".join(
            f"Host {name}\n  HostName {cluster.address(name)}\n" for name in names))
        with open("/etc/passwd") as users:
            known = users.read()
        self.write("passwd", known if "\nsshd:" in known else known + "sshd:x:64999:65534::/run/sshd:/usr/sbin/nologin\n")
        self.servers = []
        try:
            for name in names:
                self.start(name)
        except BaseException:
            self.stop()
            raise

    def file(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.file(name), "w") as file:
            file.write(text)

    def start(self, name):
        """sshd wants a folder and a user of its own, which only the host itself gets."""
        self.cluster.inside(name, "sh", "-c", f"mount -t tmpfs tmpfs /run && mkdir /run/sshd && mount --bind {self.file('passwd')} "
                                              "/etc/passwd")
        with open(self.file("log"), "ab") as log:
            server = subprocess.Popen(["nsenter", "-t", str(self.cluster.pids[name]), "-n", "-i", "-p", "-u", "-m", "--",
                                       path_of_sshd(), "-D", "-e", "-f", self.file("server")], stderr=log)
        self.servers.append((name, server))
        end = time.monotonic() + 10
        while not self.cluster.listens(name, 22):
            if server.poll() is not None or time.monotonic() > end:
                with open(self.file("log")) as log:
                    raise RuntimeError("sshd does not listen:\n" + log.read())
            time.sleep(0.01)

    def agent(self, *options):
        """The agent, as mpiexec.launch_agent is unless it is set, with the configuration of this test."""
        return " ".join(["ssh", "-F", self.file("client"), "-x", "-T", "-o", "BatchMode=yes", *options, "%h"])

    def stop(self):
        for name, server in self.servers:
            self.cluster.kill_all(name, "sshd")
            server.wait()
            self.cluster.inside(name, "umount", "/etc/passwd", "/run")
        shutil.rmtree(self.folder)
