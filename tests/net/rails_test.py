#!/usr/bin/env python3
"""Large messages between two hosts that two networks join: rails of transport/tcp.

usage: rails_test.py MPIEXEC NET_RAILS CONDITION

Most networks here have a rate (a token bucket), so that a message is under way for long enough to be disturbed. Rank 0
reads the large ones, as its decision records are shown.
"""
import os
import sys
import time

import namespaces
from namespaces import Network, sh
from rails_job import BOGUS, LARGE, LONG, RATE, RailsJob, bytes_in


def two_networks(net, rates=(RATE, RATE)):
    for number, rate in enumerate(rates):
        name = f"eth{number}"
        net.join(name, [f"10.{77 + number}.0.1/24", f"10.{77 + number}.0.2/24"])
        for host in net.hosts if rate else []:
            limit = sh("tc", "qdisc", "add", "dev", name, "root", "tbf", "rate", rate, "burst", "64kb", "latency", "100ms",
                       inside=host, check=False)
            if limit.returncode != 0:
                print(f"this system has no token bucket: {limit.stderr}")
                sys.exit(77)


class Job(RailsJob):
    def __init__(self, net, **settings):
        self.net = net
        words = [mpiexec, "--timeout", "280", "--explain=transport", "--set", "transport=tcp,self"]
        for name, value in {"interfaces": "^lo", "keepalive": "1s", "user_timeout": "1s", **settings}.items():
            words += ["--set", f"transport.tcp.{name}={value}"]
        words += ["-n", "2", sys.executable, namespaces.ENTER, program]
        super().__init__(words, env=dict(os.environ, NET_HOSTS=",".join(map(str, net.hosts))))

    def came(self, card):
        return bytes_in(sh("cat", "/proc/net/dev", inside=self.net.hosts[0]).stdout, card)

    def first_card(self):
        """The interface of the connection that carries messages, before there are rails: by its address, in the
        kernel's notation."""
        self.do("from 8")
        sockets = "".join(sh("cat", file, inside=self.net.hosts[1]).stdout for file in ("/proc/net/tcp", "/proc/net/tcp6"))
        used = [line for line in sockets.splitlines() if line.split()[3] == "01"]
        assert len(used) == 1, sockets
        # The link-local addresses of the interfaces may be the faster ones.
        for card in ("eth0", "eth1"):
            own = sh("ip", "-o", "addr", "show", "dev", card, inside=self.net.hosts[1]).stdout
            if any(spelt(word.split("/")[0]) in used[0].split()[1] for word in own.split() if "/" in word and word[0] in "1f"):
                return card
        raise AssertionError(used[0])


def spelt(address):
    """Of an address, what /proc/net/tcp and tcp6 have in them."""
    if ":" not in address:
        return "".join(f"{int(part):02X}" for part in reversed(address.split(".")))
    import socket
    raw = socket.inet_pton(socket.AF_INET6, address)
    return "".join(raw[i:i + 4][::-1].hex().upper() for i in range(0, 16, 4))


def link(net, name, state):
    sh("ip", "link", "set", name, state, inside=net.hosts[1])


def both(net):
    """A large message takes both, a small one does not; the record says what was measured."""
    two_networks(net)
    job = Job(net)
    before = job.do("from 100000")
    assert before["0.rails"] == 0 and before["0.striped"] == 0, before
    now = job.until_both()
    assert now["0.rail0_bytes"] > 0 and now["1.rails"] == 0 and now["1.striped"] == 0, now
    again = job.do(f"from {LARGE}")
    read = sum(again[f"0.rail{i}_bytes"] - now[f"0.rail{i}_bytes"] for i in (0, 1))
    assert read == LARGE, (now, again)
    assert again["0.rail0_bytes"] > now["0.rail0_bytes"] and again["0.rail1_bytes"] > now["0.rail1_bytes"], (now, again)
    job.end("rails to peer 1: 2: ", "over eth0", "over eth1", "MB/s, share of the stripes so far")


def back(net):
    two_networks(net, (None, None))
    job = Job(net)
    job.read_both_ways()
    job.end()


def off(net):
    two_networks(net, (None, None))
    job = Job(net, rails=1)
    job.read_over_one()
    job.end()


def no_rails(net):
    job = Job(net)
    for _ in range(4):
        now = job.do(f"both {LARGE} 2")
    assert all(now[f"{rank}.{name}"] == 0 for rank in (0, 1) for name in ("rails", "rail1_bytes", "rails_lost")), now
    return job


def one_side(net):
    """One host has a second interface, which does not lead to the other."""
    two_networks(net, (None,))
    sh("ip", "link", "add", "eth1", "type", "veth", "peer", "name", "far1", inside=net.hosts[0])
    sh("ip", "addr", "add", "10.99.0.1/24", "dev", "eth1", inside=net.hosts[0])
    sh("ip", "link", "set", "eth1", "up", inside=net.hosts[0])
    sh("ip", "link", "set", "far1", "up", inside=net.hosts[0])
    no_rails(net).end()


