#!/usr/bin/env python3
"""records.py MPIEXEC PROGRAM SCHEMA COMPONENT: the records that report=json writes, of failing jobs, notices and decisions, are as the
published schema says; and the schema has no member that no record has."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from jsonschema import Draft7Validator

# how the program ends, options of mpiexec, what the records have to have between them
JOBS = [
    ("bad-rank", [], {"id": "argument.rank", "class": "MPI_ERR_RANK", "argument": "dest"}),
    ("truncate", [], {"class": "MPI_ERR_TRUNCATE", "call": "MPI_Recv"}),
    ("part-error", [], {"kind": "error", "object": "the last one", "fatal": True}),
    ("strange-name", [], {"object": "\N{REPLACEMENT CHARACTER}\"\n</script>\N{LINE SEPARATOR}\u00e9"}),
    ("leak", ["--set", "check.leaks=true"], {"kind": "notice"}),
    ("leak", ["--explain"], {"kind": "decision"}),
]


def once(pairs):
    """An object; a member that comes twice is a mistake that json would not report."""
    found = dict(pairs)
    assert len(found) == len(pairs), f"a member comes twice: {pairs}"
    return found


def records_of(mpiexec, program, way, options):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([mpiexec, *options, "--set", "report=json", "--set", f"report.json.file={folder}/%r-%p", "-n", "2", program,
                        way], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
        # As bytes: what is not UTF-8 is not JSON.
        return [json.loads(line.decode(), object_pairs_hook=once) for path in Path(folder).iterdir()
                for line in path.read_bytes().splitlines()]


def full_records(info, component):
    """What the component writes of records in which everything is known."""
    done = subprocess.run([info, "check", component], capture_output=True, timeout=60, check=True)
    return [json.loads(line.decode(), object_pairs_hook=once) for line in done.stderr.splitlines() if line.startswith(b"{")]


def members(value):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            if name != "facts":
                yield from members(inner)


def main():
    mpiexec, program, path, component = sys.argv[1:]
    schema = json.loads(Path(path).read_text())
    Draft7Validator.check_schema(schema)
    validator = Draft7Validator(schema)
    problems, seen = [], set()
    prefix = Path(os.path.abspath(mpiexec)).parents[1]
    jobs = [(way, wanted, records_of(mpiexec, program, way, options)) for way, options, wanted in JOBS]
    jobs.append(("ashlar_info check", {"kind": "error", "bytes_got": 0},
                 full_records(prefix / "bin/ashlar_info", component)))
    for way, wanted, records in jobs:
        if not any(wanted.items() <= record.items() for record in records):
            problems.append(f"{way}: no record has {wanted}, but:\n{records}")
        for record in records:
            seen.update(members(record))
            problems += [f"{way}: {error.message[:300]}\n  in {record}" for error in validator.iter_errors(record)]
    of_schema = {name for kind in ("error", "notice", "decision") for name in schema["definitions"][kind]["properties"]}
    of_schema |= set(schema["definitions"]["decision"]["properties"]["decision"]["properties"])
    problems += [f"no record has the schema's member {name}" for name in sorted(of_schema - seen)]
    # A schema that takes everything would say nothing.
    for wrong in ({"kind": "error", "pid": 1}, {"kind": "notice", "pid": 1, "level": 7, "text": "x"}, {"kind": "other", "pid": 1},
                  {"kind": "decision", "pid": 1, "decision": {}}, {"kind": "notice", "pid": 1, "level": 1, "text": "x", "more": 1}):
        if validator.is_valid(wrong):
            problems.append(f"the schema takes {wrong}")
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
