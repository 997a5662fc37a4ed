#!/usr/bin/env python3
"""Runs the commands of a page of the documentation, in its order, in one shell, with an installation of its own.

usage: walk.py BUILD PAGE
The page writes lib for the folder of libraries; LIBDIR in the environment names another.
Blocks of ```console hold commands behind "$ ", what follows such a line up to the next is what it prints; a here-document goes
on to its END. "..." stands for anything in a line.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def steps(text):
    """(line number, command, lines that it prints) of every command of the page."""
    found, inside, document = [], False, None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside = line == "```console"
        elif not inside:
            continue
        elif document:                                  # of a command that is not complete yet
            found[-1][1] += "\n" + line
            document = None if line == document else document
        elif line.startswith("$ "):
            found.append([number, line[2:], []])
            if here := re.search(r"<<'?(\w+)'?", line):
                document = here[1]
        else:
            found[-1][2].append(line)
    return found


def fits(printed, wanted):
    patterns = [".*".join(re.escape(part) for part in line.split("...")) for line in wanted]
    return len(printed) == len(patterns) and all(re.fullmatch(p, line) for p, line in zip(patterns, printed))


def run(commands, prefix, folder):
    """What each command prints: one shell runs all, and says between them where the next begins."""
    mark = "-- next command --"
    script = "".join(f"{command}\nprintf '\\n%s\\n' '{mark}'\n" for command in commands)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("ASHLAR", "XDG_"))}
    environment |= {"PREFIX": str(prefix), "HOME": str(folder)}
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    return done.stdout.split(f"\n{mark}\n")[:-1]


def main():
    build, page = sys.argv[1:]
    text = Path(page).read_text().replace("/lib/ashlar/", f"/{os.environ.get('LIBDIR', 'lib')}/ashlar/")
    walk = steps(text)
    if len(walk) < 5:
        return f"{page} has only {len(walk)} commands"
    with tempfile.TemporaryDirectory() as work:
        prefix, folder = Path(work, "prefix"), Path(work, "here")
        folder.mkdir()
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], stdout=subprocess.DEVNULL, check=True)
        printed = run([command for _, command, _ in walk], prefix, folder)
    wrong = [] if len(printed) == len(walk) else [f"{page}: the shell ended after {len(printed)} of {len(walk)} commands"]
    for (number, command, wanted), text in zip(walk, printed):
        lines = text.splitlines()
        if not fits(lines, wanted):
            wrong.append(f"{page}:{number}: {command}\n  should print: {wanted}\n  printed:      {lines}")
    return "\n".join(wrong) or 0


if __name__ == "__main__":
    sys.exit(main())
