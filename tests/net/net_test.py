#!/usr/bin/env python3
"""Runs a job of two ranks, each in a network namespace of its own, under one condition of the network.

usage: net_test.py MPIEXEC TRAFFIC CONDITION

The namespaces are joined by pairs of virtual interfaces, one for each network. See namespaces.py.
"""
import os
import signal
import subprocess
import sys
import time

import namespaces
from namespaces import Network, make_host, sh


def job(net, arguments=(), **settings):
    settings.setdefault("transport.tcp.interfaces", "^lo")
    words = [mpiexec, "--timeout", "60", "--explain=transport", "--set", "transport=tcp,self"]
    for name, value in settings.items():
        words += ["--set", f"{name}={value}"]
    environment = dict(os.environ, NET_HOSTS=",".join(map(str, net.hosts)))
    words += ["-n", "2", sys.executable, namespaces.ENTER, traffic, *arguments]
    return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def runs(net, *expected, **settings):
    """The job succeeds, and its decision records have these words."""
    process = job(net, **settings)
    out, err = process.communicate()
    assert process.returncode == 0, f"status {process.returncode}\n{out}{err}"
    for words in expected:
        assert words in err, f"'{words}' is not in\n{err}"


def plain(net):
    net.join("eth0", ["10.77.0.1/24", "10.77.0.2/24"])
    runs(net, "10.77.0.2:", "over eth0")


def ipv6(net):
    net.join("eth0", ["fd77::1/64", "fd77::2/64"])
    runs(net, "[fd77::2]:")


def docker(net):
    """Both hosts have an interface with the same address, which leads nowhere."""
    for host in net.hosts:
        sh("ip", "link", "add", "docker0", "type", "bridge", inside=host)
        sh("ip", "addr", "add", "172.17.0.1/16", "dev", "docker0", inside=host)
        sh("ip", "link", "set", "docker0", "up", inside=host)
    net.join("eth0", ["10.77.0.1/24", "10.77.0.2/24"])
    runs(net, "10.77.0.2:")


def two_networks(net):
    net.join("eth0", ["10.77.0.1/24", "10.77.0.2/24"])
    net.join("eth1", ["10.78.0.1/24", "10.78.0.2/24"])


def filtered(net):
    """The first of two networks swallows what is sent: frames go to an address of the link that no host has."""
    two_networks(net)
    for host, other in zip(net.hosts, ("10.77.0.2", "10.77.0.1")):
        sh("ip", "neigh", "replace", other, "lladdr", "02:00:00:00:00:99", "dev", "eth0", "nud", "permanent", inside=host)
    runs(net, "10.78.0.2:")


def refused(net):
    """The first of two networks refuses connections."""
    two_networks(net)
    for host, other in zip(net.hosts, ("10.77.0.2", "10.77.0.1")):
        sh("ip", "route", "add", "prohibit", f"{other}/32", inside=host)
    runs(net, "10.78.0.2:")


def black_hole(net):
    """Between the hosts' long packets and the first network lies a link that drops them; short ones pass: the hello."""
    bridge = make_host()
    net.hosts.append(bridge)
    sh("ip", "link", "add", "br0", "type", "bridge", inside=bridge)
    sh("ip", "link", "set", "br0", "up", inside=bridge)
    hosts = net.hosts[:2]
    for number, host in enumerate(hosts):
        net.hosts = [host, bridge]
        net.join(f"p{number}", ["", ""])
        sh("ip", "link", "set", f"p{number}", "master", "br0", inside=bridge)
        sh("ip", "link", "set", f"p{number}", "name", "eth0", inside=host)
        sh("ip", "link", "set", "eth0", "mtu", "9000", inside=host)
        sh("ip", "link", "set", "eth0", "gso_max_segs", "1", inside=host)
        sh("ip", "addr", "add", f"10.77.0.{number + 1}/24", "dev", "eth0", inside=host)
    net.hosts = hosts + [bridge]
    net.join("eth1", ["10.78.0.1/24", "10.78.0.2/24"])
    runs(net, "10.78.0.2:")


def begun(process):
    for _ in range(2):
        line = process.stdout.readline()
        assert line == "ready\n", line + process.stderr.read()


def ports(net):
    net.join("eth0", ["10.77.0.1/24", "10.77.0.2/24"])
    process = job(net, ["wait"], **{"transport.tcp.ports": "45678-45678"})
    begun(process)
    for host in net.hosts:
        listening = [line.split()[1] for line in sh("cat", "/proc/net/tcp6", inside=host).stdout.splitlines()
                     if line.split()[3] == "0A"]
        assert [port.rsplit(":", 1)[1] for port in listening] == [f"{45678:04X}"], listening
    process.terminate()
    process.communicate()


def name(net):
    two_networks(net)
    runs(net, "10.78.0.2:", "over eth1", **{"transport.tcp.interfaces": "eth1"})


def subnet(net):
    two_networks(net)
    runs(net, "10.78.0.2:", **{"transport.tcp.interfaces": "10.78.0.0/16"})


