"""Looks into the libraries: kernel and components call no (P)MPI function, and no library has its own copy of a variable
of the kernel (an inline variable of a header, seen by a library that hides its symbols, becomes one).

  check_libraries.py KERNEL LIBRARY...
"""
import re
import subprocess
import sys
from pathlib import Path


def symbols(library, *options):
    for line in subprocess.check_output(["nm", *options, library], text=True).splitlines():
        *_, kind, name = line.split()
        yield kind, name.split("@")[0]


def mpi_calls(library):
    return sorted(name for _, name in symbols(library, "-D", "--undefined-only") if re.match(r"P?MPI_", name))


def variables(library):
    return {name for kind, name in symbols(library, "--defined-only") if kind in "bBdD" and name.startswith("_ZN6ashlar")}


def main(kernel, *libraries):
    complaints = []
    for library in (kernel, *libraries):
        if "libmpi_abi" not in library:
            complaints += [f"{library} calls {name}" for name in mpi_calls(library)]
    shared = {name for kind, name in symbols(kernel, "-D", "--defined-only") if kind in "BDuV"}
    for library in libraries:
        complaints += [f"{library} has its own copy of the kernel's variable {name}"
                       for name in sorted(variables(library) & shared)]
    print("\n".join(complaints) or f"{1 + len(libraries)} libraries call no MPI function and share the kernel's variables")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main(*map(str, map(Path, sys.argv[1:]))))
