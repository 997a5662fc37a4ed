"""What the tests of mpiexec's behaviour share. They look at it from outside and need the Python library only.

Run by ctest with MPIEXEC, DRIVER, STUCK and COMPONENTS (the folder) in the environment; by hand:
  MPIEXEC=build/bin/mpiexec DRIVER=build/tests/launch_driver STUCK=build/tests/stuck COMPONENTS=build/lib/ashlar/components \\
    tests/launch/streams_test.py [Class.test...]
"""
import os
import re
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

MPIEXEC = os.path.abspath(os.environ["MPIEXEC"])
DRIVER = os.path.abspath(os.environ["DRIVER"])
COMPONENTS = os.path.abspath(os.environ["COMPONENTS"])
# Where components lie: LIBDIR/ashlar/components.
SUPPORT = os.path.dirname(COMPONENTS)
LIBRARIES = os.path.dirname(SUPPORT)
STUCK = os.path.abspath(os.environ["STUCK"])
# A sanitizer prints to standard error, wants /proc, and takes its options from the environment.
SANITIZED = os.environ.get("SANITIZED") == "1"
NATIVE = os.path.join(COMPONENTS, "ashlar_launch_native.so")
PMIX = os.path.join(COMPONENTS, "ashlar_launch_pmix.so")
SINGLETON = os.path.join(COMPONENTS, "ashlar_launch_singleton.so")


def mpiexec(*words, timeout=60, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([MPIEXEC, *map(str, words)], capture_output=True, timeout=timeout, **options)


def contents(path):
    with open(path) as file:
        return file.read()


def alive(pid):
    try:
        return contents(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return condition()


def plain(text):
    """A paragraph without its line breaks."""
    return re.sub(r"\s+", " ", text.decode())


def tests_of(suite):
    return [test for part in suite for test in tests_of(part)] if isinstance(suite, unittest.TestSuite) else [suite]


def main(at_once):
    """unittest.main() for a file whose jobs wait more than they compute: runs that many tests at a time, and ends."""
    module = sys.modules["__main__"]
    names = sys.argv[1:]
    loader = unittest.defaultTestLoader
    tests = tests_of(loader.loadTestsFromNames(names, module) if names else loader.loadTestsFromModule(module))

    def run(test):
        result = unittest.TestResult()
        test.run(result)
        return result

    with ThreadPoolExecutor(at_once) as pool:
        results = list(pool.map(run, tests))
    failed = [problem for result in results for problem in result.failures + result.errors]
    failed += [(test, "succeeded unexpectedly") for result in results for test in result.unexpectedSuccesses]
    skipped = [problem for result in results for problem in result.skipped]
    for test, text in failed:
        print(f"FAIL: {test}\n{text}", file=sys.stderr)
    for test, reason in skipped:
        print(f"skipped: {test}: {reason}", file=sys.stderr)
    print(f"Ran {len(tests)} tests: {len(failed)} failed, {len(skipped)} skipped", file=sys.stderr)
    sys.exit(0 if tests and not failed else 1)
