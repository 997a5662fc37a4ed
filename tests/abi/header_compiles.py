"""Compiles mpi.h, alone and with every warning, as each C and C++ that is asked of it.

  header_compiles.py INCLUDE_DIR CHECKS CONVERSIONS
CHECKS is the program that make_checks.py wrote, CONVERSIONS one that uses the functions which mpi.h itself defines; both
are compiled for syntax and types in each language version.
"""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Standard, and the warnings that hold in it. Casts in the checks themselves are not the header's.
VERSIONS = [("c", "c89"), ("c", "c99"), ("c", "c11"), ("c++", "c++98"), ("c++", "c++11"), ("c++", "c++20")]
COMPILERS = {"c": ["gcc", "clang-14"], "c++": ["g++", "clang++-14"]}


def compile_one(compiler, language, version, include, source, warnings):
    command = [compiler, "-x", language, f"-std={version}", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", *warnings,
               "-fsyntax-only", f"-I{include}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(" ".join(command), done.stdout, done.stderr, sep="\n")
    return done.returncode == 0


def main(include, checks, conversions):
    good = True
    with tempfile.TemporaryDirectory() as folder:
        alone = Path(folder) / "alone.c"
        alone.write_text("#include <mpi.h>\n#include <mpi.h>\nint main(void) { return MPI_SUCCESS; }\n")
        for language, version in VERSIONS:
            for compiler in COMPILERS[language]:
                if not shutil.which(compiler):
                    print(f"{compiler} is not installed")
                    return 1
                good &= compile_one(compiler, language, version, include, alone, ["-DASHLAR_MPI_H_SHOW_WARNINGS"])
                good &= compile_one(compiler, language, version, include, checks, [])
                good &= compile_one(compiler, language, version, include, conversions, ["-DASHLAR_MPI_H_SHOW_WARNINGS"])
    print(f"{len(VERSIONS) * 2} compilations of the header")
    return not good


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
