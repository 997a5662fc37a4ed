#!/usr/bin/env python3
"""Every section of the standard that the tree cites ("MPI-5.0, 3.5", "MPI 5.0, chapter 15.3.7") is one of
bindings/api/sections.txt, and every procedure of the table has its section.

usage: check_sections.py ROOT | --self-test
"""
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(HERE / "bindings" / "gen"))

from sections import check_calls, follows, read_sections     # noqa: E402
from table import TableError, read_table                     # noqa: E402

SUFFIXES = {".api", ".c", ".calls", ".cc", ".h", ".in", ".md", ".py", ".sh", ".txt", ".words", ".yaml"}
# "MPI-5.0, 11.3 and 7.4.2", "(MPI 5.0, section 6.9.2.)"; a comment may go on in its next line.
BREAK = r"[\s/*#]+"
NUMBER = r"\d+(?:\.\d+)*"
CITED = re.compile(rf"MPI[- ]5\.0,{BREAK}(?:(?:sections?|chapters?){BREAK})?({NUMBER}(?:(?:,| and| or| to){BREAK}{NUMBER})*)")


def cited(text):
    """(line, number) of each section that a text refers to."""
    for match in CITED.finditer(text):
        for number in re.finditer(NUMBER, match[1]):
            yield text.count("\n", 0, match.start(1) + number.start()) + 1, number[0]


def exists(number, sections):
    """Whether the standard has it. The table ends at the third level: 19.1.17.3 is in 19.1.17."""
    return ".".join(number.split(".")[:3]) in sections.titles


def files(root):
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if path.suffix in SUFFIXES and path.is_file() and not parts[0].startswith((".", "build", "install")):
            yield path


def check(root):
    sections = read_sections(root / "bindings" / "api" / "sections.txt")
    table = read_table(root / "bindings" / "api")
    try:
        check_calls(sections, {**table.procedures, **table.removed.procedures})
    except TableError as wrong:
        yield str(wrong)
    count = 0
    for path in files(root):
        if path == Path(__file__).resolve():
            continue
        for line, number in cited(path.read_text(errors="replace")):
            count += 1
            if not exists(number, sections):
                yield f"{path.relative_to(root)}:{line}: MPI 5.0 has no section {number}"
    if count < 50:
        yield f"only {count} citations were found: the form of this check is wrong"


def self_test():
    text = "a (MPI-5.0, 3.5) b\n * MPI 5.0, section 6.9.2. c (MPI-5.0,\n// 11.3 and 7.4.2): 3 of MPI-4.1, 99\n"
    assert list(cited(text)) == [(1, "3.5"), (2, "6.9.2"), (3, "11.3"), (3, "7.4.2")], list(cited(text))
    assert follows("3.2", "3.1") and follows("3.2.1", "3.2") and follows("4", "3.10.2") and follows("3.3", "3.2.7")
    assert not follows("3.3", "3.1.1") and not follows("3.2.2", "3.2") and not follows("5", "3.10")
    sections = read_sections(HERE / "bindings" / "api" / "sections.txt")
    assert sections.of_call["MPI_Sendrecv"] == "3.2.7" and sections.of_call["MPI_T_init_thread"] == "15.3.4"
    assert exists("19.1.17.3", sections) and not exists("3.6.2", sections) and not exists("21", sections)


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    wrong = list(check(Path(sys.argv[1]).resolve()))
    print("\n".join(wrong) if wrong else "ok")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
