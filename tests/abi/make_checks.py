"""Writes a program that holds mpi.h against the facts in this folder: compiles only if every prototype and type agrees,
and compares values and layouts when it runs. The same text is compiled as C and as C++.

  make_checks.py OUT
"""
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
HEAD = r"""/* Made by tests/abi/make_checks.py. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static int wrong = 0;
static void compare(const char* what, long have, long want) {
  if (have == want) return;
  printf("%s is %ld, the standard says %ld\n", what, have, want);
  wrong++;
}
"""
LAYOUT = r"""  compare("sizeof(MPI_Status)", (long)sizeof(MPI_Status), 32);
  compare("offset of MPI_SOURCE", (long)offsetof(MPI_Status, MPI_SOURCE), 0);
  compare("offset of MPI_TAG", (long)offsetof(MPI_Status, MPI_TAG), 4);
  compare("offset of MPI_ERROR", (long)offsetof(MPI_Status, MPI_ERROR), 8);
  compare("offset of MPI_internal", (long)offsetof(MPI_Status, MPI_internal), 12);
  compare("sizeof(MPI_Aint)", (long)sizeof(MPI_Aint), (long)sizeof(void*));
  compare("sizeof(MPI_Offset)", (long)sizeof(MPI_Offset), 8);
  compare("sizeof(MPI_Count)", (long)sizeof(MPI_Count), 8);
  compare("sizeof(MPI_Fint)", (long)sizeof(MPI_Fint), (long)sizeof(int));
"""
HANDLES = ("Comm Datatype Errhandler File Group Info Message Op Request Session Win T_enum T_cvar_handle T_pvar_handle "
           "T_pvar_session T_event_registration T_event_instance").split()


def rows(name):
    for line in (HERE / name).read_text().splitlines():
        if line and not line.startswith("#"):
            yield [cell.strip() for cell in line.split("|")]


def pointer(result, name, arguments):
    return f"{result} (*{name})({arguments})"


def main(out):
    parts, checks = [HEAD], []
    functions = list(rows("functions.txt"))
    for name, result, arguments in functions:
        for prefix in ("", "P"):
            full = prefix + name
            parts.append(f"{pointer(result, 'check_' + full, arguments)} = {full};")
            checks.append(f"  if (check_{full} == NULL) wrong++;")
    for name, result, arguments in rows("callbacks.txt"):
        parts.append(f"{pointer(result, 'check_' + name, arguments)} = (({name}*)0);")
    values = {}
    for name, kind, value in rows("constants.txt"):
        value = values.get(value, value)
        values[name] = value
        number = int(value, 0)
        if kind == "number":
            parts.append(f"typedef char check_{name}[{name} == ({number}) ? 1 : -1];")
        elif kind != "alias":
            parts.append(f"{kind} check_{name} = {name};")
        checks.append(f'  compare("{name}", (long)(intptr_t)({name}), {number}L);')
    checks += [f'  compare("sizeof(MPI_{h})", (long)sizeof(MPI_{h}), (long)sizeof(void*));' for h in HANDLES]
    checks.append(f'  printf("%d functions, %d wrong\\n", {len(functions)}, wrong);')
    body = "int main(void) {\n" + LAYOUT + "\n".join(checks) + "\n  return wrong != 0;\n}\n"
    text = re.sub(r"\(void\)$", "(void)", "\n".join(parts)) + "\n\n" + body
    Path(out).write_text(text)


if __name__ == "__main__":
    main(sys.argv[1])
