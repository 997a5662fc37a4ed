#!/usr/bin/env python3
"""Holds config/messages.yaml against the code: every id used exists, every id is used, every fact matches.

usage: check_messages.py SOURCE_FOLDER

A use is catalogue::message("some.id", {{"fact", value}, ...}) or catalogue::fail(class, "some.id", {...}).
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(root / "config"))
import messages  # noqa: E402


def balanced(text, start):
    """The text from the bracket at `start` to the one that closes it; string literals are skipped."""
    depth, at = 0, start
    while at < len(text):
        if text[at] == '"':
            at = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, at).end()
            continue
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            return text[start:at]
    return text[start:]


def uses(text):
    for call in re.finditer(r"catalogue::(?:message|fail)(\()", text):
        inside = balanced(text, call.start(1))
        found = re.match(r'\((?:[^,"]+,\s*)?"([^"]+)"', inside)
        if found:
            facts = set(re.findall(r'\{\s*"([a-z_]+)"\s*,', inside[found.end():]))
            yield text.count("\n", 0, call.start()) + 1, found[1], facts


known = {m["id"]: messages.facts(m) for m in messages.parse((root / "config/messages.yaml").read_text())}
mistakes, used = [], set()
for folder in ("framework", "components", "mpiexec", "bindings", "tools"):
    for path in sorted((root / folder).rglob("*")):
        if path.suffix not in (".cc", ".h") or path.name.startswith("catalogue."):
            continue
        for line, name, facts in uses(path.read_text()):
            place = f"{path.relative_to(root)}:{line}"
            used.add(name)
            if name not in known:
                mistakes.append(f"{place}: there is no message {name}")
            elif facts != known[name]:
                for fact in sorted(known[name] - facts):
                    mistakes.append(f"{place}: {name} needs the fact {fact}")
                for fact in sorted(facts - known[name]):
                    mistakes.append(f"{place}: {name} has no place for the fact {fact}")
for name in sorted(set(known) - used):
    mistakes.append(f"config/messages.yaml: {name} is not used")
if not used:
    mistakes.append("no use of the catalogue was found: has its form changed?")
print("\n".join(mistakes) or f"{len(used)} messages match the code")
sys.exit(bool(mistakes))
