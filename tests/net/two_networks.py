"""Hosts b and c of a cluster, joined by two networks, each over an interface of its own."""
from cluster import Cluster
from rails_job import BOGUS, bytes_in


class TwoNetworks(Cluster):
    """`with TwoNetworks("160mbit") as hosts`: `rate` of both networks, by token buckets; None: as fast as they are."""

    def __init__(self, rate=None):
        super().__init__(3)
        self.rate = rate

    def join(self):
        super().join()
        # Host a makes the pair, as it sees the others' processes.
        self.inside("a", "ip", "link", "add", "eth1_b", "type", "veth", "peer", "name", "eth1_c")
        for number, name in enumerate("bc", 2):
            self.inside("a", "ip", "link", "set", f"eth1_{name}", "netns", str(self.pids[name]))
            self.inside(name, "ip", "link", "set", f"eth1_{name}", "name", "eth1")
            self.inside(name, "ip", "addr", "add", f"10.78.0.{number}/24", "dev", "eth1")
            self.inside(name, "ip", "link", "set", "eth1", "up")
            for card in ("eth0", "eth1") if self.rate else ():
                self.inside(name, "tc", "qdisc", "add", "dev", card, "root", "tbf", "rate", self.rate, "burst", "64kb", "latency",
                            "100ms")

    @staticmethod
    def others(card, hosts):
        """Of each of these hosts its name, and the address of the other one in this network."""
        return [(name, f"10.7{7 + int(card[3:])}.0.{({'b': 3, 'c': 2})[name]}") for name in hosts]

    def silence(self, card, hosts="bc"):
        """What these hosts send each other over the network is swallowed."""
        for name, other in self.others(card, hosts):
            self.inside(name, "ip", "neigh", "replace", other, "lladdr", BOGUS, "dev", card, "nud", "permanent")

    def restore(self, card, hosts="bc"):
        for name, other in self.others(card, hosts):
            self.inside(name, "ip", "neigh", "del", other, "dev", card)

    def came(self, name, card):
        """Bytes that have come to a host over an interface."""
        return bytes_in(self.inside(name, "cat", "/proc/net/dev").stdout, card)
