#!/usr/bin/env python3
"""The manual: every function of the ABI has a page, mandoc finds nothing to complain about, no page refers to one that is not
there, each synopsis is what the compilers see, every option of a command and every message is on its page.

usage: manual_test.py SHARE_MAN MPI_H_FOLDER COVERAGE [--cc CC] [--fc FC] [--mandoc MANDOC] [--command NAME=PROGRAM]...
Tools that are not given are left out.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bindings" / "gen"), str(ROOT / "config"), str(ROOT / "docs" / "manual")]

import fortran_types                                     # noqa: E402
import make                                        # noqa: E402
import messages                                    # noqa: E402
from table import read_table                       # noqa: E402
from words import read_errors                      # noqa: E402

API = ROOT / "bindings" / "api"
ESCAPES = {"\\-": "-", "\\(aq": "'", "\\(ga": "`", "\\(ha": "^", "\\(ti": "~", "\\&": "", "\\ ": " ", "\\e": "\\"}
TYPES = {"MPI_Aint", "MPI_Count"}


def plain(text):
    return re.sub(r"\\(?:-|\(aq|\(ga|\(ha|\(ti|&| |e)", lambda m: ESCAPES[m[0]], re.sub(r"\\f[BIPR]", "", text))


def synopsis(text, language):
    """The lines of a page's example under .SS LANGUAGE, or ''."""
    found = re.search(rf"^\.SS {language}\n\.EX\n(.*?)^\.EE$", text, re.S | re.M)
    return plain(found[1]) if found else ""


def lint(pages, mandoc):
    done = subprocess.run([mandoc, "-Tlint", *map(str, pages)], capture_output=True, text=True)
    yield from (done.stdout + done.stderr).splitlines()[:20]


def coverage(folder, path):
    """Each function is found, under its own name and that of the profiling interface, and its page says what it does."""
    for line in path.read_text().splitlines():
        name, state, _ = line.split()
        for called in (name, "P" + name):
            page = folder / f"{called}.3"
            if not page.exists():
                yield f"{called} has no page"
                continue
            text = page.read_text()
            if not re.search(rf"^\.SH NAME\n[^\n]*\b{name.replace('-', '.')}\b", text, re.M):
                yield f"the page of {called} does not name {name}"
            if ("Not implemented in this version" in text) != (state == "unsupported"):
                yield f"{called} is {state}, and its page says otherwise"


def links(man, pages):
    """References are NAME(SECTION), with the name in bold; calls are also named without a section."""
    for page in pages:
        text = page.read_text()
        wanted = set(re.findall(r"^\.BR (\S+) \((\d)\)", text, re.M)) | set(re.findall(r"\\fB(\S+?)\\fP\((\d)\)", text))
        # A specific procedure of mpi_f08 is on the page of its generic name.
        called = (re.sub("(_c)?_f08(ts)?$", "", name) for name in re.findall(r"\\fB(P?MPI_[A-Z][a-z]\w*)\\fP", text))
        wanted |= {(name, "3") for name in called if name not in TYPES}
        for name, section in wanted:
            if not (man / f"man{section}" / f"{plain(name)}.{section}").exists():
                yield f"{page.name} refers to {plain(name)}({section}), which is not there"


def options(man, command, program):
    """Whatever begins a line of --help as an option does."""
    text = plain((man / "man1" / f"{command}.1").read_text())
    done = subprocess.run([program, "--help"], capture_output=True, text=True)
    found = re.findall(r"^  (-[-\w]+)", done.stdout, re.M)
    if len(found) < 3:
        yield f"{command} --help lists only {found}"
    for option in found:
        if not re.search(rf"^{re.escape(option)}\b", text, re.M):
            yield f"the page of {command} does not have {option}"


def catalogue(man):
    text = plain((man / "man7" / "ashlar-messages.7").read_text())
    for message in messages.parse((ROOT / "config" / "messages.yaml").read_text()):
        if f".SS {message['id']}\n" not in text:
            yield f"ashlar-messages(7) lacks {message['id']}"


def guides():
    """Each page of docs is a page of the manual, or said to be none; the overview lists them."""
    overview = (ROOT / "docs" / "manual" / "ashlar.7.md").read_text()
    for path in sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md")):
        if path not in make.GUIDES and path not in make.NO_PAGES:
            yield f"{path} is in neither GUIDES nor NO_PAGES of docs/manual/make.py"
    for name, section, _ in make.GUIDES.values():
        if f"{name}({section})" not in overview:
            yield f"ashlar(7) does not list {name}({section})"


