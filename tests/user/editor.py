#!/usr/bin/env python3
"""What an editor with the YAML language server makes of the installed schemas: it completes keys and values, shows help,
and marks mistakes, and none in a file that is right.

    tests/user/editor.py BUILD SERVER

BUILD/share/ashlar has the schemas; SERVER is yaml-language-server (from npm: it is no package of Debian). It is given no
address of a schema but those of the files, and what it would fetch from elsewhere is switched off."""
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest

BUILD, SERVER = (os.path.abspath(path) for path in sys.argv[1:3])
WAIT = 60  # seconds: against hanging alone
SETTINGS = {"yaml": {"schemaStore": {"enable": False}, "validate": True, "completion": True, "hover": True}}


def schema(name):
    for folder in (os.path.join(BUILD, "share", "ashlar"), BUILD):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    return sys.exit(f"editor: there is no {name} below {BUILD}")


class Server:
    """The server as a child; requests in order, and the last diagnostics of each document."""

    def __init__(self):
        self.child = subprocess.Popen([SERVER, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number, self.answers, self.diagnostics = 0, {}, {}
        self.news = threading.Condition()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.ask("initialize", {"processId": os.getpid(), "rootUri": None, "capabilities": {
            "textDocument": {"completion": {"completionItem": {"documentationFormat": ["plaintext"]}}, "hover": {}},
            "workspace": {"configuration": True}}})
        self.tell("initialized", {})
        self.tell("workspace/didChangeConfiguration", {"settings": SETTINGS})

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.child.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.child.stdin.flush()

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def ask(self, method, params):
        self.number += 1
        number = self.number
        self.send({"id": number, "method": method, "params": params})
        with self.news:
            if not self.news.wait_for(lambda: number in self.answers, WAIT):
                raise AssertionError(f"no answer to {method}")
            return self.answers.pop(number)

    def read(self):
        while True:
            length = 0
            for line in iter(self.child.stdout.readline, b""):
                if not line.strip():
                    break
                name, value = line.split(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if length == 0:
                return
            self.take(json.loads(self.child.stdout.read(length)))

    def take(self, message):
        if "method" in message and "id" in message:  # the server asks
            items = message["params"].get("items", []) if message["method"] == "workspace/configuration" else None
            answer = None if items is None else [SETTINGS.get(item.get("section", "")) for item in items]
            self.send({"id": message["id"], "result": answer})
            return
        with self.news:
            if message.get("method") == "textDocument/publishDiagnostics":
                self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
            elif "id" in message:
                self.answers[message["id"]] = message.get("result")
            self.news.notify_all()

    def open(self, uri, text):
        self.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "yaml", "version": 1, "text": text}})
        with self.news:
            if not self.news.wait_for(lambda: uri in self.diagnostics, WAIT):
                raise AssertionError("no diagnostics")
            return self.diagnostics[uri]

    def close(self):
        self.ask("shutdown", None)
        self.tell("exit", None)
        self.child.wait(WAIT)
        self.child.stdout.close()
        self.child.stdin.close()


class Editor(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.server = Server()
        cls.files = 0

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        cls.folder.cleanup()

    def document(self, text, name="ashlar.schema.json"):
        """A new document with the line of the manual; `|` in the text is the cursor. Returns its URI, the lines behind that
        line, the cursor's place, and what is marked, as (line of the text from 1, message)."""
        type(self).files += 1
        uri = f"file://{self.folder.name}/{self.files}.yaml"
        head = f"# yaml-language-server: $schema=file://{schema(name)}\n"
        before = text.partition("|")[0]
        place = {"line": 1 + before.count("\n"), "character": len(before.rpartition("\n")[2])}
        marked = self.server.open(uri, head + text.replace("|", "", 1))
        return uri, place, sorted((m["range"]["start"]["line"], m["message"]) for m in marked)

    def completed(self, text, name="ashlar.schema.json"):
        uri, place, _ = self.document(text, name)
        found = self.server.ask("textDocument/completion", {"textDocument": {"uri": uri}, "position": place})
        items = found["items"] if isinstance(found, dict) else found
        return {item["label"]: item for item in items}

    def marked(self, text, name="ashlar.schema.json"):
        return self.document(text, name)[2]

    def test_keys_are_completed_with_their_help(self):
        found = self.completed("p2p.eag|")
        self.assertIn("p2p.eager_limit", found)
        self.assertIn("eager protocol", json.dumps(found["p2p.eager_limit"].get("documentation", "")))
        self.assertIn("rules", self.completed("ru|"))

    def test_keys_in_nested_maps_are_completed(self):
        self.assertIn("shm", self.completed("transport:\n  |"))
        self.assertIn("ring_bytes", self.completed("transport:\n  shm:\n    |"))

    def test_choices_are_completed(self):
        found = self.completed("io.way: |")
        self.assertLessEqual({"auto", "list", "sieve", "two_phase"}, set(found))

    def test_conditions_are_completed(self):
        found = self.completed("rules:\n  - when:\n      |")
        self.assertLessEqual({"host", "ranks", "ranks_per_node", "launcher", "container", "fabric"}, set(found))

    def test_help_is_shown_for_a_key(self):
        uri, _, _ = self.document("p2p.eager_limit: 4KiB\n")
        shown = self.server.ask("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 4}})
        self.assertIn("eager protocol", json.dumps(shown["contents"]))

    def test_what_is_right_is_not_marked(self):
        self.assertEqual(self.marked(
            "transport.shm.ring_bytes: 64KiB\n"
            "coll:\n  shm: {piece: {value: 16KiB, lock: true}}\n"
            "p2p.eager_limit:\n  - {value: 8KiB}\n  - {value: 4KiB, when: {ranks: '>=64'}}\n"
            "rules:\n  - when: {host: 'gpu*', container: true}\n    set: {transport: {shm: {ring_bytes: 16KiB}}}\n"), [])

    def test_mistakes_are_marked_where_they_are(self):
        marks = self.marked("p2p.eager_limi: 4KiB\n"
                            "p2p.eager_limit: 4Q\n"
                            "io.way: teleport\n"
                            "progress.spin: -3\n"
                            "transport:\n"
                            "  shm:\n"
                            "    rung_bytes: 4KiB\n"
                            "coll.shm.piece: {value: 16KiB, locked: true}\n")
        self.assertEqual(sorted({line for line, _ in marks}), [1, 2, 3, 4, 7, 8], marks)
        self.assertRegex(dict(marks)[1], "p2p.eager_limi")

    def test_tuning_files(self):
        found = self.completed("|", "tuning.schema.json")
        self.assertTrue(any(key.startswith("allreduce") for key in found), sorted(found)[:20])
        marks = self.marked("allreduse:\n  - {use: ring}\n", "tuning.schema.json")
        self.assertEqual([line for line, _ in marks], [1], marks)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
