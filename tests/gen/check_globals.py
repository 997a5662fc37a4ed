#!/usr/bin/env python3
"""Holds the kernel's mutable variables against tests/gen/globals.txt: each is there with its reason, none is left over.

usage: check_globals.py NM LIBRARY LIST

State belongs to the Process object. A variable beside it is shared by all sessions of the program and by everything that
comes after them, so each one says why it is there.
"""
import subprocess
import sys


def variables(nm, library):
    """Symbols of the kernel in .data, .bss and thread-local storage; guards of function-local ones left out."""
    output = subprocess.run([nm, "--demangle", "--format=sysv", library], check=True, capture_output=True, text=True).stdout
    for line in output.splitlines():
        fields = [field.strip() for field in line.split("|")]
        if len(fields) != 7:
            continue
        name, kind, section = fields[0], fields[3], fields[6]
        if not name.startswith("ashlar::"):
            continue
        if kind == "TLS":
            yield name + " [thread]"
        elif kind == "OBJECT" and section in (".data", ".bss"):
            yield name


def listed(text):
    """{symbol: reason}"""
    reasons, reason, fresh = {}, [], True
    for line in text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith("reason: "):
            reason = (reason if not fresh else []) + [line.removeprefix("reason: ")]
            fresh = False
        else:
            reasons[line.strip()] = " ".join(reason)
            fresh = True
    return reasons


def main():
    nm, library, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        reasons = listed(file.read())
    found = set(variables(nm, library))
    if not found:
        sys.exit(f"FAILED: {library} shows no variables; is it stripped?")
    wrong = [f"{name}: not in {path}; make it a member of Process, or say there why not" for name in sorted(found - set(reasons))]
    wrong += [f"{name}: in {path}, and the library has no such variable" for name in sorted(set(reasons) - found)]
    wrong += [f"{name}: no reason stands above it" for name, reason in reasons.items() if not reason]
    if wrong:
        sys.exit("\n".join(["FAILED:"] + wrong))
    print(f"{len(found)} variables beside the Process object, each with its reason")


if __name__ == "__main__":
    main()
