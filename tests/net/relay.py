"""An agent in front of another one: relay.py WAY KIND BYTES -- AGENT...

Passes on what mpiexec and its daemon tell each other, and behind the first message of kind KIND that goes the way WAY
(`there`: to the daemon, `back`: to mpiexec) writes BYTES, in hexadecimal; with `mute` in their place nothing more passes that
way. Without those three it only passes on: a relay that
is stopped is a connection that is cut, with no end for either side.
"""
import os
import struct
import subprocess
import sys
import threading

HEAD = struct.Struct("=IHH")
MARK = 0xA57A


def frame(kind, body=b""):
    return HEAD.pack(len(body), kind, MARK) + body


def pass_on(source, sink, lines, kind, extra):
    """Bytes from one descriptor to another; `lines`: those of a daemon, which begins with its line."""
    kept = b""
    while data := os.read(source, 65536):
        kept += data
        while lines and (end := kept.find(b"\n")) >= 0:
            line, kept = kept[:end + 1], kept[end + 1:]
            lines = not line.startswith(b"ashlar-mpiexec-daemon")
            os.write(sink, line)
        while not lines and len(kept) >= HEAD.size:
            length, number, _ = HEAD.unpack_from(kept)
            if len(kept) < HEAD.size + length:
                break
            whole, kept = kept[:HEAD.size + length], kept[HEAD.size + length:]
            mute = number == kind and extra is None
            if number == kind:
                whole, kind = whole + (extra or b""), None
            while whole:
                whole = whole[os.write(sink, whole):]
            while mute and os.read(source, 65536):
                pass
    os.close(sink)


def main():
    at = sys.argv.index("--")
    way, kind, extra = sys.argv[1:at] or ("", -1, "")
    # As behind ssh: what is killed here does not reach it.
    agent = subprocess.Popen(sys.argv[at + 1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    there, back = os.dup(agent.stdin.fileno()), agent.stdout.fileno()
    agent.stdin.close()
    extra = None if extra == "mute" else bytes.fromhex(extra)
    plan = {name: (int(kind), extra) if way == name else (-1, b"") for name in ("there", "back")}
    threading.Thread(target=pass_on, args=(0, there, False, *plan["there"]), daemon=True).start()
    try:
        pass_on(back, 1, True, *plan["back"])
    except BrokenPipeError:
        pass
    sys.exit(agent.wait() & 255)


if __name__ == "__main__":
    main()
