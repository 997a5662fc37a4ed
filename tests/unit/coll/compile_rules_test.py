#!/usr/bin/env python3
"""config/tuning/compile_rules.py: what it makes, and what it refuses."""
import importlib.util
import pathlib
import tempfile
import sys
import unittest

FOLDER = pathlib.Path(sys.argv.pop(1))
spec = importlib.util.spec_from_file_location("compile_rules", FOLDER / "compile_rules.py")
rules = importlib.util.module_from_spec(spec)
spec.loader.exec_module(rules)

REST = "".join(f"{c}:\n  any: {{use: x}}\n" for c in rules.COLLECTIVES if c != "bcast")


def compiled(text):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("schema: 1\n" + text + REST)
        file.flush()
        return rules.compile_file(file.name)


class CompileRules(unittest.TestCase):
    def test_the_default_file(self):
        text = rules.compile_file(str(FOLDER / "default.yaml"))
        self.assertIn('"default.yaml:', text)
        self.assertTrue(text.startswith("// Made by config/tuning/compile_rules.py"))

    def test_a_row(self):
        text = compiled("bcast:\n  a: {bytes: 1KiB..2M, ranks: ..8, use: chain, segment: 64K}  # why\n  z: {use: y}\n")
        self.assertIn(".ranks = {0, 8}, .bytes = {1024, 2097152}", text)
        self.assertIn('.algorithm = "chain", .arguments = {.segment = 65536}', text)

    def test_refused(self):
        for text, why in (("bcast:\n  a: {use: x, colour: red}\n", "unknown: colour"),
                          ("bcast:\n  a: {bytes: 8..4, use: x}\n", "is empty"),
                          ("bcast:\n  a: {bytes: ..4KiB}\n", "does not say what to use"),
                          ("bcast:\n  a: {bytes: ..4KiB, use: x}\n", "must have no conditions"),
                          ("bcast:\n  a: {use: x}\n  a: {use: y}\n", "comes twice"),
                          ("bcats:\n  a: {use: x}\n", "there is no collective"),
                          ("bcast:\n  - {use: x}\n", "cannot read|neither|row"),
                          ("bcast:\n      a: {use: x}\n", "two blanks")):
            with self.subTest(text), self.assertRaisesRegex(rules.Mistake, why):
                compiled(text)


if __name__ == "__main__":
    unittest.main()