def vanishes(net):
    """A host is cut off, without a word: the system notices that it answers no more."""
    net.join("eth0", ["10.77.0.1/24", "10.77.0.2/24"])
    process = job(net, ["wait"], **{"transport.tcp.keepalive": "1s", "transport.tcp.user_timeout": "2s",
                                    "transport.tcp.patience": "3s"})
    begun(process)
    sh("ip", "link", "set", "eth0", "down", inside=net.hosts[1])
    start = time.time()
    out, err = process.communicate()
    assert process.returncode != 0 and time.time() - start < 30, f"{process.returncode}\n{out}{err}"
    assert "MPI_ERR_PROC_ABORTED" in err and "10.77.0.2" in err, err
    assert "was not made again within 3.0 s" in err and "the last that came from it is message" in err, err


def flows(net, disturb, *expected, seconds=5, **settings):
    """Messages go on while the network is disturbed: all arrive, once, in order."""
    for name, value in {"transport.tcp.keepalive": "1s", "transport.tcp.user_timeout": "1s"}.items():
        settings.setdefault(name, value)
    process = job(net, ["flow", str(seconds)], **settings)
    begun(process)
    time.sleep(1)
    disturb()
    out, err = process.communicate()
    assert process.returncode == 0 and "rows " in out, f"status {process.returncode}\n{out}{err}"
    for words in expected:
        assert words in err, f"'{words}' is not in\n{err}"


def link(net, host, name, state):
    sh("ip", "link", "set", name, state, inside=net.hosts[host])


def cut(net):
    """The cable between the hosts is cut and comes back."""
    net.join("eth0", ["10.77.0.1/24", "10.77.0.2/24"])

    def disturb():
        link(net, 1, "eth0", "down")
        time.sleep(3)
        link(net, 1, "eth0", "up")
    flows(net, disturb, "path to peer 1, again", "was resumed after", seconds=8)


def silence(net):
    """What one host sends is swallowed for a while; what the other sends arrives."""
    net.join("eth0", ["10.77.0.1/24", "10.77.0.2/24"])

    def disturb():
        shown = sh("ip", "-o", "link", "show", "eth0", inside=net.hosts[1]).stdout
        neighbour = shown.split("link/ether ")[1].split()[0]
        for address, seconds in (("02:00:00:00:00:99", 3), (neighbour, 0)):
            sh("ip", "neigh", "replace", "10.77.0.2", "lladdr", address, "dev", "eth0", "nud", "permanent",
               inside=net.hosts[0])
            time.sleep(seconds)
    flows(net, disturb, "path to peer 1, again", "was resumed after", seconds=8)


def flaps(net):
    """The cable is bad: it is cut for moments, again and again."""
    net.join("eth0", ["10.77.0.1/24", "10.77.0.2/24"])

    def disturb():
        for number in range(6):
            link(net, number % 2, "eth0", "down")
            time.sleep((0.1, 1.5)[number % 2])
            link(net, number % 2, "eth0", "up")
            time.sleep(0.5)
    flows(net, disturb, seconds=9)


def one_of_two(net):
    """The network that is used, of two, is cut for ever. Further ones for large messages are left to rails_test.py."""
    two_networks(net)
    cut_one = []

    def disturb():
        sockets = "".join(sh("cat", file, inside=net.hosts[1]).stdout for file in ("/proc/net/tcp", "/proc/net/tcp6"))
        used = [line for line in sockets.splitlines() if line.split()[3] == "01"]
        cut_one.append("eth0" if any("01004D0A" in line for line in used) else "eth1")
        link(net, 1, cut_one[0], "down")
    flows(net, disturb, "path to peer 1, again", "was resumed after", "over eth0", "over eth1", seconds=6,
          **{"transport.tcp.rails": "1"})


def killed(net):
    net.join("eth0", ["10.77.0.1/24", "10.77.0.2/24"])
    process = job(net, ["wait"])
    begun(process)
    found = subprocess.run(["pgrep", "-P", str(process.pid), "-f", "net_traffic"], capture_output=True, text=True)
    ranks = sorted(map(int, found.stdout.split()))
    os.kill(ranks[-1], signal.SIGKILL)
    out, err = process.communicate()
    # Either rank 0 learns it from its connection and aborts, or mpiexec ends it before.
    assert process.returncode in (1, 128 + signal.SIGKILL), f"{process.returncode}\n{out}{err}"
    assert "killed by signal 9" in err or "SIGKILL" in err, err


def unreachable(net):
    """No network joins the hosts: the sentence has every address and its reason."""
    for number, host in enumerate(net.hosts):
        sh("ip", "link", "add", "br0", "type", "bridge", inside=host)
        sh("ip", "addr", "add", f"10.{80 + number}.0.1/24", "dev", "br0", inside=host)
        sh("ip", "link", "set", "br0", "up", inside=host)
    process = job(net, **{"transport.tcp.connect_timeout": "2s"})
    out, err = process.communicate()
    assert process.returncode not in (0, 124), f"{process.returncode}\n{out}{err}"
    assert "10.81.0.1" in err or "10.80.0.1" in err, err
    assert "unreachable" in err, err


mpiexec, traffic, condition = sys.argv[1:]
network = Network()
try:
    if None in network.hosts:
        print("namespaces are not permitted here")
        sys.exit(77)
    globals()[condition](network)
finally:
    network.close()