def two_islands(net):
    """Both have a second interface, and the two do not lead to each other."""
    two_networks(net, (None,))
    for number, host in enumerate(net.hosts):
        sh("ip", "link", "add", "eth1", "type", "veth", "peer", "name", "far1", inside=host)
        sh("ip", "addr", "add", f"10.{98 + number}.0.1/24", "dev", "eth1", inside=host)
        sh("ip", "link", "set", "eth1", "up", inside=host)
        sh("ip", "link", "set", "far1", "up", inside=host)
    no_rails(net).end("rails to peer 1: 1: ", "no other pair of interfaces", "10.99.0.1:")


def one_card(net):
    """Two networks over one interface are no rails."""
    two_networks(net, (None,))
    for number, host in enumerate(net.hosts):
        sh("ip", "addr", "add", f"10.78.0.{number + 1}/24", "dev", "eth0", inside=host)
    no_rails(net).end()


def unequal(net):
    """Shares are as the rates."""
    two_networks(net, ("80mbit", "20mbit"))
    job = Job(net)
    first = job.first_card()
    before = job.until_both()
    for _ in range(5):
        now = job.do(f"from {LARGE}")
    fast, slow = (0, 1) if first == "eth0" else (1, 0)
    bytes_of = [now[f"0.rail{i}_bytes"] - before[f"0.rail{i}_bytes"] for i in (0, 1)]
    assert bytes_of[fast] > 1.5 * bytes_of[slow] > 0, (first, before, now)
    job.end()


def cut(net, which):
    """A network is cut in the middle of a message, which arrives over the other one; when it is back, it is used again."""
    two_networks(net)
    job = Job(net)
    first = job.first_card()
    before = job.until_both()
    card = first if which == "first" else ("eth1" if first == "eth0" else "eth0")
    job.begin_on(card, f"from {LONG}")
    link(net, card, "down")
    after = job.answer()
    noticed = after["0.rails_lost"] + after["0.rails_stalled"] > before["0.rails_lost"] + before["0.rails_stalled"]
    # The system, or the other side, may have found it first.
    assert noticed or (which == "first" and "path to peer 1, again" in job.said()), (before, after)
    job.do(f"from {LARGE}")
    link(net, card, "up")
    job.until_both()
    job.end("what was due over it is asked for over the others" if noticed else "")


def first_cut(net):
    cut(net, "first")


def second_cut(net):
    cut(net, "second")


def second_silent(net):
    """What one host sends over the second network is swallowed for a while."""
    two_networks(net)
    job = Job(net)
    card = "eth1" if job.first_card() == "eth0" else "eth0"
    before = job.until_both()
    to = "10.77.0.1" if card == "eth0" else "10.78.0.1"
    own = sh("ip", "-o", "link", "show", card, inside=net.hosts[0]).stdout.split("link/ether ")[1].split()[0]
    job.begin_on(card, f"from {LONG}")
    for address in (BOGUS, own):
        sh("ip", "neigh", "replace", to, "lladdr", address, "dev", card, "nud", "permanent", inside=net.hosts[1])
        if address == BOGUS:
            after = job.answer()
            assert after["0.rails_lost"] + after["0.rails_stalled"] > before["0.rails_lost"] + before["0.rails_stalled"], after
    job.until_both()
    job.end()


def flapping(net):
    """The second network is cut for moments, again and again, while messages go both ways."""
    two_networks(net)
    job = Job(net)
    card = "eth1" if job.first_card() == "eth0" else "eth0"
    job.until_both()
    for number in range(6):
        job.begin(f"both {LARGE} 3")
        time.sleep(0.1)
        link(net, card, "down")
        time.sleep((0.1, 1.2)[number % 2])
        link(net, card, "up")
        job.answer()
    job.until_both()
    job.end()


def alternating(net):
    """Now one network is cut, now the other, while messages go both ways."""
    two_networks(net)
    job = Job(net)
    job.until_both()
    for number in range(4):
        job.begin(f"both {LARGE} 3")
        time.sleep(0.2)
        link(net, f"eth{number % 2}", "down")
        job.answer()
        link(net, f"eth{number % 2}", "up")
        job.until_both()
    job.end()


def sender_late(net):
    two_networks(net)
    job = Job(net)
    job.read_of_late_sender()
    job.end()


mpiexec, program, condition = sys.argv[1:]
network = Network()
try:
    if None in network.hosts:
        print("namespaces are not permitted here")
        sys.exit(77)
    globals()[condition](network)
finally:
    network.close()
