"""Holds every #include of the tree against the direction of the rooms: nothing points left.

  check_includes.py [ROOT]
A room may include itself and the rooms that its ashlar_room(... USES ...) names, and those must lie before it in ORDER.
"""
import re
import sys
from pathlib import Path

ORDER = ["base", "param", "plugin", "memory", "object", "datatype", "progress", "match", "p2p", "coll", "comm", "rma", "io", "topo",
         "runtime", "mpit", "tools"]
SIDE_BY_SIDE = {"io", "topo"}                       # no order among these, and no includes
COMPONENT_ROOMS = {"base", "param", "plugin", "datatype"}  # what every component may see of the kernel
FRAMEWORK_ROOMS = {"coll": {"coll", "object"}, "rma": {"rma", "object", "memory"}, "io": {"io", "object"}}
LAUNCHER_ROOMS = {"base", "param", "plugin"}
SOURCES = ("*.h", "*.cc", "*.c", "*.h.in")
# A header that has to be included several times says so, and why.
GUARD = re.compile(r"^#(pragma once|ifndef \w+)$|^//.*\bNo #pragma once: ", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def uses_of(cmake):
    """room -> rooms named by USES in its ashlar_room() call."""
    found = {}
    for call in re.findall(r"ashlar_room\(\s*(\w+)(.*?)\)", cmake, re.S):
        name, rest = call
        match = re.search(r"\bUSES\b(.*?)(?=\b(?:SOURCES|LIBS)\b|$)", rest, re.S)
        found[name] = set(match[1].split()) if match else set()
    return found


def wrong_uses(uses):
    """Complaints about USES lists that point left or sideways."""
    for room, used in sorted(uses.items()):
        if room not in ORDER:
            yield f"framework/{room}: the room is not in the order of rooms"
            continue
        for other in sorted(used):
            sideways = room in SIDE_BY_SIDE and other in SIDE_BY_SIDE
            if other not in ORDER or ORDER.index(other) >= ORDER.index(room) or sideways:
                yield f"framework/{room}: USES {other}, which does not lie before it"


def allowed(file, target, uses):
    """Why `file` may not include `target`, or None. Both are paths from the root, as tuples of their parts."""
    if ".." in target:
        return "a path from the root of the tree is wanted"
    home, folder = file[0], target[0]
    if home == "tests" or home == "examples":
        return None
    if folder == "framework":
        room = target[1]
        if home == "framework":
            if room == file[1] or room in uses.get(file[1], set()):
                return None
            return f"room {file[1]} does not use room {room}"
        if home == "components":
            may = COMPONENT_ROOMS | FRAMEWORK_ROOMS.get(file[1], set())
            return None if room in may else f"a {file[1]} component may not see room {room}"
        if home == "mpiexec":
            # ashlar_tune runs as ranks of a job and asks the collectives what there is to choose from; ashlar_info checks
            # tuning files with the collectives' own reader, and opens the components of windows for their variables.
            may = LAUNCHER_ROOMS | {"tune": {"object", "coll"}, "info": {"coll", "rma", "runtime", "mpit"}}.get(file[1], set())
            return None if room in may else f"the launcher may not see room {room}"
        return None
    if folder == "components":
        # components/<framework>/common is what the components of a framework share; it is part of each of them.
        shared = target[2] == "common" and file[1] == target[1]
        return None if shared or file[:3] == target[:3] else "a component's headers are its own"
    if folder in ("bindings", "mpiexec", "tests"):
        return None if home == folder else f"nothing outside may include {folder}"
    return None


def check(root):
    uses = {}
    for cmake in sorted((root / "framework").glob("*/CMakeLists.txt")):
        uses.update(uses_of(cmake.read_text()))
    complaints = list(wrong_uses(uses))
    count = 0
    for top in ("framework", "components", "mpiexec", "bindings", "include", "tests"):
        for pattern in SOURCES:
            for path in sorted((root / top).rglob(pattern)):
                file = path.relative_to(root)
                text = path.read_text()
                if path.suffix == ".h" and not GUARD.search(text):
                    complaints.append(f"{file}: nothing guards it against being included twice")
                if file.parts[0] == "framework" and file.parts[1] not in uses and len(file.parts) > 2:
                    continue                                # a room without CMakeLists.txt is not built
                for target in INCLUDE.findall(text):
                    count += 1
                    reason = allowed(file.parts, tuple(target.split("/")), uses)
                    if reason:
                        complaints.append(f"{file}: includes {target}: {reason}")
    return complaints, count


def main(arguments):
    root = Path(arguments[0] if arguments else Path(__file__).resolve().parents[2])
    complaints, count = check(root)
    print("\n".join(complaints) or f"{count} includes, all in the direction of the rooms")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
