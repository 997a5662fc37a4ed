"""Jobs under mpiexec --explain, for scripts of tests: what the records say, against patterns."""
import os
import re
import subprocess
import sys


def fail(text):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {text}")


def explain(mpiexec, ranks, topic, *words, seconds):
    """The output of a job that succeeds in this time. `words`: options, the program, its arguments."""
    done = subprocess.run([mpiexec, "-n", str(ranks), f"--explain={topic}", *words], text=True, timeout=seconds,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        fail(f"status {done.returncode}\n{done.stdout}")
    return done.stdout


def joined(text):
    """Long sentences, which go on in the next line, in one."""
    return re.sub(r"\n {11,}", " ", text)


def expect(pattern, text):
    if not re.search(pattern, text):
        fail(f"no '{pattern}' in\n{text}")
