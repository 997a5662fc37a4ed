"""Algorithms of the C interface: chosen by name, by their maker's preference, passed over; and failures in a round."""
import os
import re
import subprocess
import sys

MPIEXEC, PROGRAM, FOLDER = sys.argv[1:]


def run(*settings, ranks=3):
    words = [word for s in settings for word in ("--set", s)]
    done = subprocess.run([MPIEXEC, "--explain=coll", "--set", "check.leaks=true", *words, "-n", str(ranks), PROGRAM], capture_output=True, text=True,
                          timeout=60, env={**os.environ, "ASHLAR_plugin_path": FOLDER})
    return done.stdout, re.sub(r"\s+", " ", done.stderr)


def expect(what, *words):
    for word in words:
        if word not in what:
            sys.exit(f"'{word}' is not in: {what}")


out, said = run("coll.allreduce.algorithm=rounds")
expect(out, "sum 6\n")
expect(said, "coll, allreduce: rounds (rounds)", "coll.allreduce.algorithm from --set")

out, said = run()
expect(out, "sum 6\n")
expect(said, "coll, allreduce: rounds_preferred (rounds)", "preferred by component rounds")

out, said = run("coll.reproducible=true")
expect(out, "sum 6\n")
expect(said, "rounds: coll.reproducible asks for rank order")

out, said = run("coll.allreduce.algorithm=rounds_never", "coll=^shm")
expect(out, "sum 6\n")
expect(said, "rounds_never cannot serve 4 bytes on 3 ranks: it was told not to")

for ranks in (2, 3):
    out, _ = run("coll.allreduce.algorithm=rounds_fail", ranks=ranks)
    expect(out, "MPI_ERR_OTHER", "round 1 was told to fail")
    out, _ = run("coll.allreduce.algorithm=rounds_miss", ranks=ranks)
    expect(out, f"algorithm rounds_miss has a message for rank {ranks}; the ranks are 0..{ranks - 1}")
