#!/usr/bin/env python3
"""The manual's pages of commands, files and messages. Their form: docs/manual/README.md.

usage: make.py --out SHARE_MAN --version VERSION --command NAME=PROGRAM... --info ASHLAR_INFO
"""
import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

CLASS = r"(?:MPI|ASHLAR)_ERR_\w+|kErr[A-Z]\w*"
SOURCES = ("framework", "components", "mpiexec", "bindings")
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "bindings" / "gen"), str(ROOT / "config")]

import messages                                         # noqa: E402
from manual import DATE                                 # noqa: E402
from registry import registry                           # noqa: E402
from roff import code, example, heading, prose, tagged  # noqa: E402
from template import write_if_changed                   # noqa: E402


# The guides of the documentation, as pages: an installation has them without the tree.
GUIDES = {
    "docs/running.md": ("ashlar-running", "7", "ranks, placement, output, exit status, jobs that hang"),
    "docs/networks.md": ("ashlar-networks", "7", "messages between machines: interfaces, ports, firewalls, what is noticed"),
    "docs/tracing.md": ("ashlar-tracing", "7", "which calls the ranks made, and when; where the time went"),
    "docs/administering.md": ("ashlar-administering", "7", "an installation for others: settings, checks, tuning"),
    "docs/fortran.md": ("ashlar-fortran-guide", "7", "mpif.h, mpi and mpi_f08 with any compiler, and optimizing compilers"),
    "docs/errors.md": ("ashlar-errors", "7", "error handlers, codes, what a failing job prints"),
    "docs/collectives.md": ("ashlar-collectives", "7", "which algorithm runs, choosing another, tuning"),
    "docs/one-sided.md": ("ashlar-one-sided", "7", "which way an operation takes, what it costs, what needs the target"),
    "docs/files.md": ("ashlar-files", "7", "what happens to the data of files, pointers, representations, errors"),
    "docs/datatypes.md": ("ashlar-datatypes", "7", "what is fast, finding sends and receives that do not match"),
    "docs/security.md": ("ashlar-security", "7", "which files are trusted, what is refused"),
    "docs/limits.md": ("ashlar-limits", "7", "what is not implemented, and the limits of what is"),
    "docs/tools.md": ("ashlar-tools", "7", "variables, events and calls that tools see"),
    "docs/writing-a-component.md": ("ashlar-component", "7", "a component of your own"),
    "config/tuning/README.md": ("ashlar-tuning", "5", "rules that choose the algorithms of collectives"),
}
# About the tree itself; and the parameters, which have ashlar.yaml(5).
NO_PAGES = {"docs/architecture.md", "docs/building.md", "docs/glossary.md", "docs/rooms.md", "docs/parameters.md"}
PAGES = {Path(path).name: page for path, page in GUIDES.items() if not path.endswith("README.md")} | {"parameters.md": ("ashlar.yaml", "5")}


def link(match):
    """What stands for a link: the page that its target is here, or else its words."""
    words, target = match.groups()
    found = PAGES.get(Path(target.partition("#")[0]).name)
    if found is None:
        return words
    return f"{found[0]}({found[1]})" if words.endswith(".md") else f"{words} ({found[0]}({found[1]}))"


def inline(text):
    """A paragraph of Markdown: links become pages or words, pages bold."""
    text = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", link, text)
    text = re.sub(r"\*\*(.+?)\*\*", lambda bold: "`" + bold[1].replace("`", "") + "`", text)
    return prose(re.sub(r"(?<![`\w])([\w.-]+)(\(\d\))", r"`\1`\2", text))


