#!/usr/bin/env python3
"""Compiles config/messages.yaml into the table of framework/base/catalogue.cc.

usage: messages.py MESSAGES.yaml OUT.inc

The file is YAML, restricted so that nothing but this script is needed to read it:
    some.id:
      says: "One sentence."          a double-quoted text, which may go on over following lines
      because: "..."                 optional
      try:                           what the user can do about it
        - "..."
      no_try: "..."                  in its place, for maintainers: why there is no such line
A sentence of because or try that needs a fact which the code does not know at that time is left out.
"""
import json
import re
import sys


class Mistake(Exception):
    pass


def parse(text):
    """The messages in order: [{"id", "says", "because", "try", "no_try", "line"}]."""
    messages, current, where = [], None, None
    lines = iter(enumerate(text.splitlines(), 1))

    def quoted(rest, number):
        """A double-quoted scalar that begins in `rest`; line breaks in it fold to a space, as YAML has it."""
        while not re.fullmatch(r'"(?:[^"\\]|\\.)*"\s*(#.*)?', rest):
            try:
                _, more = next(lines)
            except StopIteration:
                raise Mistake(f"line {number}: the text does not end") from None
            rest = rest + " " + more.strip()
        return json.loads(re.match(r'"(?:[^"\\]|\\.)*"', rest)[0])

    for number, line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if found := re.fullmatch(r"([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+):\s*", line):
            current = {"id": found[1], "says": "", "because": "", "try": [], "no_try": "", "line": number}
            if any(m["id"] == current["id"] for m in messages):
                raise Mistake(f"line {number}: {current['id']} is there twice")
            messages.append(current)
            where = None
        elif current and (found := re.fullmatch(r"  (says|because|no_try):\s*(\".*)", line)):
            current[found[1]] = quoted(found[2], number)
        elif current and re.fullmatch(r"  try:\s*", line):
            where = "try"
        elif current and where == "try" and (found := re.fullmatch(r"    - (\".*)", line)):
            current["try"].append(quoted(found[1], number))
        else:
            raise Mistake(f"line {number}: not understood: {line.strip()}")
    for message in messages:
        if not message["says"]:
            raise Mistake(f"line {message['line']}: {message['id']} says nothing")
        if bool(message["try"]) == bool(message["no_try"]):
            raise Mistake(f"line {message['line']}: {message['id']} needs either try or no_try")
    return messages


def facts(message):
    """The names in braces: those of says, which the code must give, and those of the sentences that may be left out."""
    named = lambda *texts: set(re.findall(r"\{([a-z_0-9]+)\}", " ".join(texts)))
    needed = named(message["says"])
    return needed, named(message["because"], *message["try"]) - needed


def table(messages, source):
    c = lambda text: json.dumps(text, ensure_ascii=False)
    messages = sorted(messages, key=lambda m: m["id"].encode())  # the code searches by halves
    out = [f"// Made by config/messages.py from {source}."]
    for i, m in enumerate(messages):
        out.append(f"constexpr const char* kTries{i}[] = {{{''.join(c(t) + ', ' for t in m['try'])}nullptr}};")
    out.append("constexpr Row kRows[] = {")
    for i, m in enumerate(messages):
        out.append(f"    {{{c(m['id'])}, {c(m['says'])}, {c(m['because'])}, kTries{i}}},")
    out.append("};")
    return "\n".join(out) + "\n"


def main(arguments):
    source, target = arguments
    with open(source, encoding="utf-8") as file:
        try:
            text = table(parse(file.read()), "config/messages.yaml")
        except Mistake as mistake:
            sys.exit(f"{source}: {mistake}")
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main(sys.argv[1:])
