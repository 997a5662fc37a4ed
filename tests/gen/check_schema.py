#!/usr/bin/env python3
"""The JSON Schema of the parameter files says the same as the loader. Each case is a file: the schema accepts it exactly
if `ashlar_info check` finds no mistake. Cases are written below, and made from every parameter's type, range and choices.

usage: check_schema.py ASHLAR_INFO SCHEMA EXAMPLE.yaml...     the examples are right
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from jsonschema import Draft7Validator

GOOD = [
    "", "# a comment\n", "log: warn\n", "log: WARN\n", "transport: 'shm,self'\n", "transport: [shm, self]\n", "coll: ''\n",
    "coll: []\n", "transport.shm.ring_bytes: 64KiB\n", "transport: {shm: {ring_bytes: 64KiB}}\n",
    "transport.shm: {ring_bytes: 65536}\n", "transport: {shm.ring_bytes: 0.5 MiB}\n", "check.leaks: yes\n",
    "check.leaks: 'ON'\n", "check: {leaks: 0}\n", "coll.compare_after: 0\n", "coll.compare_after: 1.5s\n",
    "p2p.eager_limit: {value: 8KiB, when: {ranks: '>=64', host: ['gpu*', '!gpu7']}}\n",
    "p2p.eager_limit: [{value: 8KiB}, {value: 4KiB, lock: true, when: {ranks_per_node: 2..16, container: false}}]\n",
    "p2p.eager_limit: [8KiB]\n", "transport: {value: [shm, self], when: {launcher: srun, fabric: mlx5*}}\n",
    "rules:\n- {when: {host: 'gpu*'}, lock: yes, set: {transport: {shm: {ring_bytes: 16KiB}}, log: info}}\n",
    "classes: {gpu: ['gpu*', 'dgx?'], cpu: cpu*}\n", "report: [{value: 'stderr,json', when: {container: 'false'}}]\n",
    "p2p.eager_limit: &limit 8KiB\nrma: ''\ncoll.scratch_cache: *limit\n",
]
BAD = [
    "lgo: warn\n", "log: loud\n", "log:\n", "log: [warn, info]\n", "log: []\n", "log: {value: warn, lok: true}\n",
    "log: {value: {a: b}}\n", "log: {value: []}\n", "log: {lock: true}\n", "log: {value: warn, lock: maybe}\n",
    "log: {value: warn, when: here}\n", "log: {value: warn, when: {hots: x}}\n", "log: {value: warn, when: {ranks: many}}\n",
    "log: {value: warn, when: {ranks: -1}}\n", "log: {value: warn, when: {host: {a: b}}}\n",
    "log: {value: warn, when: {container: perhaps}}\n", "log: {value: warn, when: {host: []}}\n", "- log\n", "log\n",
    "transport.shm.ring_bytes: 4Q\n", "transport.shm.ring_bytes: 1GiB\n", "transport.shm.ring_bytes: 16\n",
    "transport.shm.ring_bytes: -64KiB\n", "transport.shm.ring_bytes: [64KiB, 128KiB]\n",
    "transport: {shm: {ring_byte: 64KiB}}\n", "transport: {shn: {ring_bytes: 64KiB}}\n", "transport: {shm: 64KiB, x: 1}\n",
    "check.leaks: perhaps\n", "check.leaks: 2\n", "coll.compare_after: 5\n", "coll.compare_after: 2h\n",
    "coll.compare_after: 5 days\n", "coll.node_size: -1\n", "coll.node_size: 1.5\n", "coll.node_size: many\n",
    "rules: {set: {log: warn}}\n", "rules:\n- {when: {host: a}}\n", "rules:\n- {set: [log]}\n",
    "rules:\n- {set: {log: warn}, whne: {host: a}}\n", "rules:\n- {set: {lgo: warn}}\n", "rules:\n", "classes: [gpu]\n",
    "classes: {gpu: {host: a}}\n", "classes: {gpu: []}\n",
]
BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "kB": 1000, "MB": 10**6, "GB": 10**9}
TIMES = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}


def number(text, units):
    digits = text.rstrip("BKMGTikmunshn ")
    return int(digits) * units.get(text[len(digits):].strip(), 1)


def values(row):
    """Values of a parameter at and around the ends of its range, right and wrong ones."""
    kind, found = row["type"], ["", "no such value", "1Q", "-1", "0", "1", "true", "{a: b}"]
    if kind == "choice":
        found += row["choices"] + [row["choices"][0].upper(), row["choices"][0] + "x"]
    units = {"bytes": BYTES, "duration": TIMES}.get(kind, {"": 1})
    if "range" in row and kind != "choice":
        ends, *besides = row["range"].split(", or ")
        for end in ends.split(" to ") + besides:
            if kind == "number":
                found += [end]
                continue
            at = number(end, units)
            for near in (at - 1, at, at + 1, at // 2, at * 2 + 1, at * 10):
                for name, factor in units.items():
                    found.append(f"{near // factor}{name}")
                    found.append(f"'{near // factor}'")
        if kind in ("bytes", "duration"):
            found += [f"{count}{name}" for count in (0, 1, 7, 10, 63, 64, 65, 100, 999, 1024) for name in units]
            found += [f"{count}.0{name}" for count in (0, 1, 7, 64, 1024) for name in units]
            found += ["1.2.3KiB", "1e3s", "0x10", "007KiB"]
    return dict.fromkeys(found)


class Words(yaml.SafeLoader):
    """YAML 1.2, as editors read it: of the switches' words only true and false are booleans."""


