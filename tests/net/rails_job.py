"""A job of net_rails whose two ranks two networks join: rank 0 does tasks, and reads the large messages, as its decision records
are shown."""
import subprocess
import tempfile
import time

LARGE = 4 << 20
LONG = 120_000_000  # three seconds over two networks of RATE
RATE = "160mbit"
BOGUS = "02:00:00:00:00:99"  # no interface has this address


def bytes_in(table, card):
    """Of /proc/net/dev, what has come over an interface."""
    for line in table.splitlines():
        if line.strip().startswith(f"{card}:"):
            return int(line.split(":")[1].split()[0])
    raise AssertionError(f"there is no {card}")


class RailsJob:
    """What a subclass has: came(card), the bytes that have come to rank 0 over an interface."""

    def __init__(self, words, **options):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(words, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        **options)

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
        """The job ends well, and what it has said of its decisions is as expected."""
        self.process.stdin.close()
        status = self.process.wait()
        said = self.said()
        assert status == 0, f"status {status}\n{said}"
        for words in expected:
            assert words in said, f"'{words}' is not in\n{said}"

    def begin_on(self, card, task):
        """A part of the message has come over the interface on return."""
        before = self.came(card)
        self.begin(task)
        while self.came(card) < before + LARGE:
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

    # The same for every transport with rails.
    def read_both_ways(self):
        """Both read from each other at one time, several messages each; each has rails of its own."""
        now = self.until(f"both {LARGE} 6", lambda now: all(now[f"{rank}.rail1_bytes"] > 0 for rank in (0, 1)))
        assert now["0.rails"] == now["1.rails"] == 1, now
        assert now["0.rails_lost"] == now["1.rails_lost"] == 0, now

    def read_over_one(self):
        """Rails are switched off."""
        for _ in range(4):
            now = self.do(f"both {LARGE} 2")
        assert now["0.rails"] == now["0.striped"] == now["1.rails"] == now["1.striped"] == 0, now

    def read_of_late_sender(self):
        """The sender computes when its message is asked for, for longer than a rail may bring nothing."""
        self.until_both()
        for _ in range(2):
            now = self.do(f"sleep 1.2 from {LARGE}")
        assert now["0.rails"] == 1 and now["0.rails_lost"] == 0, now
