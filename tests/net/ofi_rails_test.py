#!/usr/bin/env python3
"""Large messages between two hosts that two networks join, through libfabric's tcp;ofi_rxm: rails of transport/ofi.

usage: ofi_rails_test.py MPIEXEC NET_RAILS CONDITION

Most networks here have a rate, so that a message is under way for long enough to be disturbed. Rank 0 reads the large ones,
as its decision records are shown.
"""
import subprocess
import sys
import tempfile
import time

from two_networks import TwoNetworks

LARGE = 4 << 20
LONG = 120_000_000  # three seconds over two networks of RATE
RATE = "160mbit"


class Job:
    def __init__(self, hosts, **settings):
        self.hosts = hosts
        words = ["--timeout", "280", "--explain=transport", "--host", "b,c", "--set", "transport=ofi,self"]
        for name, value in {"provider": "tcp;ofi_rxm", **settings}.items():
            words += ["--set", f"transport.ofi.{name}={value}"]
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(hosts.words(mpiexec, *words, "-n", "2", program, "ofi"), text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors)

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    def begin(self, task):
        self.process.stdin.write(task + "\n")
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline()
        assert "=" in line, f"{line}{self.process.wait()}\n{self.said()}"
        return {name: int(value) for name, value in (word.split("=") for word in line.split())}

    def do(self, task):
        self.begin(task)
        return self.answer()

    def end(self, *expected):
        """What the job has said of its decisions is as expected."""
        self.process.stdin.close()
        status = self.process.wait()
        said = self.said()
        assert status == 0, f"status {status}\n{said}"
        for words in expected:
            assert words in said, f"'{words}' is not in\n{said}"

    def rail(self):
        """The interface that does not carry all messages."""
        return "eth1" if "network of ofi: tcp;ofi_rxm over eth0" in self.said() else "eth0"

    def begin_on(self, card, task):
        """A part of the message has come over the interface on return."""
        before = self.hosts.came("b", card)
        self.begin(task)
        while self.hosts.came("b", card) < before + LARGE:
            assert self.process.poll() is None, self.said()

    def until(self, task, good, seconds=90):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            now = self.do(task)
            if good(now):
                return now
        raise AssertionError(f"{now}\n{self.said()}")

    def until_both(self):
        """Rank 0 reads over both networks."""
        before = self.do("from 8")["0.rail1_bytes"]
        return self.until(f"from {LARGE}", lambda now: now["0.rails"] == 1 and now["0.rail1_bytes"] > before)


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
    """Both read from each other at one time, several messages each."""
    with TwoNetworks() as hosts:
        job = Job(hosts)
        now = job.until(f"both {LARGE} 6", lambda now: all(now[f"{rank}.rail1_bytes"] > 0 for rank in (0, 1)))
        assert now["0.rails"] == now["1.rails"] == 1, now
        assert now["0.rails_lost"] == now["1.rails_lost"] == 0, now
        job.end()


def off():
    with TwoNetworks() as hosts:
        job = Job(hosts, rails=1)
        for _ in range(4):
            now = job.do(f"both {LARGE} 2")
        assert now["0.rails"] == now["0.striped"] == now["1.rails"] == now["1.striped"] == 0, now
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
    """The sender computes when its message is asked for, for longer than a rail may bring nothing."""
    with TwoNetworks(RATE) as hosts:
        job = Job(hosts)
        job.until_both()
        for _ in range(2):
            now = job.do(f"sleep 1.2 from {LARGE}")
        assert now["0.rails"] == 1 and now["0.rails_lost"] == 0, now
        job.end()


def cut():
    """A network is silent in the middle of a message, which arrives over the other one; when it is back, it is used
    again."""
    with TwoNetworks(RATE) as hosts:
        job = Job(hosts)
        before = job.until_both()
        card = job.rail()
        job.begin_on(card, f"from {LONG}")
        hosts.silence(card)
        after = job.answer()
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
        card = job.rail()
        job.begin_on(card, f"from {LONG}")
        hosts.silence(card)
        job.answer()
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
