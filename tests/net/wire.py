"""A network between two hosts that does what networks do wrong: packets pass through this process.

wire.py HOST HOST SEED [NAME=VALUE...] makes a TUN device `eth0` in each of two network namespaces (processes that hold them),
with the addresses 10.77.0.1 and 10.77.0.2, says "ready", and passes packets on until its input ends. Then it says how many
packets it has done what to, as one line of JSON. What happens to which packet follows from the seed and from the order of the
packets. Values:

  loss, twice, late, reset   of packets, from 0 to 1: dropped; passed on twice; held back for up to `hold` longer than those
                             behind them; one of TCP that is answered as a middlebox does that has forgotten the connection
  delay, hold                seconds, at most
  cuts                       seconds between two cuts, on the average; 0: none
  cut                        seconds that a cut lasts, at most; a third each is of one way, of the other, of both
"""
import ctypes
import fcntl
import heapq
import json
import os
import random
import select
import struct
import subprocess
import sys
import time

CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
MTU = 1500
MOST_HELD = 2000  # packets under way: those of a queue that is full are dropped, as in a switch
TCP = 6


def open_device(host):
    """A TUN device belongs to the namespace of the process that opens it."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/proc/{host}/ns/net") as namespace:
        if libc.setns(namespace.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", b"eth0", IFF_TUN | IFF_NO_PI))
    return device


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def is_tcp(packet):
    """IPv4 without options, and more than an opening: a connection that is there."""
    return len(packet) >= 40 and packet[0] == 0x45 and packet[9] == TCP and packet[33] & 0x17 == 0x10


def reset_in_place_of(packet):
    """The reset has the sequence number that the receiver expects next, if nothing before the packet is missing."""
    addresses, ports, sequence = packet[12:20], packet[20:24], packet[24:32]
    head = ports + sequence + bytes([0x50, 0x14]) + bytes(6)
    tcp = head[:16] + struct.pack("!H", checksum(addresses + struct.pack("!HH", TCP, len(head)) + head)) + head[18:]
    ip = bytes([0x45, 0]) + struct.pack("!H", 20 + len(tcp)) + bytes(4) + bytes([64, TCP, 0, 0]) + addresses
    return ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:] + tcp


class Wire:
    def __init__(self, devices, seed, plan):
        self.devices = devices
        self.chance = [random.Random(f"{seed} {way}") for way in range(2)]
        self.cutter = random.Random(f"{seed} cuts")
        self.plan = {"loss": 0, "twice": 0, "late": 0, "reset": 0, "delay": 0, "hold": 0, "cuts": 0, "cut": 0, **plan}
        self.done = dict.fromkeys(("passed", "lost", "twice", "late", "reset", "cut", "cuts", "full"), 0)
        self.under_way = []
        self.number = 0
        self.is_cut = (False, False)
        self.next_change = self.after(0) if self.plan["cuts"] else float("inf")

    def after(self, now):
        return (now or time.monotonic()) + self.cutter.uniform(0.5, 1.5) * self.plan["cuts"]

    def change(self, now):
        """A cut begins, or is over."""
        if any(self.is_cut):
            self.is_cut, self.next_change = (False, False), self.after(now)
            return
        self.is_cut = self.cutter.choice(((True, False), (False, True), (True, True)))
        # Most are short; a connection outlives these.
        self.next_change = now + self.plan["cut"] * self.cutter.random() ** 2
        self.done["cuts"] += 1

    def take(self, way, packet, now):
        chance, plan = self.chance[way], self.plan
        fates = {name: chance.random() < plan[name] for name in ("loss", "twice", "late", "reset")}
        wait = chance.random() * plan["delay"] + fates["late"] * chance.random() * plan["hold"]
        if self.is_cut[way]:
            self.done["cut"] += 1
        elif len(self.under_way) >= MOST_HELD:
            self.done["full"] += 1
        elif fates["loss"]:
            self.done["lost"] += 1
        else:
            if fates["reset"] and is_tcp(packet):
                packet = reset_in_place_of(packet)
                self.done["reset"] += 1
            self.done["late"] += fates["late"]
            self.done["twice"] += fates["twice"]
            for _ in range(1 + fates["twice"]):
                heapq.heappush(self.under_way, (now + wait, self.number, 1 - way, packet))
                self.number += 1

    def pass_on(self, now):
        while self.under_way and self.under_way[0][0] <= now:
            _, _, to, packet = heapq.heappop(self.under_way)
            try:
                os.write(self.devices[to], packet)
                self.done["passed"] += 1
            except BlockingIOError:
                self.done["full"] += 1

    def run(self):
        while True:
            now = time.monotonic()
            if now >= self.next_change:
                self.change(now)
            self.pass_on(now)
            until = min(self.next_change, self.under_way[0][0] if self.under_way else float("inf"))
            ready, _, _ = select.select([0, *self.devices], [], [], None if until == float("inf") else max(0, until - now))
            if 0 in ready and not os.read(0, 1):
                return self.done
            now = time.monotonic()
            for way, device in enumerate(self.devices):
                # A few of each, in turn, so that what is due is not late.
                for _ in range(32 if device in ready else 0):
                    try:
                        packet = os.read(device, 65536)
                    except BlockingIOError:
                        break
                    self.take(way, packet, now)


def main():
    hosts, seed = sys.argv[1:3], sys.argv[3]
    plan = {name: float(value) for name, value in (word.split("=") for word in sys.argv[4:])}
    devices = [open_device(host) for host in hosts]
    for number, host in enumerate(hosts, 1):
        # A link-local address would be another way, for packets of a form that is not looked into here.
        subprocess.run(["nsenter", "-t", host, "-n", "ip", "link", "set", "eth0", "addrgenmode", "none"], check=False)
        for words in ("addr", "add", f"10.77.0.{number}/24", "dev", "eth0"), ("link", "set", "eth0", "mtu", str(MTU), "up"):
            subprocess.run(["nsenter", "-t", host, "-n", "ip", *words], check=True)
    print("ready", flush=True)
    print(json.dumps(Wire(devices, seed, plan).run()), flush=True)


if __name__ == "__main__":
    main()
