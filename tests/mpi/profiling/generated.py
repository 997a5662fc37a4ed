"""Makes a profiling library as generators of wrappers do: one wrapper for each prototype that stands in mpi.h, found with
regular expressions in what the preprocessor leaves of it. Then it counts the calls of a program.

  generated.py MPIEXEC PROGRAM COMPILER INCLUDE

Everything that looks like a prototype of a call must be one: a function that the header itself defines cannot be defined
again. And every wrapper finds its PMPI_ name.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

RESULTS = r"(int|double|MPI_Aint|MPI_Fint)"
PROTOTYPE = re.compile(rf"(?<!\w){RESULTS}\s+(MPI_\w+)\s*\(([^;]*?)\)\s*[;{{]")
PARAMETER = re.compile(r"(?:const\s+)?\w+(?:\s+long)?\s*\**\s*(?:const\s*)?\**\s*(\w+)(?:\[\d*\])*$")
# What profile_user.c calls.
WANTED = {"MPI_Init": 1, "MPI_Send": 3, "MPI_Irecv": 3, "MPI_Wait": 3, "MPI_Comm_dup": 1, "MPI_Allreduce": 3,
          "MPI_Pcontrol": 2, "MPI_Comm_split": 1, "MPI_Barrier": 1, "MPI_Comm_free": 2, "MPI_Comm_rank": 1,
          "MPI_Wtime": 1}

HEAD = """#include <mpi.h>
#include <stdio.h>
#include <string.h>
static struct { const char* name; int calls; } counts[%d];
"""
WRAPPER = """%s %s(%s) {
  counts[%d].name = "%s";
  ++counts[%d].calls;
  return P%s(%s);
}
"""
# The report is one write, so that those of two ranks do not mix.
REPORT = """int MPI_Finalize(void) {
  char text[4096] = "";
  for (int i = 0; i < %d; ++i)
    if (counts[i].calls != 0)
      snprintf(text + strlen(text), sizeof text - strlen(text), "%%s=%%d ", counts[i].name, counts[i].calls);
  puts(text);
  fflush(stdout);
  return PMPI_Finalize();
}
"""


def prototypes(compiler, include):
    text = subprocess.run([compiler, "-E", "-P", "-I", include, "-include", "mpi.h", "-xc", "/dev/null"], check=True,
                          capture_output=True, text=True).stdout
    return [(result, name, " ".join(parameters.split())) for result, name, parameters in PROTOTYPE.findall(text)]


def arguments(name, parameters):
    given = [] if parameters == "void" else [p.strip() for p in parameters.split(",")]
    names = []
    for parameter in given:
        if parameter == "...":    # of MPI_Pcontrol: what follows the level is the tool's
            continue
        match = PARAMETER.match(parameter)
        if not match:
            sys.exit(f"{name}: '{parameter}' has no name where generators look for it")
        names.append(match.group(1))
    return ", ".join(names)


def write_library(found, source):
    parts = [HEAD % len(found)]
    for i, (result, name, parameters) in enumerate(found):
        if name != "MPI_Finalize":
            parts.append(WRAPPER % (result, name, parameters, i, name, i, name, arguments(name, parameters)))
    source.write_text("".join(parts) + REPORT % len(found))


def main(mpiexec, program, compiler, include):
    found = prototypes(compiler, include)
    if len(found) < 600 or len({name for _, name, _ in found}) != len(found):
        sys.exit(f"{len(found)} prototypes in mpi.h, of {len({name for _, name, _ in found})} names")
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "wrappers.c", Path(folder) / "libwrappers.so"
        write_library(found, source)
        compiled = subprocess.run([compiler, "-shared", "-fPIC", "-Werror", "-I", include, source, "-o", library],
                                  capture_output=True, text=True)
        if compiled.returncode != 0:
            sys.exit(f"the wrappers do not compile:\n{compiled.stderr}")
        run = subprocess.run([mpiexec, "-n", "2", "env", f"LD_PRELOAD={library}", program], capture_output=True, text=True,
                             timeout=60, env=dict(os.environ))
    lines = [dict(word.split("=") for word in line.split()) for line in run.stdout.splitlines()]
    wanted = {name: str(calls) for name, calls in WANTED.items()}
    if run.returncode != 0 or run.stderr or lines != [wanted, wanted]:
        sys.exit(f"exit code {run.returncode}\nsaid:   {run.stdout}{run.stderr}\nwanted: {wanted} from each of two ranks")


main(*sys.argv[1:])
