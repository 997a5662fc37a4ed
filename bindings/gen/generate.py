"""Makes everything that follows from the API table.

  generate.py --header include/mpi.h        the public header (committed)
  generate.py --removed include/mpi_removed.h   the names that the standard once had (committed)
  generate.py --entries DIR                 DIR/<chapter>.cc, one per chapter, and DIR/mpi_abi.map
  generate.py --coverage FILE               which functions the kernel does
  generate.py --wrappers DIR                DIR/wrappers.cc and DIR/wrappers.map, for libashlar_tool.so
  generate.py --fortran DIR                 DIR/mpi.f90, DIR/mpif.h, DIR/entries.c, ...: the Fortran interface, in sources
  generate.py --man DIR                     DIR/MPI_Send.3, ...: the manual's pages of all calls
  generate.py --declarations [HEADER]       what the rooms have to declare (to read, on standard output)
  generate.py --chapters                    the names of the chapters, for CMake
"""
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import entry                                   # noqa: E402
import fortran_sources                         # noqa: E402
import header                                  # noqa: E402
import manual                                  # noqa: E402
import tool                                    # noqa: E402
from sections import read_sections             # noqa: E402
from table import TableError, read_table       # noqa: E402
from template import write_if_changed          # noqa: E402

API = Path(__file__).resolve().parents[1] / "api"


def keep_rooms(table, rooms):
    """A kernel built without some room does without the calls that go there."""
    for procedure in [*table.procedures.values(), *table.removed.procedures.values()]:
        parts = Path(procedure.overlay.header).parts
        if parts[:1] == ("framework",) and parts[1] not in rooms:
            procedure.overlay.calls = procedure.overlay.header = ""


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--api", default=API, help="folder of the table")
    parser.add_argument("--rooms", help="rooms of the kernel in this build; calls into others count as missing")
    parser.add_argument("--header")
    parser.add_argument("--removed")
    parser.add_argument("--entries")
    parser.add_argument("--coverage")
    parser.add_argument("--wrappers")
    parser.add_argument("--fortran")
    parser.add_argument("--man")
    parser.add_argument("--version", default="", help="of the library, for the manual")
    parser.add_argument("--declarations", nargs="?", const="", default=None)
    parser.add_argument("--chapters", action="store_true")
    options = parser.parse_args(arguments)
    try:
        table = read_table(options.api)
    except TableError as error:
        return str(error)
    if options.rooms is not None:
        keep_rooms(table, options.rooms.split(","))
    chapters = table.removed.chapters() + [c for c in table.chapters() if any(p.in_abi for p in table.procedures.values() if p.chapter == c)]
    if options.header:
        write_if_changed(options.header, header.mpi_h(table))
    if options.removed:
        write_if_changed(options.removed, header.mpi_removed_h(table))
    if options.entries:
        for name in chapters:
            of = table.removed if name in table.removed.chapters() else table
            write_if_changed(Path(options.entries) / f"{name}.cc", entry.chapter(name, of))
        write_if_changed(Path(options.entries) / "mpi_abi.map", entry.export_map(table))
    if options.coverage:
        write_if_changed(options.coverage, entry.coverage(table))
    if options.wrappers:
        write_if_changed(Path(options.wrappers) / "wrappers.cc", tool.wrappers(table))
        write_if_changed(Path(options.wrappers) / "wrappers.map", tool.export_map(table))
    if options.fortran:
        for name, text in fortran_sources.sources(table):
            write_if_changed(Path(options.fortran) / name, text)
    if options.man:
        try:
            sections = read_sections(Path(options.api) / "sections.txt")
            manual.write_manual(table, sections, API.parent / "words", options.man, f"Ashlar MPI {options.version}".strip())
        except TableError as error:
            return str(error)
    if options.declarations is not None:
        print(entry.declarations(table, options.declarations), end="")
    if options.chapters:
        print(";".join(chapters), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