Words.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in rules if tag != "tag:yaml.org,2002:bool" or first in "tTfF"]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()}


class Judges:
    def __init__(self, info, schema, folder):
        self.info, self.folder = os.path.abspath(info), folder
        self.validator = Draft7Validator(schema)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("ASHLAR", "XDG_"))} | {"HOME": folder}

    def ask(self, *words):
        done = subprocess.run([self.info, "--json", *words], capture_output=True, text=True, cwd=self.folder,
                              env=self.environment)
        return done.returncode, json.loads(done.stdout or "null"), done.stderr

    def loader(self, text):
        """The lines of its mistakes."""
        path = Path(self.folder, "case.yaml")
        path.write_text(text)
        code, said, error = self.ask("check", str(path))
        assert said is not None and not error, f"{text!r}: {error}"
        assert code == (1 if said["mistakes"] else 0), f"{text!r}: exit status {code}"
        return [mistake.get("line", 0) for mistake in said["mistakes"]]

    def schema(self, text):
        try:
            return self.validator.is_valid(yaml.load(text, Words))
        except yaml.YAMLError:
            return False


def written(judges):
    for text, right in [(t, True) for t in GOOD] + [(t, False) for t in BAD]:
        if (not judges.loader(text)) != right:
            yield f"the loader {'refuses' if right else 'takes'} {text!r}"
        if judges.schema(text) != right:
            yield f"the schema {'refuses' if right else 'takes'} {text!r}"


def swept(judges):
    """One file has a value of every parameter in each line; the loader names the lines that are wrong."""
    rows = judges.ask("--params", "--level", "developer-all")[1]
    lists = {row["key"]: list(values(row)) for row in rows if row["type"] != "text"}
    count = 0
    for at in range(max(map(len, lists.values()))):
        chosen = {key: each[at] for key, each in lists.items() if at < len(each)}
        lines = [f"{key}: {value}" for key, value in chosen.items()]
        wrong = set(judges.loader("\n".join(lines) + "\n"))
        for number_of_line, line in enumerate(lines, 1):
            count += 1
            taken = judges.schema(line)
            # The schema sees the number that YAML makes of 0x10, and of a fraction the digits before the point.
            lenient = taken and (line.endswith("0x10") or "." in line.split(": ")[1])
            if taken == (number_of_line in wrong) and not lenient:
                yield f"the schema {'takes' if taken else 'refuses'} {line!r}, the loader does not agree"
    print(f"{count} values of {len(lists)} parameters")
    if count < 5000:
        yield f"only {count} values were tried"


def explained(judges, schema):
    """What an editor shows of a key, and the words that it offers."""
    for row in judges.ask("--params", "--level", "developer-all")[1]:
        value = schema["definitions"].get(f"value.{row['key']}", {})
        if not value.get("description", "").startswith(row["help"]):
            yield f"the schema does not explain {row['key']}"
        if value.get("examples") != (row.get("choices") or ([True, False] if row["type"] == "switch" else [])):
            yield f"the schema offers {value.get('examples')} for {row['key']}"


def main(arguments):
    info, schema, *examples = arguments
    schema = json.loads(Path(schema).read_text())
    Draft7Validator.check_schema(schema)
    with tempfile.TemporaryDirectory() as folder:
        judges = Judges(info, schema, folder)
        wrong = [*explained(judges, schema), *written(judges), *swept(judges)]
        for example in examples:
            if not judges.schema(Path(example).read_text()):
                wrong.append(f"the schema refuses {example}")
    return "\n".join(wrong[:40]) or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
