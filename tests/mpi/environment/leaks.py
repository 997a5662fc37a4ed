#!/usr/bin/env python3
"""leaks.py MPIEXEC PROGRAM: what check.leaks says of programs that keep objects, and of one that does not."""
import re
import subprocess
import sys


def run(mpiexec, program, what, ranks, switch=True):
    options = ["--set", "check.leaks=true"] if switch else []
    done = subprocess.run([mpiexec, *options, "-n", str(ranks), program, what], stdin=subprocess.DEVNULL, timeout=50,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def wrong(name, condition, output):
    return [] if condition else [f"{name}; the output was:\n{output}"]


LEAKY = [r"2 communicators \('first', 'second'\) of MPI_Comm_dup at leaks\+0x[0-9a-f]+ \(make_communicators\)",
         r"1 group of MPI_Comm_group at leaks\+0x[0-9a-f]+ \((leaky|main)\)", r"3 datatypes of MPI_Type_contiguous at",
         r"1 datatype \('a column'\) of MPI_Type_dup at", r"1 datatype of MPI_Type_get_contents at .*look_into_type", r"1 request of MPI_Irecv at .*: MPI_Irecv .*tag 77",
         r"1 request of MPI_Send_init at .*: persistent", r"1 reduction operation of MPI_Op_create at",
         r"1 error handler of MPI_Comm_create_errhandler at", r"1 info object of MPI_Info_create at",
         r"1 attribute key of MPI_Comm_create_keyval at"]


def main():
    mpiexec, program = sys.argv[1:]
    problems = []
    for ranks in (1, 3):
        status, text = run(mpiexec, program, "clean", ranks)
        problems += wrong(f"a clean program of {ranks} ranks is reported", status == 0 and not text, text)
        status, text = run(mpiexec, program, "leaky", ranks, switch=False)
        problems += wrong("the check says something though it is off", status == 0 and not text, text)
        status, text = run(mpiexec, program, "leaky", ranks)
        problems += wrong("a leaky program fails", status == 0, text)
        problems += wrong("the count is wrong", text.count("14 MPI objects were alive at MPI_Finalize") == 1, text)
        for line in LEAKY:
            problems += wrong(f"no line like {line}", re.search(line, text), text)
        if ranks > 1:
            problems += wrong("not said of all ranks", "ranks 0-2" in text, text)
    command = re.search(r"addr2line -Cpfe \S+( 0x[0-9a-f]+)+", text)
    problems += wrong("no command that shows lines", command, text)
    if command:
        try:
            lines = subprocess.run(command[0].split(), stdout=subprocess.PIPE, text=True, check=False).stdout
            problems += wrong("addr2line does not know the addresses", lines.count("leaks.c:") >= 9, lines)
        except FileNotFoundError:
            pass
    status, text = run(mpiexec, program, "one", 3)
    problems += wrong("one leaking rank", status == 0 and "rank 1 of 3" in text and text.count("alive") == 1 and
                      "1 MPI object was alive at MPI_Finalize.\n" in text, text)
    for ranks in (1, 3):
        status, text = run(mpiexec, program, "messages", ranks)
        problems += wrong("messages without a receive", status == 0 and text.count("never received") == 1 and
                          f"rank {ranks - 1} of {ranks}" in text and "4 messages were never received" in text and
                          "2 messages of together 24 bytes from rank 0 tag 123 on 'MPI_COMM_WORLD'" in text and
                          "1 message of 0 bytes from rank 0 tag 7 on 'rows'" in text and
                          "1 message of 1 byte from rank 0 tag 8 on a communicator that was freed" in text, text)
        status, text = run(mpiexec, program, "messages", ranks, switch=False)
        problems += wrong("messages are told of though the check is off", status == 0 and not text, text)
    status, text = run(mpiexec, program, "sessions", 1)
    problems += wrong("sessions", status == 0 and "2 MPI objects were alive when the last session ended" in text and
                      "1 communicator of MPI_Comm_create_from_group" in text and
                      "1 group of MPI_Group_from_session_pset" in text and
                      "1 MPI object was alive at the end of the process" in text and
                      "1 datatype of MPI_Type_contiguous" in text, text)
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
