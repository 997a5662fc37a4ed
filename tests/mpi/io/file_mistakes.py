"""What is said of files that fail: with the parameters that make failures seen, and without them."""
import re
import subprocess
import sys

MPIEXEC, PROGRAM = sys.argv[1:3]
failures = 0


def run(words, *settings):
    command = [MPIEXEC, "-n", "2", *[w for s in settings for w in ("--set", s)], PROGRAM, *words]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    return done.returncode, re.sub(r"\s+", " ", done.stdout + done.stderr)


def expect(what, condition, text):
    global failures
    if not condition:
        print(f"{what}: {text}")
        failures += 1


MISSING = "/nowhere/out.dat"
status, text = run(["unlooked", MISSING])
expect("nothing is said by default", status == 0 and text == "", text)

status, text = run(["unlooked", MISSING], "check.files=true")
expect("a returned failure is no end of the job", status == 0, text)
for words in (f"MPI_File_open failed: MPI_ERR_NO_SUCH_FILE", f"open failed on file '{MISSING}'", "No such file or directory",
              "MPI_File_write_all failed: MPI_ERR_FILE", f"The last MPI_File_open that failed in this process was of '{MISSING}'"):
    expect(f"check.files: '{words}' is not said", words in text, text)

for handler in ("mpi_errors_are_fatal", "mpi_errors_abort"):
    status, text = run(["unlooked", MISSING], f"io.errhandler={handler}")
    expect(f"{handler}: the job ends", status != 0, text)
    expect(f"{handler}: the reason is said", f"open failed on file '{MISSING}'" in text and "MPI_File_write_all" not in text, text)

for words in (["told"], ["request"]):
    status, text = run(words)
    expect(words[0], status == 0 and text == "", text)
sys.exit(failures != 0)