def item(term, text):
    """What is explained, in bold, and the explanation."""
    pieces = re.split(r"`([^`]+)`", re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", term))
    if len(pieces) == 1:
        pieces = ["", term, ""]
    tag = "".join(f"\\fB{code(p)}\\fP" if i % 2 else code(p) for i, p in enumerate(pieces))
    return tagged(tag, inline(text)) if len(tag) < 79 else tagged("\\(bu", inline(f"{term}: {text}"))


# ---- what is generated ---------------------------------------------------------------------------------------------------

def options(program):
    """The rows of --help: two blanks, what is written, two blanks or more, what it does, which may go on below."""
    # In a build with sanitizers, what a program that only prints has not freed is no reason to have no page.
    environment = os.environ | {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
    done = subprocess.run([program, "--help"], capture_output=True, text=True, check=True, env=environment)
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


def error_classes():
    """id -> names of the classes that the code fails with."""
    found = {}
    for source in (p for top in SOURCES for p in sorted((ROOT / top).rglob("*")) if p.suffix in (".cc", ".h", ".c")):
        for *names, identity in re.findall(rf'(?:\b({CLASS}) : )?\b({CLASS}),\s*"([a-z][\w.]*)"', source.read_text()):
            for name in filter(None, names):
                if name.startswith("kErr"):
                    name = re.sub(r"(?<!^)(?=[A-Z])", "_", name.removeprefix("kErr")).upper()
                found.setdefault(identity, set()).add("MPI_ERR_" + re.sub(r"^(MPI|ASHLAR)_ERR_", "", name))
    return found


def catalogue():
    lines, classes = [], error_classes()
    for message in sorted(messages.parse((ROOT / "config/messages.yaml").read_text()), key=lambda m: m["id"]):
        lines += [f".SS {code(message['id'])}", prose(message["says"])]
        if message["because"]:
            lines += [".PP", prose(message["because"])]
        for advice in message["try"]:
            lines.append(tagged("\\(bu", prose(advice)))
        if message["id"] in classes:
            lines += [".PP", prose("Class " + " or ".join(sorted(classes[message["id"]])) + ".")]
    return "\n".join(lines)


# ---- pages ---------------------------------------------------------------------------------------------------------------

def blocks(text):
    """(kind, text or cells) of a page: heading, part, code, hole, item, row, paragraph."""
    lines = iter(text.splitlines() + [""])
    gathered, kind = [], "paragraph"                    # a paragraph or an item, which may go on in further lines
    for line in lines:
        if gathered and (not line or line.startswith(("#", "```", "@", "- ", "| ", "<!--"))):
            yield kind, " ".join(gathered)
            gathered = []
        if line.startswith("#"):
            yield ("heading" if line.startswith("## ") else "part"), line.lstrip("# ")
        elif line.startswith("```"):
            body = []
            for inner in lines:
                if inner.startswith("```"):
                    break
                body.append(inner)
            yield "code", "\n".join(body)
        elif line.startswith("@"):
            yield "hole", line.strip("@").split()
        elif line.startswith("| "):
            yield "row", [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip("| "))]
        elif not line:
            yield "gap", ""
        elif not line.startswith("<!--"):
            kind = "item" if line.startswith("- ") else kind if gathered else "paragraph"
            gathered.append(line.removeprefix("- ").strip())


def listed(text):
    """`term`, `term`: what it is; or a point of a list."""
    term = re.match(r"((?:`[^`]+`|[\w.]+\(\d\))(?:, (?:`[^`]+`|[\w.]+\(\d\)))*|[a-z ]+): ", text)
    return item(term[1], text[term.end():]) if term else tagged("\\(bu", inline(text))


def row(cells, heads):
    """The first cell is what the others explain; with several, each has the head of its column."""
    if len(cells) < 3:
        return item(cells[0], " ".join(cells[1:]))
    return item(cells[0], "; ".join(f"{head}: {cell}" for head, cell in zip(heads[1:], cells[1:]) if cell))


def render(text, fill):
    """The body of a page."""
    out, begun, rows, heads = [], False, 0, []
    for kind, what in blocks(text):
        if kind in ("heading", "part"):
            out.append((".SH " if kind == "heading" else ".SS ") + code(what.upper() if kind == "heading" else what))
            begun, rows = False, 0
            continue
        rows = rows + 1 if kind == "row" else 0
        if kind == "gap":
            continue
        if kind in ("paragraph", "code") and begun:
            out.append(".PP")
        if kind == "paragraph":
            out.append(inline(what))
        elif kind == "code":
            out.append(example(what))
        elif kind == "hole":
            out.append(fill(*what))
        elif kind == "item":
            out.append(listed(what))
        elif kind == "row" and rows == 1:
            heads = what
        elif kind == "row" and rows > 2:
            out.append(row(what, heads))
        begun = True
    return "\n".join(out) + "\n"


def head(names, section, brief, version):
    manual = {"1": "Commands", "5": "Files", "7": "Ashlar MPI"}[section]
    return "\n".join(['.\\" Made by docs/manual/make.py.', heading(names[0], section, DATE, f"Ashlar MPI {version}", manual).rstrip(),
                      ".SH NAME", ", ".join(map(code, names)), f"\\- {brief}"]) + "\n"


def page(text, fill, version):
    """One page as roff, its names, and its section."""
    first, _, rest = text.partition("\n")
    name, section, brief = re.fullmatch(r"# ([\w.-]+)\((\d)\) - (.*)", first).groups()
    names = [name]
    if rest.startswith("Also: "):
        also, _, rest = rest.partition("\n")
        names += also.removeprefix("Also: ").split()
    return head(names, section, brief, version) + render(rest, fill), names, section


def guide(path, version):
    """The title gives way to NAME; what stands before the first heading is the description."""
    name, section, brief = GUIDES[path]
    text = (ROOT / path).read_text().partition("\n")[2]
    see = "\n## SEE ALSO\n\nashlar(7), mpiexec(1), ashlar_info(1), ashlar.yaml(5)\n"
    return head([name], section, brief, version) + render("## DESCRIPTION\n" + text + see, None), [name], section


def write(folder, text, names, section):
    write_if_changed(folder / f"man{section}" / f"{names[0]}.{section}", text)
    for other in names[1:]:
        path = folder / f"man{section}" / f"{other}.{section}"
        path.unlink(missing_ok=True)
        path.symlink_to(f"{names[0]}.{section}")


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
        write(o.out, *page(text, lambda hole, *words: holes[hole](*words), o.version))
    for path in GUIDES:
        write(o.out, *guide(path, o.version))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
