#!/usr/bin/env python3
"""Every pool, cache and queue has a limit and says how much is in it: the tree is held against tests/gen/pools.txt, and that
against the registry of parameters, the list of performance variables and docs/limits.md.

usage: check_pools.py ASHLAR_INFO LISTER SOURCE_DIR      LISTER: tests/mpi/tools/tools_list.c
       check_pools.py --self-test
"""
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "config"))

from registry import registry           # noqa: E402

STORAGE = re.compile(r"^\s*(?:constinit |static )*(?:Slab|Pool|HandlePool)<\w+>\s*&?\s*(\w+)\s*(?:[;{]|= \*new)"
                     r"|^\s*(?:ChunkCache|MessageQueue) (\w+);", re.M)
# Members of these templates are the storage of whatever uses them.
TEMPLATES = {"framework/object/pool.h", "framework/mpit/pool.h"}
# Parameters with such names are limits of something that grows; the protocols' sizes of messages are not.
NO_LIMITS = {"p2p.eager_limit"}
LIMITS = re.compile(r"(?:_limit|\.limit|_cache|_queue|\.queue_bytes|\.records|\.buffer|_clients|_rings|_budget|_per_rank|"
                    r"\.ring_bytes|\.blocks|\.piece)$")


def declarations(root):
    for folder in "framework", "components":
        for path in sorted((root / folder).rglob("*.[hc]*")):
            name = path.relative_to(root).as_posix()
            if name in TEMPLATES:
                continue
            for found in STORAGE.finditer(path.read_text()):
                yield name, found.group(1) or found.group(2)


def rows(text):
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        where, limit, variables = (part.strip() for part in line.split("|"))
        file, name = where.split()
        yield file, name, limit, [] if variables == "-" else variables.split()


def mistakes(declared, listed, keys, variables, page, text_of):
    """`declared`: pairs of file and name; `text_of`: the source of a file, or None."""
    listed = list(listed)
    named = {(file, name) for file, name, _, _ in listed}
    for file, name in declared:
        if (file, name) not in named:
            yield f"{file}: {name} is in no line: which parameter limits it, and which variable says how much is in it?"
    for file, name, limit, sizes in listed:
        text = text_of(file)
        if text is None or not re.search(rf"\b{name}\b", text):
            yield f"{file}: there is no {name}"
        for size in sizes:
            if size not in variables:
                yield f"{file} {name}: there is no variable {size}"
        if limit.startswith("="):
            continue
        if limit not in keys:
            yield f"{file} {name}: there is no parameter {limit}"
        if not sizes:
            yield f"{file} {name}: no variable says how much is in it"
        for what in {limit, *sizes[:1]}:
            if f"`{what}`" not in page:
                yield f"docs/limits.md does not name {what}"
    limits = {limit for _, _, limit, _ in listed}
    for key in sorted(keys):
        if LIMITS.search(key) and key not in limits | NO_LIMITS:
            yield f"{key} is in no line: what does it limit, and which variable says how much there is?"


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    info, lister, root = arguments
    root = Path(root)
    listed = subprocess.run([lister], capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
    variables = {line.split("\t")[1] for line in listed if line.startswith("pvar\t")}
    declared = list(declarations(root))
    if len(declared) < 25:
        return f"only {len(declared)} declarations were found"
    wrong = mistakes(declared, rows((root / "tests/gen/pools.txt").read_text()), {row["key"] for row in registry(info)},
                     variables, (root / "docs/limits.md").read_text(),
                     lambda file: (root / file).read_text() if (root / file).exists() else None)
    return "\n".join(dict.fromkeys(wrong)) or 0


def self_test():
    text = "a/b.h items | a.limit | a.items\na/b.h others | = few | -\n"

    def of(text, declared=(("a/b.h", "items"),), keys=("a.limit",), variables=("a.items",), page="`a.limit` `a.items`"):
        return list(mistakes(declared, rows(text), set(keys), set(variables), page, {"a/b.h": "items others"}.get))
    assert of(text) == []
    assert len(of(text, declared=[("a/b.h", "more")])) == 1
    assert of(text, keys=["a.limit", "a.other_limit"]) == [
        "a.other_limit is in no line: what does it limit, and which variable says how much there is?"]
    assert len(of(text, keys=[])) == 1
    assert len(of(text, variables=[])) == 1
    assert of(text, page="`a.limit`") == ["docs/limits.md does not name a.items"]
    assert len(of(text.replace("others", "gone"))) == 1
    assert len(of(text.replace("a.items", "-"))) == 1
    found = STORAGE.findall("constinit Pool<Group> pool{PoolName::kGroups};\n  Slab<T> some_;\n"
                            "  static HandlePool<A>& all = *new HandlePool<A>;\nvoid f(Slab<T>& no);\n  ChunkCache chunks;\n")
    assert found == [("pool", ""), ("some_", ""), ("all", ""), ("", "chunks")], found
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
