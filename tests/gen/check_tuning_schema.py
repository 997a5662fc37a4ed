#!/usr/bin/env python3
"""The JSON Schema of tuning files says the same as their reader: it accepts a file exactly if `ashlar_info check` finds no
mistake in it, but for ranges whose ends are the wrong way round and lists of one value. Cases are written below, and made of every setting of a row.

usage: check_tuning_schema.py ASHLAR_INFO SCHEMA EXAMPLE.yaml...     the examples are right
"""
import json
import sys
import tempfile
from pathlib import Path

from check_schema import Judges
from jsonschema import Draft7Validator

HEAD = "schema: 1\norigin: a test\n"
GOOD = [
    "schema: 1\n", "schema: '1'\norigin: 2026\n", HEAD + "barrier: {any: {use: dissemination}}\n",
    HEAD + "bcast:\n  small: {bytes: ..4KiB, ranks: 2.., nodes: 1, node_ranks: 2..8, use: binomial}\n  any: {use: chain, segment: 64KiB}\n",
    HEAD + "allreduce: {a: {commutative: false, use: ring, note: why not}, b: {commutative: yes, use: recursive_doubling}}\n",
    HEAD + "allreduce.a: {use: ring}\n", HEAD + "allreduce.a.use: ring\nallreduce.a.bytes: 1MiB..\n",
    HEAD + "allreduce: {a.use: ring}\n", HEAD + "reduce: {a: {use: knomial, radix: 4}, b: {use: linear, window: 8}}\n",
    HEAD + "reduce: {a: {use: linear, bytes: .., window: '8', radix: 2, segment: 1.5KiB}}\n",
    HEAD + "bcast: {a: {use: hier, segment: 256KiB, leaders: 2, bandwidth: ..100MiB}}\n",
]
BAD = [
    "schema: 2\n", HEAD + "allreduc: {a: {use: ring}}\n", HEAD + "allreduce: {a: {use: rign}}\n",
    HEAD + "allreduce: {a: {bytes: ..4KiB}}\n", HEAD + "allreduce: {a: {use: ring, byte: 4}}\n",
    HEAD + "allreduce: {a: {use: ring, bytes: 4Q}}\n", HEAD + "allreduce: {a: {use: ring, bytes: 1KiB-2KiB}}\n",
    HEAD + "allreduce: {a: {use: ring, commutative: perhaps}}\n", HEAD + "allreduce: {a: {use: ring, window: 0}}\n",
    HEAD + "allreduce: {a: {use: ring, radix: 1}}\n", HEAD + "allreduce: {a: {use: ring, segment: many}}\n",
    HEAD + "allreduce: {a: {use: hier, leaders: 0}}\n",
    HEAD + "allreduce: {a: {use: ring, ranks: many}}\n", HEAD + "allreduce: {a: {b: {use: ring}}}\n",
    HEAD + "allreduce.a.b.use: ring\n", HEAD + "allreduce: ring\n", HEAD + "barrier: {a: {use: ring}}\n",
    HEAD + "allreduce: {a: {use: ring, ranks: -2}}\n",
]
VALUES = ["1", "2", "0", "8", "'8'", "'0'", "'1'", "4KiB", "..4KiB", "1KiB..", "1KiB..2MiB", "..", "2..8", "1.5KiB", ".5MiB", "4 KiB",
          "4Q", "-1", "many", "''", "..many", "1..2..3", "...", "true", "false", "yes", "no", "perhaps", "'true'", "16.."]
SETTINGS = ["bytes", "ranks", "nodes", "node_ranks", "bandwidth", "segment", "window", "radix", "leaders", "commutative"]


def agree(judges, text):
    return judges.schema(text) == (not judges.loader(text))


def main(arguments):
    info, schema, *examples = arguments
    schema = json.loads(Path(schema).read_text())
    Draft7Validator.check_schema(schema)
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        judges = Judges(info, schema, folder)
        for text, right in [(t, True) for t in GOOD] + [(t, False) for t in BAD]:
            if (not judges.loader(text)) != right:
                wrong.append(f"the reader {'refuses' if right else 'takes'} {text!r}")
            if judges.schema(text) != right:
                wrong.append(f"the schema {'refuses' if right else 'takes'} {text!r}")
        for setting in SETTINGS:
            for value in VALUES:
                count += 1
                text = HEAD + f"reduce: {{a: {{use: linear, {setting}: {value}}}}}\n"
                if not agree(judges, text):
                    wrong.append(f"reader and schema do not agree on {setting}: {value}")
        for collective, place in ((name, schema["definitions"].get(f"use.{name}")) for name in schema["properties"]
                                  if name not in ("schema", "origin")):
            names = place["enum"]
            if not names:
                wrong.append(f"{collective} has no algorithm")
            text = HEAD + "".join(f"{collective}.{i}.use: {name}\n" for i, name in enumerate(names))
            if judges.loader(text):
                wrong.append(f"the reader refuses an algorithm of {collective}")
        for example in examples:
            text = Path(example).read_text()
            if not judges.schema(text) or judges.loader(text):
                wrong.append(f"{example} is refused")
    print(f"{count} values of {len(SETTINGS)} settings")
    return "\n".join(wrong[:40]) or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
