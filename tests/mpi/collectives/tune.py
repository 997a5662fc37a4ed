#!/usr/bin/env python3
"""tune.py MPIEXEC ASHLAR_TUNE PROGRAM: ashlar_tune writes a file that the library takes and that names what it measured;
the program runs under it; a file with an unknown algorithm is refused with its line; wrong options end in status 2."""
import os
import re
import subprocess
import sys
import tempfile

MPIEXEC, TUNE, PROGRAM = sys.argv[1:]


def run(*words):
    done = subprocess.run([MPIEXEC, *words], stdin=subprocess.DEVNULL, timeout=100, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def expect(truth, what, output):
    if not truth:
        sys.exit(f"tune.py: {what}\n{output}")


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "site.yaml")
    code, output = run("-n", "2", TUNE, "--seconds", "0.001", "--max", "512", "--output", path, "scan", "barrier")
    expect(code == 0, f"status {code}", output)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    expect("schema: 1\norigin: ashlar_tune on " in text, "no schema or origin", text)
    rows = re.findall(r"^  row\d+: \{nodes: 1, ranks: 2(?:, bytes: \.\.\d+)?, use: \w+\}$", text, re.M)
    expect(len(rows) >= 2 and "\nscan:\n" in text and "\nbarrier:\n" in text, "rows are missing", text)
    code, output = run("--set", f"coll.tuning_file={path}", "--explain=coll", "-n", "2", PROGRAM)
    expect(code == 0, f"the program under the file: status {code}", output)
    expect("site.yaml:" in output, "no rule of the file was used", output)
    # Between nodes, where parts of a call are calls of the same collectives.
    code, output = run("--set", "coll.node_size=2", "-n", "4", TUNE, "--seconds", "0.001", "--max", "512", "--output", path,
                       "bcast", "allreduce", "barrier")
    expect(code == 0, f"on two nodes: status {code}", output)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    rows = re.findall(r"^  row\d+: \{nodes: 2, node_ranks: 2, ranks: 4(?:, bytes: \.\.\d+)?, use: (\w+)\}$", text, re.M)
    expect(len(rows) >= 3 and not {"shm", "direct", "shm_large"} & set(rows), "rows of two nodes", text)
    code, output = run("--set", f"coll.tuning_file={path}", "--set", "coll.node_size=2", "-n", "4", TUNE, "--verify",
                       "--seconds", "0.001", "--max", "64", "barrier")
    expect(code in (0, 1) and ("barrier 8:" in output or "Every rule in force" in output), "rules are not verified", output)
    with open(path, "w", encoding="utf-8") as file:
        file.write("schema: 1\nscan:\n  a: {use: nosuch}\n")
    code, output = run("--set", f"coll.tuning_file={path}", "-n", "2", PROGRAM)
    expect(code != 0 and "nosuch" in output and "site.yaml:3" in output, "an unknown algorithm was not refused", output)
    code, output = run("-n", "1", TUNE, "--bogus")
    expect(code == 2 and "unknown option --bogus" in output, f"a wrong option: status {code}", output)
    code, output = run("-n", "2", TUNE, "--list", "scan")
    expect(code == 0 and output.startswith("scan\n") and len(re.findall(r"^  \w+ +p2p +\w+", output, re.M)) >= 2,
           f"--list: status {code}", output)
    code, output = run("-n", "1", TUNE, "allreduc")
    expect(code == 2 and "there is no collective allreduc\n  - Did you mean allreduce?" in output,
           f"a wrong collective: status {code}", output)
    code, output = run("-n", "2", TUNE, "--seconds", "1x")
    expect(code == 2 and "--seconds needs a number of seconds above 0" in output, f"a wrong number: {code}", output)
    code, output = run("-n", "2", TUNE, "--help")
    expect(code == 0 and output.count("Usage: mpiexec -n N ashlar_tune") == 1, f"--help: status {code}", output)
    code, output = run("-n", "1", TUNE, "--seconds", "0.001", "--max", "8", "--output", "/there/is/no/such/file", "scan")
    expect(code == 2 and "cannot be written" in output and "schema: 1" in output, f"lost: status {code}", output)
