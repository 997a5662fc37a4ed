#!/usr/bin/env python3
"""Holds Debian's packages to the tree: every file that is installed is in one of them.

    check_packages.py CMAKE BUILD LIBDIR INCLUDEDIR DEBIAN   installs BUILD into a temporary folder and compares with the
                                                             lists in the folder DEBIAN
    check_packages.py --self-test                            checks the checker

Building the packages finds the same (dh_missing), in minutes instead of seconds. What a list names and the tree does not
install is left to that: some of it only the packages' own configuration makes.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def patterns(debian):
    """The lines of *.install and of not-installed, without the folder that a line names as the target."""
    lines = []
    for file in [*sorted(debian.glob("*.install")), debian / "not-installed"]:
        lines += [line.split()[0] for line in file.read_text().splitlines() if line.strip() and not line.startswith("#")]
    return lines


def removed(rules):
    """The programs and pages that debian/rules removes after the installation."""
    return {name for names in re.findall(r"&& rm ([^&\n]*)", rules) for name in names.split()}


def places(path, libdir, includedir):
    """Where Debian has an installed file, one place or two: programs that other implementations have as well, and their
    pages, get the ending .ashlar; libraries get a folder of their own; pages of calls a section of their own."""
    if path.startswith(includedir + "/"):
        return ["usr/include/ARCH/ashlar-mpi/" + path[len(includedir) + 1:]]
    if path.startswith(libdir + "/"):
        below = path[len(libdir) + 1:]
        return ["usr/lib/ARCH/" + below, "usr/lib/ARCH/ashlar/" + below]
    if path.startswith("bin/"):
        return ["usr/" + path, f"usr/{path}.ashlar"]
    return ["usr/" + path, "usr/" + re.sub(r"(\.1)$", r".ashlar\1", path)]


def matches(pattern, place):
    """As dh_install does: `*` stands for a part of one name, and a folder for all that is below."""
    return re.fullmatch("[^/]*".join(map(re.escape, pattern.rstrip("/").split("*"))) + "(/.*)?", place) is not None


def missing(installed, lines, rules, libdir, includedir):
    gone = removed(rules)
    return [path for path in installed if path.rsplit("/", 1)[-1] not in gone and
            not any(matches(line, place) for line in lines for place in places(path, libdir, includedir))]


def self_test():
    lines = ["usr/bin/mpicc.ashlar", "usr/include", "usr/lib/*/ashlar/components", "usr/lib/*/ashlar/fortran/*-*/mpif*",
             "usr/lib/*/ashlar/libmpi.so", "usr/share/man/man1/mpicc.ashlar.1"]
    rules = "\tcd $(bin) && rm mpif77 mpirun && \\\n\t  mv mpicc mpicc.ashlar\n"
    packed = ["bin/mpicc", "bin/mpif77", "bin/mpirun", "include/mpi.h", "lib/ashlar/components/a.so", "lib/libmpi.so",
              "lib/ashlar/fortran/gfortran-12/mpif.h", "share/man/man1/mpicc.1"]
    forgotten = ["bin/other", "lib/ashlar/fortran/gfortran-12/implicit/mpif.h", "lib/libmpi.so.1", "lib/ashlar/componentsb",
                 "share/man/man1/other.1"]
    found = missing(packed + forgotten, lines, rules, "lib", "include")
    if found != forgotten:
        sys.exit(f"found {found}, expected {forgotten}")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    cmake, build, libdir, includedir, debian = sys.argv[1:]
    debian = pathlib.Path(debian)
    with tempfile.TemporaryDirectory() as prefix:
        subprocess.run([cmake, "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "DESTDIR": ""})
        root = pathlib.Path(prefix)
        installed = sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_symlink() or p.is_file())
    if len(installed) < 100:
        sys.exit(f"{build} installs only {installed}")
    found = missing(installed, patterns(debian), (debian / "rules").read_text(), libdir, includedir)
    for path in found:
        print(f"{path} is installed and in no package: add it to a list in {debian}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
