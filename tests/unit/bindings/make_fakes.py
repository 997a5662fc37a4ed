"""Writes functions that stand in for the kernel's: each notes its name and arguments and returns what the test set.
They have the signatures that the bindings expect, so a room whose header differs does not compile.

  make_fakes.py OUT ROOM...
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bindings" / "gen"))

import entry                                       # noqa: E402
from generate import keep_rooms                    # noqa: E402
from table import read_table                       # noqa: E402


def main(out, rooms):
    table = read_table(ROOT / "bindings" / "api")
    keep_rooms(table, rooms)
    includes, bodies, seen = set(), [], set()
    for header, namespace, name, parameters in entry.targets(table):
        types = [re.sub(r"\w+(?=(\[\])*(\)?\[3\])?$)", "", p) for p in parameters]
        if (signature := (namespace, name, *types)) in seen:       # the deprecated name of the same function
            continue
        seen.add(signature)
        includes.add(header)
        names = ", ".join(re.search(r"(\w+)[\[\]0-9]*$", p)[1] for p in parameters)
        bodies.append(f'Status {namespace}::{name}({", ".join(parameters)}) {{\n'
                      f'  return fake::called("{namespace}::{name}"{", " if names else ""}{names});\n}}')
    text = ["// Made by tests/unit/bindings/make_fakes.py.", '#include "tests/unit/bindings/fake.h"']
    text += [f'#include "{h}"' for h in sorted(includes)] + ["\nnamespace ashlar {"] + bodies + ["}  // namespace ashlar\n"]
    Path(out).write_text("\n".join(text))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
