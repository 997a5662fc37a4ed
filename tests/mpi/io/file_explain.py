#!/usr/bin/env python3
"""What --explain=io says of the ways of accesses: file_explain.py MPIEXEC PROGRAM

One record for each way that a process's own accesses and collective ones go, with the estimates of all and the measured
figures; PROGRAM makes both. A way that is forced is the one that is told.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import explained  # noqa: E402
from explained import expect, joined  # noqa: E402

MPIEXEC, PROGRAM = sys.argv[1:]
ESTIMATES = r"bytes in about \d+ pieces, \d+ % gaps; estimates: list [\d.]+ us, sieve [\d.]+ us"
MEASURED = r"by measurement a read takes [\d.]+ us a piece and [\d.]+ us a MiB, a write takes [\d.]+ us a piece and "


def explain(*options):
    return joined(explained.explain(MPIEXEC, 3, "io", *options, PROGRAM, "1", "20", seconds=180))


usual = explain()
expect(r"io, MPI_File_write_\w+ on '[^']+': (list|sieve|two_phase)\n +because +\d+ " + ESTIMATES + r"[^\n]*; " + MEASURED,
       usual)
expect(ESTIMATES + r", two_phase [\d.]+ us; " + MEASURED, usual)
expect(ESTIMATES + r"(, mapped [\d.]+ us)?; " + MEASURED, usual)
for way in ("sieve", "two_phase"):
    text = explain("--set", f"io.way={way}")
    expect(rf"io, MPI_File_write_\w*all on '[^']+': {way}\n", text)
