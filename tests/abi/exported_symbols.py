"""Checks what libmpi_abi exports: exactly the functions of the ABI, PMPI_ strong and MPI_ weak, under the right soname,
and the removed names of MPI-1 that are there on purpose (docs/decisions/0030-removed-names.md).

  exported_symbols.py LIBRARY
"""
import subprocess
import sys
from pathlib import Path


REMOVED = {"MPI_Address", "MPI_Errhandler_create", "MPI_Errhandler_get", "MPI_Errhandler_set", "MPI_Type_extent",
           "MPI_Type_hindexed", "MPI_Type_hvector", "MPI_Type_lb", "MPI_Type_struct", "MPI_Type_ub"}


def expected():
    lines = (Path(__file__).parent / "functions.txt").read_text().splitlines()
    return {line.split("|")[0].strip() for line in lines if not line.startswith("#")}


def main(library):
    symbols = {}
    for line in subprocess.check_output(["nm", "-D", "--defined-only", library], text=True).splitlines():
        _, kind, name = line.split()
        symbols[name] = kind
    wrong = []
    names = expected()
    if len(names) != 662:
        wrong.append(f"functions.txt lists {len(names)} functions, the ABI has 662")
    for name in sorted(names | REMOVED):
        for full, kind, word in ((name, "W", "weak"), ("P" + name, "T", "strong")):
            if symbols.pop(full, None) != kind:
                wrong.append(f"{full} is not exported as a {word} function")
    wrong += [f"{name} is exported, and is not in the ABI" for name in sorted(symbols)]
    dynamic = subprocess.check_output(["readelf", "-d", library], text=True)
    if "[libmpi_abi.so.1]" not in dynamic:
        wrong.append("the soname is not libmpi_abi.so.1")
    if "libstdc++" in dynamic and "asan" not in dynamic and "tsan" not in dynamic:
        wrong.append("the library needs libstdc++ at run time")
    print("\n".join(wrong) or f"{2 * len(names)} functions of the ABI, {2 * len(REMOVED)} of MPI-1, nothing else")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
