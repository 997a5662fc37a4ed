"""Runs a program under a profiling library and looks at what the library counted.

  profile.py MPIEXEC PROGRAM [TOOL.so]      with TOOL it is preloaded, without the program was linked to it
"""
import os
import subprocess
import sys

WANTED = "profile: sends 3 bytes 120 reductions 2 duplicates 1 timers 1 levels 2 time ok"

mpiexec, program, *tool = sys.argv[1:]
environment = dict(os.environ)
if tool:
    environment["LD_PRELOAD"] = tool[0]
command = [mpiexec, "-n", "2", program]
if tool:    # the launcher itself is not to be profiled
    environment.pop("LD_PRELOAD")
    command = [mpiexec, "-n", "2", "env", f"LD_PRELOAD={tool[0]}", program]
run = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
if run.returncode != 0 or run.stdout.strip() != WANTED or run.stderr:
    sys.exit(f"exit code {run.returncode}\nsaid:   {run.stdout}{run.stderr}\nwanted: {WANTED}")
