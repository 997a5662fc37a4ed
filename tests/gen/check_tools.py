#!/usr/bin/env python3
"""The list of performance variables and events in docs/tools.md is what a process finds through MPI_T, but for the counters
of each collective algorithm, which are as many as there are algorithms. The words of events are those of the components:
every algorithm and transport of this tree has one, and no other has.

usage: check_tools.py [--write] LISTER ASHLAR_INFO docs/tools.md      LISTER: tests/mpi/tools/tools_list.c; --write puts
                                                                      the list in
"""
import json
import re
import subprocess
import sys
from pathlib import Path

from kept_list import keep

BEGIN = "<!-- Written by tests/gen/check_tools.py --write; a test holds it against the library. -->\n"
LEAST = 100     # performance variables beside the counters of algorithms


def is_algorithm(name):
    """coll.allreduce.ring and coll.allreduce.ring.to_64B; the collectives' own variables have one dot."""
    return name.startswith("coll.") and name.count(".") >= 2 and not name.startswith("coll.shm.")


def listed(lister):
    done = subprocess.run([lister], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        sys.exit(f"{lister} failed:\n{done.stderr}")
    return [line.split("\t") for line in done.stdout.splitlines()]


def cell(text):
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


def room(name):
    return name.rsplit(".", 1)[0]


def by_room(rows):
    rooms = {}
    for row in rows:
        rooms.setdefault(room(row[1]), []).append(row)
    return rooms


def tables(rows):
    pvars = [row for row in rows if row[0] == "pvar" and not is_algorithm(row[1])]
    algorithms = [row for row in rows if row[0] == "pvar" and is_algorithm(row[1])]
    events = [row for row in rows if row[0] == "event"]
    assert len(pvars) >= LEAST, f"{len(pvars)} performance variables"
    assert algorithms and events
    out = ["", f"### Performance variables: {len(pvars)}, and those of each collective algorithm", "",
           "`coll.<collective>.<algorithm>` counts the calls of an algorithm on this process, and with `.to_64B`, `.to_4KiB`,",
           "`.to_256KiB`, `.to_4MiB`, `.above_4MiB` behind it those of a size."]
    for name, of_room in by_room(pvars).items():
        out += ["", f"#### {name}", "", "| variable | class | what it says |", "| --- | --- | --- |"]
        for _, variable, kind, bind, text in of_room:
            out.append(f"| `{variable}` | {kind}{', of a ' + bind if bind else ''} | {cell(text)} |")
    out += ["", f"### Events: {len(events)}", "", "| event | what it says |", "| --- | --- |"]
    for _, name, _, _, text in events:
        out.append(f"| `{name}` | {cell(text)} |")
    return "\n".join(out) + "\n"


def stale(head, rows):
    """The comparison above the list says the same numbers as the list."""
    pvars = sum(row[0] == "pvar" and not is_algorithm(row[1]) for row in rows)
    algorithms = sum(row[0] == "pvar" and is_algorithm(row[1]) for row in rows)
    events = sum(row[0] == "event" for row in rows)
    for line in (f"| performance variables | {pvars}, and {algorithms} of collective algorithms |", f"| event types | {events} |"):
        if line not in head:
            yield f"the comparison does not say: {line}"


def asked(info, *question):
    """What ashlar_info answers."""
    done = subprocess.run([info, "--json", *question], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        sys.exit(f"{info} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def components(info, framework):
    return {row["name"] for row in asked(info, "--components", framework)}


def wrong_words(rows, transports):
    """Lists of words are written beside the events; what they name is in other places."""
    algorithms, collectives = set(), set()
    for row in rows:
        if row[0] == "pvar" and is_algorithm(row[1]):
            _, collective, algorithm = row[1].split(".")[:3]
            collectives.add(collective)
            algorithms.add(algorithm)
    wanted = {"coll.begin": collectives | algorithms | {"another"}, "coll.end": collectives | algorithms | {"another"},
              "transport.chosen": transports | {"another"}}
    for event, names in wanted.items():
        words = {row[4] for row in rows if row[0] == "word" and row[1] == event}
        for word in sorted(names - words):
            yield f"{event} has no word for {word}"
        for word in sorted(words - names):
            yield f"{event} has the word {word}, and there is none of that name"
    variables = {row[1] for row in rows if row[0] == "pvar"}
    for row in rows:
        if row[0] == "word" and row[1].startswith("base.pool_") and row[4] not in variables | {"another"}:
            yield f"{row[1]} calls a pool {row[4]}, and there is no variable of that name"


def undescribed(info):
    """Categories of which nothing is said."""
    for row in asked(info, "--categories"):
        if not row["help"]:
            yield f"the category {row['name']} has no description (framework/mpit/categories.cc)"


def unlisted(info, rows):
    """Variables that programs find, and ashlar_info does not list."""
    known = {row["name"] for row in asked(info, "--pvars")}
    for row in rows:
        if row[0] == "pvar" and row[1] not in known:
            yield f"ashlar_info --pvars does not list {row[1]}"


def main(arguments):
    write = arguments[:1] == ["--write"]
    lister, info, path = arguments[1:] if write else arguments
    text = Path(path).read_text()
    head = text.partition(BEGIN)[0]
    rows = listed(lister)
    new = tables(rows)
    wrong = [*stale(head, rows), *wrong_words(rows, components(info, "transport")), *undescribed(info),
             *unlisted(info, rows)]
    if wrong:
        return "\n".join([path, *wrong])
    return keep(Path(path), text, BEGIN, new, write, ("variables and events", "library"),
                f"tests/gen/check_tools.py --write {lister} {info} {path}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
