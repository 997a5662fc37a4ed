#!/usr/bin/env python3
"""The list of parameters in docs/parameters.md is the registry's: every key of the kernel and of the components of this
tree, with its default and its help text. Commands in the other pages name parameters that exist.

usage: check_parameters.py [--write] ASHLAR_INFO docs/parameters.md [PAGE...]      --write puts the list in
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "config"))

from registry import registry           # noqa: E402

from kept_list import keep              # noqa: E402

BEGIN = "<!-- Written by tests/gen/check_parameters.py --write; a test holds it against the registry. -->\n"


def cell(text):
    return text.replace("|", "\\|")


def table(parameters):
    lines = []
    framework = None
    for row in sorted(parameters, key=lambda p: (p["key"].count(".") > 0, p["key"])):
        head = row["key"].split(".")[0] if "." in row["key"] else "the whole library"
        if head != framework:
            framework = head
            lines += ["", f"### {head}", "", "| parameter | default | what it does |", "| --- | --- | --- |"]
        default = f"`{cell(row['default'])}`" if row["default"] else ""
        reach = f" From {row['range']}." if "range" in row else ""
        kind = ", ".join(f"`{choice}`" for choice in row.get("choices", []))
        lines.append(f"| `{row['key']}` | {default} | {cell(row['help'])}{f' One of {kind}.' if kind else ''}{reach} |")
    return "\n".join(lines[1:]) + "\n"


def unknown_keys(pages, known):
    """Keys after --set or explain, in commands and sentences."""
    for page in pages:
        for key in re.findall(r"(?:--set |explain (?:--pid \d+ )?)([a-z_0-9]+(?:\.[a-z_0-9]+)*)", Path(page).read_text()):
            if key not in known:
                yield f"{page}: there is no parameter {key}"


def main(arguments):
    write = arguments[:1] == ["--write"]
    info, path, *pages = arguments[1:] if write else arguments
    text = Path(path).read_text()
    parameters = registry(info)
    new = "\n" + table(parameters)
    wrong = list(unknown_keys([path, *pages], {row["key"] for row in parameters}))
    if wrong:
        return "\n".join(wrong)
    return keep(Path(path), text, BEGIN, new, write, ("parameters", "registry"),
                f"tests/gen/check_parameters.py --write {info} {path}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
