#!/usr/bin/env python3
"""A launcher that speaks PMI-1 or PMI-2 with its ranks, strictly, and may have a fault.

usage: pmi_server.py [options] -n RANKS PROGRAM [arguments]
  --dialect 1|2|both   what it speaks; another greeting is refused
  --port               ranks connect to PMI_PORT, instead of having PMI_FD
  --map TEXT           PMI_process_mapping; "" has none
  --vallen N --keylen N  its limits, which count an ending zero
  --env NAME=VALUE     for the ranks
  --fault KIND:COMMAND what it does instead of answering: silent, close, noise, endless, refuse, other
A rank that breaks the protocol is a line "pmi_server: ..." and exit status 99. The first rank that fails ends the job,
with its status, or 128 and the signal; abort has its exit code.
"""
import argparse
import os
import selectors
import signal
import socket
import subprocess
import sys

NAMES = {"kvs-put": "put", "kvs-get": "get", "kvs-fence": "barrier_in", "info-getjobattr": "attribute"}


class Broken(Exception):
    pass


class Rank:
    def __init__(self, number, connection, process):
        self.number, self.connection, self.process = number, connection, process
        self.bytes, self.frames, self.greeted, self.left, self.waits = b"", False, False, False, False

    def cut(self):
        """The next whole command, or None."""
        if not self.frames:
            line, end, rest = self.bytes.partition(b"\n")
            if len(line) > 1023:
                raise Broken(f"a line of {len(line)} bytes")
            if not end:
                return None
            self.bytes = rest
            return dict(word.split("=", 1) for word in line.decode().split(" "))
        if len(self.bytes) < 6 or len(self.bytes) < 6 + int(self.bytes[:6]):
            return None
        body, self.bytes = self.bytes[6:6 + int(self.bytes[:6])].decode(), self.bytes[6 + int(self.bytes[:6]):]
        if not body.endswith(";") or ";;" in body:
            raise Broken(f"not NAME=VALUE; {body!r}")
        return dict(pair.split("=", 1) for pair in body[:-1].split(";"))

    def say(self, command, **values):
        pairs = [("cmd", command), *((name.replace("_", "-") if self.frames and name.startswith("pmi") else name, value)
                                     for name, value in values.items())]
        if self.frames:
            body = "".join(f"{name}={value};" for name, value in pairs)
            text = f"{len(body):<6}" if self.number % 2 else f"{len(body):>6}"  # servers do both
            text += body
        else:
            text = " ".join(f"{name}={value}" for name, value in pairs) + "\n"
        data = text.encode()
        # In two parts: an answer need not come whole.
        self.connection.sendall(data[:len(data) // 2])
        self.connection.sendall(data[len(data) // 2:])


class Server:
    def __init__(self, options):
        self.options, self.ranks, self.space, self.status = options, [], {}, None
        self.pending = {}  # what has been put since the last fence
        self.selector = selectors.DefaultSelector()
        if options.map:
            self.space["PMI_process_mapping"] = options.map

    def start(self, number):
        env = dict(os.environ)
        for name in ("PMI_FD", "PMI_PORT", "PMI_ID", "PMI_RANK", "PMI_SIZE", "PMI_JOBID", "PMI_SPAWNED"):
            env.pop(name, None)
        if self.options.port:
            env.update(PMI_PORT="%s:%d" % (self.options.port, self.listener.getsockname()[1]), PMI_ID=str(number))
            self.ranks.append(Rank(number, None, subprocess.Popen(self.options.program, env=self.extended(env))))
            return
        ours, theirs = socket.socketpair()
        env.update(PMI_FD=str(theirs.fileno()), PMI_RANK=str(number), PMI_SIZE=str(self.options.n))
        process = subprocess.Popen(self.options.program, env=self.extended(env), pass_fds=[theirs.fileno()])
        theirs.close()
        self.ranks.append(Rank(number, ours, process))
        self.selector.register(ours, selectors.EVENT_READ, self.ranks[-1])

    def extended(self, env):
        return dict(env, **dict(entry.split("=", 1) for entry in self.options.env))

    def welcome(self):
        """A process that has connected says which rank it is."""
        connection = self.listener.accept()[0]
        newcomer = Rank(0, connection, None)
        while (message := newcomer.cut()) is None:
            newcomer.bytes += connection.recv(4096)
        if message["cmd"] == "init" and message["pmi_version"] == "2":  # PMI-2 says it later
            self.answer(newcomer, message)
            while newcomer.greeted and (message := newcomer.cut()) is None:
                newcomer.bytes += connection.recv(4096)
        number = message.get("pmiid", message.get("pmirank"))
        if message["cmd"] not in ("initack", "fullinit") or number is None:
            raise Broken(f"{message} instead of initack")
        rank = self.ranks[int(number)]
        rank.connection, rank.greeted, rank.frames = connection, newcomer.greeted, newcomer.frames
        if message["cmd"] == "fullinit":
            self.answer(rank, message)
        else:
            connection.sendall(b"cmd=initack\ncmd=set size=%d\ncmd=set rank=%d\ncmd=set debug=0\n" % (self.options.n, rank.number))
        self.selector.register(connection, selectors.EVENT_READ, rank)

    def answer(self, rank, message):
        command = message["cmd"]
        kind, _, which = self.options.fault.partition(":")
        if which == command:
            if kind == "close":
                self.selector.unregister(rank.connection)
                rank.connection.close()
                return
            if kind in ("noise", "endless"):
                rank.connection.sendall(b"\x00\xff\n;;;\n" if kind == "noise" else b"x" * 200000)
                return
            if kind == "refuse":
                name = {"put": "put_result", "kvs-put": "kvs-put-response", "init": "response_to_init"}[command]
                rank.say(name, rc=-1, msg="no_room", errmsg="no_room", pmi_version=9)
                return
            if kind == "other":
                rank.say("finalize_ack", rc=0)
                return
            return  # silent
        if command == "init":
            version = message["pmi_version"]
            right = self.options.dialect in (version, "both")
            rank.say("response_to_init", pmi_version=version if right else self.options.dialect,
                     pmi_subversion=message["pmi_subversion"], rc=0 if right else -1)
            rank.greeted, rank.frames = right, right and version == "2"
            return
        if not rank.greeted:
            raise Broken(f"{command} before a greeting")
        reply = (lambda name, **values: rank.say(f"{command}-response" if rank.frames else name, **values))
        plain = NAMES.get(command, command) if rank.frames else command
        if plain == "fullinit":
            rank.say("fullinit-response", rc=0, pmi_version=2, rank=rank.number, size=self.options.n, appnum=3)
        elif plain == "get_maxes":
            rank.say("maxes", kvsname_max=256, keylen_max=self.options.keylen, vallen_max=self.options.vallen)
        elif plain in ("get_my_kvsname", "job-getid"):
            reply("my_kvsname", **{"jobid" if rank.frames else "kvsname": "kvs_7"}, rc=0)
        elif plain == "get_universe_size":
            rank.say("universe_size", size=9)
        elif plain == "get_appnum":
            rank.say("appnum", appnum=3)
        elif plain == "put":
            self.put(rank, message["key"], message["value"], message.get("kvsname"))
            reply("put_result", rc=0)
        elif plain in ("get", "attribute"):
            if message["key"] == "universeSize":
                reply("", rc=0, found="TRUE", value=9)
            elif message["key"] in self.space:
                reply("get_result", rc=0, **({"found": "TRUE"} if rank.frames else {"msg": "success"}), value=self.space[message["key"]])
            elif rank.frames:
                reply("", rc=0, found="FALSE")
            else:
                rank.say("get_result", rc=-1, msg="key_not_found", value="unknown")
        elif plain == "barrier_in":
            self.fence(rank)
        elif plain == "finalize":
            rank.left = True
            reply("finalize_ack", rc=0)
        elif plain == "abort":
            self.end(int(message.get("exitcode", 1)))
        else:
            raise Broken(f"the command {command}")

    def put(self, rank, key, value, space):
        if not rank.frames and space != "kvs_7":
            raise Broken(f"the space {space}")
        if len(key) >= self.options.keylen or len(value) >= self.options.vallen or not value:
            raise Broken(f"a key of {len(key)} and a value of {len(value)} characters")
        if key in self.space or key in self.pending:
            raise Broken(f"{key} is put twice")
        self.pending[key] = value

    def fence(self, rank):
        if rank.waits:
            raise Broken("a fence within a fence")
        rank.waits = True
        if all(each.waits for each in self.ranks):
            self.space.update(self.pending)
            self.pending = {}
            for each in self.ranks:
                each.waits = False
                each.say("kvs-fence-response" if each.frames else "barrier_out", rc=0)

    def read(self, rank):
        data = rank.connection.recv(65536)
        if not data:
            self.selector.unregister(rank.connection)
            rank.connection.close()
            return
        rank.bytes += data
        while (message := rank.cut()) is not None:
            self.answer(rank, message)

    def end(self, status):
        if self.status is None:
            self.status = status
        for rank in self.ranks:
            rank.process.kill()

    def run(self):
        if self.options.port:
            self.listener = socket.create_server(("127.0.0.1", 0))
            self.selector.register(self.listener, selectors.EVENT_READ, None)
        for number in range(self.options.n):
            self.start(number)
        while any([rank.process.poll() is None for rank in self.ranks]):
            for key, _ in self.selector.select(0.02):
                try:
                    self.read(key.data) if key.data else self.welcome()
                except (BrokenPipeError, ConnectionResetError):
                    self.selector.unregister(key.fileobj)
                except (Broken, ValueError, KeyError) as wrong:
                    print(f"pmi_server: rank {key.data.number if key.data else '?'}: {wrong}", file=sys.stderr)
                    self.end(99)
            for rank in self.ranks:
                if rank.process.returncode:
                    self.end(128 - rank.process.returncode if rank.process.returncode < 0 else rank.process.returncode)
        for rank in self.ranks:
            if rank.process.wait():
                self.end(128 - rank.process.returncode if rank.process.returncode < 0 else rank.process.returncode)
        return self.status or 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dialect", default="both", choices=["1", "2", "both"])
    parser.add_argument("--port", nargs="?", const="127.0.0.1", default="")
    parser.add_argument("--map", default="(vector,(0,1,1))")
    parser.add_argument("--vallen", type=int, default=1024)
    parser.add_argument("--keylen", type=int, default=64)
    parser.add_argument("--env", action="append", default=[])
    parser.add_argument("--fault", default="")
    parser.add_argument("-n", type=int, default=1)
    parser.add_argument("program", nargs=argparse.REMAINDER)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(Server(parser.parse_args()).run())


if __name__ == "__main__":
    main()
