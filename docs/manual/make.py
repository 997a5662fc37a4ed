#!/usr/bin/env python3
"""The manual's pages of commands, files and messages. Their form: docs/manual/README.md.

usage: make.py --out SHARE_MAN --version VERSION --command NAME=PROGRAM... --info ASHLAR_INFO
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "bindings" / "gen"), str(ROOT / "config")]

import messages                                         # noqa: E402
from manual import DATE                                 # noqa: E402
from registry import registry                           # noqa: E402
from roff import code, example, heading, prose, tagged  # noqa: E402
from template import write_if_changed                   # noqa: E402


def inline(text):
    """A paragraph of Markdown: links become their words, pages bold."""
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    return prose(re.sub(r"(?<![`\w])([\w.-]+)(\(\d\))", r"`\1`\2", text))


def item(term, text):
    """What is explained, in bold, and the explanation."""
    terms = re.findall(r"`([^`]+)`", term) or [term]
    return tagged(", ".join(f"\\fB{code(t)}\\fP" for t in terms), inline(text))


# ---- what is generated ---------------------------------------------------------------------------------------------------

def options(program):
    """The rows of --help: two blanks, what is written, two blanks or more, what it does, which may go on below."""
    done = subprocess.run([program, "--help"], capture_output=True, text=True, check=True)
    rows = []
    for line in done.stdout.splitlines():
        if match := re.fullmatch(r"  (\S.*?)(?:  +(\S.*))?", line):
            rows.append([match[1], match[2] or ""])
        elif rows and re.match(r" {8,}\S", line):
            rows[-1][1] += " " + line.strip()
        elif line and rows:
            break
    if not rows:
        raise ValueError(f"{program} --help lists nothing")
    return "\n".join(tagged(f"\\fB{code(term)}\\fP", prose(text)) for term, text in rows if text)


def parameters(info):
    lines = []
    for row in sorted(registry(info), key=lambda r: (r["key"].count(".") > 0, r["key"])):
        facts = [row["type"]]
        if row.get("choices"):
            facts[0] = "one of " + ", ".join(row["choices"])
        if row.get("range"):
            facts.append("from " + row["range"])
        facts.append("built in: " + (row["default"] or "empty"))
        lines.append(tagged(f"\\fB{code(row['key'])}\\fP", prose(row["help"]) + "\n" + prose(f"({'; '.join(facts)})")))
    return "\n".join(lines)


def catalogue():
    lines = []
    for message in sorted(messages.parse((ROOT / "config/messages.yaml").read_text()), key=lambda m: m["id"]):
        lines += [f".SS {code(message['id'])}", prose(message["says"])]
        if message["because"]:
            lines += [".PP", prose(message["because"])]
        for advice in message["try"]:
            lines.append(tagged("\\(bu", prose(advice)))
    return "\n".join(lines)


# ---- pages ---------------------------------------------------------------------------------------------------------------

def blocks(text):
    """(kind, text or rows) of a page: heading, part, code, hole, list, paragraph."""
    lines = iter(text.splitlines() + [""])
    paragraph = []
    for line in lines:
        special = not line or line.startswith(("#", "```", "@", "- ", "| "))
        if paragraph and special:
            yield "paragraph", " ".join(paragraph)
            paragraph = []
        if line.startswith("### "):
            yield "part", line[4:]
        elif line.startswith("## "):
            yield "heading", line[3:]
        elif line.startswith("```"):
            body = []
            for inner in lines:
                if inner.startswith("```"):
                    break
                body.append(inner)
            yield "code", "\n".join(body)
        elif line.startswith("@"):
            yield "hole", line.strip("@").split()
        elif line.startswith("- "):
            term, _, rest = line[2:].partition(": ")
            yield "item", (term, rest)
        elif line.startswith("| "):
            cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
            yield "row", cells
        elif line:
            paragraph.append(line.strip())


def page(text, fill, version):
    """One page as roff, its names, and its section."""
    head, _, rest = text.partition("\n")
    name, section, brief = re.fullmatch(r"# ([\w.-]+)\((\d)\) - (.*)", head).groups()
    names = [name]
    if rest.startswith("Also: "):
        also, _, rest = rest.partition("\n")
        names += also.removeprefix("Also: ").split()
    manual = {"1": "Commands", "5": "Files", "7": "Ashlar MPI"}[section]
    out = ['.\\" Made by docs/manual/make.py.', heading(name, section, DATE, f"Ashlar MPI {version}", manual).rstrip(), ".SH NAME",
           ", ".join(map(code, names)), f"\\- {brief}"]
    begun, rows = True, 0
    for kind, what in blocks(rest):
        if kind in ("heading", "part"):
            out.append((".SH " if kind == "heading" else ".SS ") + code(what))
            begun, rows = False, 0
            continue
        rows = rows + 1 if kind == "row" else 0
        if kind in ("paragraph", "code") and begun:
            out.append(".PP")
        if kind == "paragraph":
            out.append(inline(what))
        elif kind == "code":
            out.append(example(what))
        elif kind == "hole":
            out.append(fill(*what))
        elif kind == "item":
            out.append(item(*what))
        elif kind == "row" and rows > 2:
            out.append(item(what[0], " ".join(what[1:])))
        begun = True
    return "\n".join(out) + "\n", names, section


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--version", default="")
    parser.add_argument("--info", required=True)
    parser.add_argument("--command", action="append", default=[])
    o = parser.parse_args(arguments)
    programs = dict(pair.split("=", 1) for pair in o.command)
    holes = {"OPTIONS": lambda name: options(programs[name]), "PARAMETERS": lambda: parameters(o.info), "MESSAGES": catalogue}
    for source in sorted(HERE.glob("*.[0-9].md")):
        text = source.read_text()
        if any(name not in programs for name in re.findall(r"^@OPTIONS (\S+)@", text, re.M)):
            continue                                    # of a command that is not built
        text, names, section = page(text, lambda hole, *words: holes[hole](*words), o.version)
        folder = o.out / f"man{section}"
        write_if_changed(folder / f"{names[0]}.{section}", text)
        for other in names[1:]:
            path = folder / f"{other}.{section}"
            path.unlink(missing_ok=True)
            path.symlink_to(f"{names[0]}.{section}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