def classes():
    """The errors that bindings/words names are those of the code."""
    known = make.error_classes()
    tools = "".join(p.read_text() for p in (ROOT / "framework" / "mpit").glob("*.cc"))
    for cls, identity, condition, _ in read_errors(API.parent / "words" / "errors.words"):
        if identity == "-":
            if not re.search(rf"\b{cls}\b", tools):
                yield f"errors.words: no call of MPI_T answers {cls}"
        elif cls not in known.get(identity, ()):
            yield f"errors.words: {identity} has the classes {sorted(known.get(identity, ()))}, not {cls} ({condition})"


def compiled(command, name, text):
    with tempfile.TemporaryDirectory() as work:
        source = Path(work, name)
        source.write_text(text)
        done = subprocess.run([*command, "-fsyntax-only", source], capture_output=True, text=True, cwd=work)
        if done.returncode != 0:
            yield f"{name}: {done.stderr[:3000]}"


def c_source(pages):
    """All prototypes after mpi.h: a compiler refuses one that differs."""
    return "\n".join(["#include <mpi.h>\n#include <mpi_removed.h>"] + [synopsis(p.read_text(), "C") for p in pages])


def fortran_unit(head, rest):
    """One interface body of the procedure whose lines are these."""
    head = " ".join(line.rstrip("& ").strip() for line in head)
    head = head.replace(" !(_c)", "")
    kind = "subroutine" if head.startswith("MPI_") else "function"
    result, _, call = head.rpartition(" MPI_")
    call = ("MPI_" + call) if result and kind == "function" else head
    name, _, arguments = call.partition("(")
    fortran_unit.count += 1
    name = f"{name}_{fortran_unit.count}"
    lines = [f"{result + ' ' if kind == 'function' else ''}{kind} {name}({arguments}", "use mpi_f08_names", *rest,
             f"end {kind} {name}"]
    return "\n".join("  " + line for line in lines)


fortran_unit.count = 0


def fortran_source(pages):
    """All interfaces, in a module that has the types, constants and callbacks of the table."""
    table = read_table(API)
    units = []
    for page in pages:
        head, rest = [], []
        for line in synopsis(page.read_text(), "Fortran 2008").splitlines()[2:]:
            if " :: " in line:
                rest.append(line)
            elif head and (head[-1].endswith("&")):
                head.append(line)
            else:
                units += [fortran_unit(head, rest)] if head else []
                head, rest = [line], []
        units += [fortran_unit(head, rest)] if head else []
    called = sorted(set(re.findall(r"procedure\((\w+)\)", "\n".join(units), re.IGNORECASE)))
    callbacks = "\n".join(f"    subroutine {name}()\n    end subroutine" for name in called)
    return f"""{fortran_types.module(table)}
module mpi_f08_names
  use ashlar_fortran_types
  use, intrinsic :: iso_c_binding
  implicit none
  abstract interface
{callbacks}
  end interface
end module
module all_interfaces
  implicit none
  interface
{chr(10).join(units)}
  end interface
end module
"""


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("man", type=Path)
    parser.add_argument("include")
    parser.add_argument("coverage", type=Path)
    for tool in ("cc", "fc", "mandoc"):
        parser.add_argument(f"--{tool}")
    parser.add_argument("--command", action="append", default=[])
    o = parser.parse_args(arguments)
    pages = sorted(p for p in (o.man / "man3").glob("*.3") if not p.is_symlink())
    others = [p for section in "157" for p in sorted((o.man / f"man{section}").glob(f"*.{section}")) if not p.is_symlink()]
    wrong = [f"there are only {len(pages)} pages of calls and {len(others)} others"] if len(pages) < 500 or len(others) < 7 else []
    wrong += [*coverage(o.man / "man3", o.coverage), *links(o.man, pages + others), *catalogue(o.man), *classes(), *guides()]
    for pair in o.command:
        wrong += options(o.man, *pair.split("=", 1))
    if o.mandoc:
        wrong += lint(pages + others, o.mandoc)
    if o.cc:
        wrong += compiled([o.cc, f"-I{Path(o.include).resolve()}", "-Wall", "-Werror", "-Wno-unused-function"], "prototypes.c", c_source(pages))
    if o.fc:
        wrong += compiled([o.fc, "-std=f2018", "-ffree-line-length-none", "-Wall", "-Wno-unused-dummy-argument"], "interfaces.f90", fortran_source(pages))
    return "\n".join(wrong[:40]) or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
