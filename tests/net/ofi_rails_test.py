#!/usr/bin/env python3
"""Large messages between two hosts that two networks join, through libfabric's tcp;ofi_rxm: rails of transport/ofi.

usage: ofi_rails_test.py MPIEXEC NET_RAILS CONDITION

Most networks here have a rate, so that a message is under way for long enough to be disturbed. Rank 0 reads the large ones,
as its decision records are shown.
"""
import sys
import time

from rails_job import LARGE, LONG, RATE, RailsJob
from two_networks import TwoNetworks


class Job(RailsJob):
    def __init__(self, hosts, **settings):
        self.hosts = hosts
        words = ["--timeout", "280", "--explain=transport", "--host", "b,c", "--set", "transport=ofi,self"]
        for name, value in {"provider": "tcp;ofi_rxm", **settings}.items():
            words += ["--set", f"transport.ofi.{name}={value}"]
        super().__init__(hosts.words(mpiexec, *words, "-n", "2", program, "ofi"))

    def came(self, card):
        return self.hosts.came("b", card)

    def rail(self):
        """The interface that does not carry all messages."""
        return "eth1" if "network of ofi: tcp;ofi_rxm over eth0" in self.said() else "eth0"

    def cut(self):
        """The rail's network is silent from the middle of a message on, which arrives. Returns its interface, and the answer."""
        card = self.rail()
        self.begin_on(card, f"from {LONG}")
        self.hosts.silence(card)
        return card, self.answer()


def both():
    """A large message takes both, a small one does not; the record says what was measured."""
    with TwoNetworks(RATE) as hosts:
        job = Job(hosts)
        before = job.do("from 100000")
        assert before["0.rails"] == 0 and before["0.striped"] == 0, before
        now = job.until_both()
        assert now["0.rail0_bytes"] > 0 and now["1.striped"] == 0, now
        again = job.do(f"from {LARGE}")
        came = [again[f"0.rail{i}_bytes"] - now[f"0.rail{i}_bytes"] for i in (0, 1)]
        assert sum(came) == LARGE and min(came) > 0, (now, again)
        job.end("large messages are read over 2 of 2 devices of this kind (all)", "rails to peer 1: 2: eth",
                "MB/s, share of the stripes so far")


def back():
    with TwoNetworks() as hosts:
        job = Job(hosts)
        job.read_both_ways()
        job.end()


def off():
    with TwoNetworks() as hosts:
        job = Job(hosts, rails=1)
        job.read_over_one()
        job.end("over 1 of 2 devices of this kind (as transport.ofi.rails says)")


def islands():
    """The further interfaces seem to lead to each other, and do not."""
    with TwoNetworks() as hosts:
        job = Job(hosts)
        job.do("both 8")
        hosts.silence(job.rail())
        for _ in range(30):
            now = job.do(f"both {LARGE} 2")
        assert all(now[f"{rank}.{name}"] == 0 for rank in (0, 1) for name in ("rail1_bytes", "rails_lost")), now
        job.end()


def late():
    with TwoNetworks(RATE) as hosts:
        job = Job(hosts)
        job.read_of_late_sender()
        job.end()


def cut():
    """A network is silent in the middle of a message, which arrives over the other one; when it is back, it is used
    again."""
    with TwoNetworks(RATE) as hosts:
        job = Job(hosts)
        before = job.until_both()
        card, after = job.cut()
        assert after["0.rails_lost"] > before["0.rails_lost"], (before, after)
        job.do(f"from {LARGE}")
        hosts.restore(card)
        job.until_both()
        job.end("what was due over it is read over others")


def gone():
    """A network is silent from the middle of a message on, up to the end of the job."""
    with TwoNetworks(RATE) as hosts:
        job = Job(hosts)
        job.until_both()
        job.cut()
        for _ in range(3):
            job.do(f"both {LARGE} 2")
        job.end("what was due over it is read over others")


def flapping():
    """A network is silent for moments, again and again, while messages go both ways."""
    with TwoNetworks(RATE) as hosts:
        job = Job(hosts)
        job.until_both()
        card = job.rail()
        for number in range(5):
            job.begin(f"both {LARGE} 3")
            time.sleep(0.1)
            hosts.silence(card)
            time.sleep((0.1, 1.2)[number % 2])
            hosts.restore(card)
            job.answer()
        job.until_both()
        job.end()


mpiexec, program, condition = sys.argv[1:]
try:
    globals()[condition]()
except PermissionError as reason:
    print(reason)
    sys.exit(77)
