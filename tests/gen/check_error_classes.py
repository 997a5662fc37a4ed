#!/usr/bin/env python3
"""Compares the error classes of framework/base/error_class.h with those of the generated <mpi.h>, names and values, and
finds components that write a class as a number.

usage: check_error_classes.py SOURCE_FOLDER MPI_H
       check_error_classes.py --self-test
"""
import pathlib
import re
import sys


def mistakes(ours, theirs):
    """What is wrong with the enumerators in the text `ours`, by the macros in the text `theirs`."""
    standard = dict(re.findall(r"^#define MPI_(ERR_\w+) (\d+)$", theirs, re.M))
    listed = re.findall(r"\bASHLAR_(ERR_\w+)\s*=\s*(\w+)", ours)
    if not standard or not listed:
        return ["no error classes were found: has the form of a header changed?"]
    return [f"ASHLAR_{name} is {value}, MPI_{name} {standard.get(name, 'does not exist')}"
            for name, value in listed if standard.get(name) != value]


def numbers(text):
    """The lines on which a failure is made with a class that is written as a number."""
    for call in re.finditer(r"\bashlar_fail_with\([^,()]+,\s*\d|->fail\(\s*\d", text):
        yield text.count("\n", 0, call.start()) + 1


def self_test():
    theirs = "#define MPI_ERR_ARG 13\n#define MPI_ERR_NO_MEM 39\n"
    assert mistakes("enum { ASHLAR_ERR_ARG = 13, ASHLAR_ERR_NO_MEM = 39 };", theirs) == []
    assert mistakes("enum { ASHLAR_ERR_ARG = 14, ASHLAR_ERR_MEM = 39 };", theirs) == [
        "ASHLAR_ERR_ARG is 14, MPI_ERR_ARG 13", "ASHLAR_ERR_MEM is 39, MPI_ERR_MEM does not exist"]
    assert len(mistakes("", theirs)) == 1 and len(mistakes("enum { ASHLAR_ERR_ARG = 13 };", "")) == 1
    assert list(numbers('f();\nashlar_fail_with(&host, 39, "a");\nhost->fail(13 /* ARG */, "b");')) == [2, 3]
    assert list(numbers('ashlar_fail_with(h, ASHLAR_ERR_IO, "a", f, 2); host->fail(ASHLAR_ERR_IO, "b")')) == []
    print("the check finds what it is for")


def main(folder, header):
    root = pathlib.Path(folder)
    ours = (root / "framework/base/error_class.h").read_text()
    found = mistakes(ours, pathlib.Path(header).read_text())
    for top in ("components", "examples"):
        for path in sorted((root / top).rglob("*.[hc]*")):
            found += [f"{path.relative_to(root)}:{line}: an error class as a number" for line in numbers(path.read_text())]
    print("\n".join(found) or "the classes are the standard's")
    sys.exit(bool(found))


if __name__ == "__main__":
    self_test() if sys.argv[1] == "--self-test" else main(*sys.argv[1:])
