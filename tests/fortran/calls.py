"""Writes a program for each Fortran method that calls every procedure, with keywords where there are any, and the C library
below it that looks at each argument and gives results back.

  calls.py DIR [8]  writes DIR/recorder.c, DIR/calls_f08.f90, DIR/calls_mpi.f90, DIR/calls_mpif.f90; 8: for INTEGERs of 8 bytes

and calls_f08_p.f90, calls_mpi_p.f90 and calls_mpif_p.f90, which call the PMPI_ forms; recorder.c with REC_PMPI is the library below these.

What an argument is follows from its place: the third INTEGER of a procedure is 102, whoever looks. Each procedure is called
twice: with ordinary arguments, and with MPI_BOTTOM, MPI_STATUS_IGNORE and their kin wherever they are allowed, in mpi_f08
without ierror then. Procedures with procedures or attributes as arguments are in programs of their own.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings" / "gen"))

import fortran as f                                  # noqa: E402
from c_types import c_name, prototype                # noqa: E402
from fortran_entries import CONTENTS, by_hand                  # noqa: E402
from fortran_f08 import has_ierror                   # noqa: E402
from fortran_mpi import C_POINTERS                   # noqa: E402
from table import read_table                         # noqa: E402

ORDINARY, SPECIAL = 0, 1
# Answers that the library below asks for itself: a world of two ranks in a ring, each handle asked for.
HELPERS = """
int PMPI_Comm_size(MPI_Comm comm, int* size) { (void)comm; *size = 2; return MPI_SUCCESS; }
int PMPI_Comm_rank(MPI_Comm comm, int* rank) { (void)comm; *rank = 0; return MPI_SUCCESS; }
int PMPI_Comm_test_inter(MPI_Comm comm, int* flag) { (void)comm; *flag = 0; return MPI_SUCCESS; }
int PMPI_Topo_test(MPI_Comm comm, int* status) { (void)comm; *status = MPI_CART; return MPI_SUCCESS; }
int PMPI_Cartdim_get(MPI_Comm comm, int* ndims) { (void)comm; *ndims = 2; return MPI_SUCCESS; }
int PMPI_Get_library_version(char* version, int* length) { *length = sprintf(version, "Ashlar"); return MPI_SUCCESS; }
int PMPI_Abi_get_info(MPI_Info* info) { (void)info; return MPI_ERR_OTHER; }
int PMPI_Abi_get_fortran_info(MPI_Info* info) { (void)info; return MPI_ERR_OTHER; }
"""
# Where an INTEGER has 8 bytes, the library below also says how many codes MPI_Comm_spawn gives.
WIDE_HELPERS = """
#if !REC_PMPI
int PMPI_Bcast(void* number, int n, MPI_Datatype type, int root, MPI_Comm comm) {
  (void)number, (void)n, (void)type, (void)root, (void)comm;
  return MPI_SUCCESS;
}
#endif
"""
ASKED = {f"MPI_{n}" for n in re.findall(r"int PMPI_(\w+)\(", HELPERS)}
RAW = ("comm", "group", "datatype", "op", "request", "message", "info", "errhandler", "session", "win", "file")
CLASSES = {"datatype": "Type"}


def tested(procedure):
    return not by_hand(procedure) and procedure.returns_error and procedure.name not in ("MPI_Pcontrol",)


class Call:
    """One procedure in one form: what goes in, what comes back."""

    def __init__(self, procedure, large):
        self.procedure, self.large = procedure, large
        self.parameters = f.parameters(procedure, large)
        lengths = {n for p in procedure.form(large) for n in p.length.split(",")}
        items = " ".join(p.options.get("items", "") for p in self.parameters)
        self.lengths = {p.name for p in self.parameters if p.name in lengths or p.name in items.replace("(", " ").replace(")", " ").replace(",", " ").split()}

    def number(self, p, i):
        """The value of a scalar; the length of an array is 2, and elements of arrays that add up to lengths are 1."""
        if p.name == "root":
            return 0
        if p.name in self.lengths:
            return {"indx": 1, "degrees": 1, "array_of_maxprocs": 1}.get(p.name, 2) if p.array else 2
        return 100 + i

    def items(self, p):
        if p.name in ("edges",):
            return 2
        if p.options.get("items", "").startswith("indegree") and "eighbor" in self.procedure.name:
            return 4
        if p.options.get("items", "").startswith("outdegree") and "eighbor" in self.procedure.name:
            return 4
        return 6 if p.length == "n,3" else 2

    def element(self, p, i, k):
        """Element k of an array that goes in."""
        if p.name == "indx":
            return k + 1 if self.procedure.name != "MPI_Graph_get" else 100 + i + k
        return self.number(p, i) + (0 if p.name in self.lengths else k)


# --- C ------------------------------------------------------------------------------------------------------------------

def c_check(call, p, i):
    """Lines that look at an argument and give its result."""
    kind, name = p.kind.name, p.name
    handle = CLASSES.get(kind, kind.capitalize())
    lines = []
    if kind == "buffer":
        attach = "ttach_buffer" in call.procedure.name or call.procedure.name == "MPI_Buffer_attach"
        special = "MPI_BUFFER_AUTOMATIC" if attach else ("MPI_IN_PLACE" if i % 2 else "MPI_BOTTOM")
        if call.procedure.name == "MPI_Free_mem":
            return [f"SEE({name} == rec_address[{i}]);"]
        return [f"SEE({name} == (rec_mode ? {special} : rec_address[{i}]));"]
    if kind == "memory":
        return [f"*(void**){name} = (void*)0x{1000 + i}L;"]
    if kind == "status":
        if p.array:
            return [f"if (rec_mode) SEE({name} == MPI_STATUSES_IGNORE);",
                    f"else for (int k = 0; k < 2; ++k) {name}[k].MPI_SOURCE = {300 + i} + k, {name}[k].MPI_TAG = {400 + i} + k;"]
        if p.direction == "in":
            return [f"SEE({name}->MPI_SOURCE == {300 + i} && {name}->MPI_TAG == {400 + i});"]
        check = [f"SEE({name}->MPI_TAG == {400 + i});"] if p.direction == "inout" else []
        ignore = [f"if (rec_mode) SEE({name} == MPI_STATUS_IGNORE); else"] if p.direction == "out" else []
        return check + ignore + [f"{name}->MPI_SOURCE = {310 + i}, {name}->MPI_INTERNAL[4] = 77;".replace("INTERNAL", "internal")]
    if kind in RAW:
        if p.array:
            if p.direction != "out":
                skip = "if (!rec_mode) " if name == "sendtypes" else ""
                lines.append(f"{skip}for (int k = 0; k < {call.items(p)}; ++k) SEE({name}[k] == rec_{kind}({5000 + i} + k));")
            if p.output:
                lines.append(f"for (int k = 0; k < {call.items(p)}; ++k) {name}[k] = rec_{kind}({6000 + i} + k);")
            return lines
        if p.direction != "out":
            lines.append(f"SEE({'*' if p.output or 'pointer' in p.flags else ''}{name} == rec_{kind}({5000 + i}));")
        if p.output:
            lines.append(f"*{name} = rec_{kind}({6000 + i});")
        return lines
    if kind == "logical":
        if p.array:
            if p.direction == "in":
                return [f"SEE({name}[0] && !{name}[1]);"]
            return [f"{name}[0] = 0, {name}[1] = 5;"]
        return [f"SEE({name} == 1);"] if p.direction == "in" else [f"*{name} = 3;"]
    if kind == "string":
        if p.output:
            return [f"strcpy({name}, \"out{i}\");"]
        blank = "" if p.options.get("blanks") == "both" else " "
        return [f"SEE(strcmp({name}, \"{blank}in{i}\") == 0);"]
    if kind == "strings":
        if name == "argv":
            return [f"if (rec_mode) SEE({name} == MPI_ARGV_NULL); else SEE(strcmp({name}[0], \"a{i}\") == 0 && strcmp({name}[1], \"b\") == 0 && !{name}[2]);"]
        return [f"SEE(strcmp({name}[0], \"a{i}\") == 0 && strcmp({name}[1], \"b\") == 0);"]
    if kind == "string_lists":
        return [f"if (rec_mode) SEE({name} == MPI_ARGVS_NULL); else SEE(strcmp({name}[0][0], \"a{i}\") == 0 && !{name}[0][1] && "
                f"strcmp({name}[1][0], \"c\") == 0 && strcmp({name}[1][1], \"d\") == 0 && !{name}[1][2]);"]
    if kind == "boolean":
        return [f"SEE(*(f_logical*){name} == (f_logical)1);"] if p.direction == "in" else [f"*(f_logical*){name} = 0;"]
    return c_numbers(call, p, i)


def c_numbers(call, p, i):
    name, lines = p.name, []
    weights = p.kind.name == "int" and "pointer" in p.flags
    codes = p.kind.name == "errorcode" and p.array
    if p.array:
        n = call.items(p)
        at = f"((const int*){name})" if "," in p.length else name
        if p.direction != "out":
            lines = [f"SEE({at}[{k}] == {call.element(p, i, k)});" for k in range(n)]
        else:
            lines = [f"{at}[{k}] = {200 + i + k};" for k in range(n)]
        if p.direction == "inout":
            lines += [f"{at}[{k}] = {200 + i + k};" for k in range(n)]
        if weights:
            lines = [f"if (rec_mode) SEE({name} == MPI_UNWEIGHTED); else {{", *lines, "}"]
        if codes:
            lines = [f"if (rec_mode) SEE({name} == MPI_ERRCODES_IGNORE); else {{", *lines, "}"]
        return lines
    handshake = call.procedure.name in ("MPI_Info_get_string", "MPI_Session_get_nth_pset") and p.direction == "inout"
    if handshake:
        return [f"SEE(*{name} == 13);", f"*{name} = 41;"]
    if p.direction != "out":
        lines.append(f"SEE({'*' if p.output else ''}{name} == {call.number(p, i)});")
    if p.output:
        lines.append(f"*{name} = {2 if p.name == 'outcount' else 200 + i};")
    return lines


def recorder(table, calls):
    lines = ["/* Generated by calls.py. */", "#define ASHLAR_MPI_H_NO_CONVERSIONS", "#include <mpi.h>", "#include <stdint.h>", "#include <stdio.h>", "#include <string.h>", "",
             "#ifndef F_LOGICAL", "#define F_LOGICAL int", "#endif", "typedef F_LOGICAL f_logical;", "int rec_mode, rec_wrong, rec_calls;", "const void* rec_address[32];",
             "static const char* rec_name;",
             "#define SEE(what) \\", "  do { if (!(what) && ++rec_wrong < 40) printf(\"%s, %s arguments: %s\\n\", rec_name, rec_mode ? \"special\" : \"ordinary\", #what); } while (0)", HELPERS, WIDE_HELPERS]
    for kind in RAW:
        c, of = table.kinds[kind].c, CLASSES.get(kind, kind.capitalize())
        lines += [f"static {c} rec_{kind}(int n) {{ return ({c})(intptr_t)(n * 16L + 0x100000L); }}",
                  f"{c} PMPI_{of}_fromint(int n) {{ return rec_{kind}(n); }}",
                  f"int PMPI_{of}_toint({c} handle) {{ return (int)(((intptr_t)handle - 0x100000L) / 16); }}"]
    lines += ["#if REC_PMPI", "#define REC(name) P##name", "#else", "#define REC(name) name", "#endif"]
    done = set()
    for call in calls:
        for large in {call.large, call.procedure.large and not call.large}:
            name = c_name(call.procedure, large)
            if name in done:
                continue
            done.add(name)
            form = Call(call.procedure, large)
            body = [f"  {line}" for i, p in enumerate(form.parameters) for line in c_check(form, p, i)]
            head = prototype(call.procedure, large, table, "").replace(f"{name}(", f"REC({name})(", 1)
            text = [f"{head} {{", f"  rec_name = \"{name}\", ++rec_calls;", *body, "  return MPI_SUCCESS;", "}"]
            lines += ["#if !REC_PMPI", *text, "#endif"] if call.procedure.name in ASKED else text
    return "\n".join(lines) + "\n"


# --- Fortran ------------------------------------------------------------------------------------------------------------

def f_type(p, large, method):
    if method == "f08":
        base = f.f08_type(p, large)
    elif p.options.get("f90") == "buffer":
        base = "INTEGER"
    else:
        base = f.old_type(p)[0]
    return base


def variable(call, p, i, method, special):
    """(declarations, settings, actual, checks) of an argument."""
    kind, name, large = p.kind.name, f"v{i}", call.large
    base = f_type(p, large, method)
    if kind == "buffer" or (p.options.get("f90") == "buffer" and method != "f08"):
        target = [f"integer, target :: {name}(4)"]
        setting = [f"call rec_set_address({i}, {name})"]
        attach = "ttach_buffer" in call.procedure.name or call.procedure.name == "MPI_Buffer_attach"
        if special and kind == "buffer" and call.procedure.name != "MPI_Free_mem":
            return [], [], "MPI_BUFFER_AUTOMATIC" if attach else ("MPI_IN_PLACE" if i % 2 else "MPI_BOTTOM"), []
        return target, setting, name, []
    if kind == "memory":
        if method == "f08":
            return [f"type(c_ptr) :: {name}"], [], name, [f"transfer({name}, 0_MPI_ADDRESS_KIND) /= {int(str(1000 + i), 16)}"]
        return [f"integer(MPI_ADDRESS_KIND) :: {name}"], [], name, [f"{name} /= {int(str(1000 + i), 16)}"]
    if kind == "status":
        return status(call, p, i, method, special)
    if kind in RAW:
        return handle(call, p, i, method, base)
    if kind == "logical":
        if p.array:
            return ([f"logical :: {name}(2)"], [f"{name} = [.true., .false.]"] if not p.output else [], name,
                    [f"{name}(1) .or. .not. {name}(2)"] if p.output else [])
        return [f"logical :: {name}"], [f"{name} = {'.false.' if p.output else '.true.'}"], name, [f".not. {name}"] if p.output else []
    if kind == "boolean":
        return [f"logical :: {name}"], [f"{name} = .true."], name, [name] if p.output else []
    if kind == "string":
        length = p.length if p.output and p.length.startswith("MPI_") else "12"
        if p.output and p.length and not p.length.startswith("MPI_"):
            length = "2"      # MPI_Info_get: valuelen
            return [f"character(len=2) :: {name}"], [f"{name} = '##'"], name, [f"{name} /= 'ou'"]
        if p.output:
            return [f"character(len={length}) :: {name}"], [f"{name} = repeat('#', len({name}))"], name, [f"{name} /= 'out{i}'"]
        return [], [], f"' in{i}  '", []
    if kind == "strings":
        if special and p.name == "argv":
            return [], [], "MPI_ARGV_NULL", []
        return [f"character(len=6) :: {name}(3)"], [f"{name} = [character(6) :: ' a{i}', 'b', ' ']"], name, []
    if kind == "string_lists":
        if special:
            return [], [], "MPI_ARGVS_NULL", []
        pad = "a%d" % i
        return ([f"character(len=6) :: {name}(2,3)"],
                [f"{name} = reshape([character(6) :: '{pad}', 'c', ' ', 'd', ' ', ' '], [2,3])"], name, [])
    return number(call, p, i, base, special)


def status(call, p, i, method, special):
    name = f"v{i}"
    if special and p.direction == "out":
        return [], [], "MPI_STATUSES_IGNORE" if p.array else "MPI_STATUS_IGNORE", []
    if method == "f08":
        declared = f"type(MPI_Status) :: {name}{'(2)' if p.array else ''}"
        source, tag, last = f"{name}%MPI_SOURCE", f"{name}%MPI_TAG", f"{name}%MPI_INTERNAL(5)"
        of = (lambda k, what: f"{name}({k})%{what}")
    else:
        declared = f"integer :: {name}(MPI_STATUS_SIZE{', 2' if p.array else ''})"
        source, tag, last = f"{name}(MPI_SOURCE)", f"{name}(MPI_TAG)", f"{name}(8)"
        of = (lambda k, what: f"{name}({what}, {k})")
    if p.array:
        return [declared], [], name, [f"{of(k, 'MPI_SOURCE')} /= {299 + i + k} .or. {of(k, 'MPI_TAG')} /= {399 + i + k}" for k in (1, 2)]
    setting = [f"{source} = {300 + i}", f"{tag} = {400 + i}"]
    return [declared], setting, name, [f"{source} /= {310 + i} .or. {last} /= 77"] if p.output else []


def handle(call, p, i, method, base):
    name = f"v{i}"
    typed = method == "f08" and f.typed(call.procedure)
    declared_type = base if typed else "INTEGER"
    n = call.items(p)
    part = "%MPI_VAL" if typed else ""
    if p.array:
        setting = [f"{name}({k + 1}){part} = {5000 + i + k}" for k in range(n)]
        return ([f"{declared_type} :: {name}({n})"], setting, name,
                [f"{name}({k + 1}){part} /= {6000 + i + k}" for k in range(n)] if p.output else [])
    return ([f"{declared_type} :: {name}"], [f"{name}{part} = {5000 + i}"], name, [f"{name}{part} /= {6000 + i}"] if p.output else [])


def number(call, p, i, base, special):
    name = f"v{i}"
    weights = p.kind.name == "int" and "pointer" in p.flags
    codes = p.kind.name == "errorcode" and p.array
    if special and weights:
        return [], [], "MPI_UNWEIGHTED", []
    if special and codes:
        return [], [], "MPI_ERRCODES_IGNORE", []
    add = 1 if "one_based" in p.flags else 0
    if p.array:
        n = call.items(p)
        shape = "(3, 2)" if "," in p.length else f"({n})"
        if "," in p.length:
            setting = [f"{name} = reshape([{', '.join(str(call.element(p, i, k)) for k in range(n))}], [3, 2])"]
        else:
            setting = [f"{name}({k + 1}) = {call.element(p, i, k)}" for k in range(n)]
        checks = [f"{name}({k + 1}) /= {200 + i + k + add}" for k in range(n)] if p.output else []
        return [f"{base} :: {name}{shape}"], setting, name, checks
    handshake = call.procedure.name in ("MPI_Info_get_string", "MPI_Session_get_nth_pset") and p.direction == "inout"
    if handshake:
        return [f"{base} :: {name}"], [f"{name} = 500"], name, [f"{name} /= 40"]
    checks = [f"{name} /= {2 if p.name == 'outcount' else 200 + i + add}"] if p.output else []
    return [f"{base} :: {name}"], [f"{name} = {call.number(p, i)}"], name, checks


def subroutine(call, method, mode, unit, prefix):
    procedure = call.procedure
    declared, settings, actual, checks = [], [], [], []
    for i, p in enumerate(call.parameters):
        d, s, a, c = variable(call, p, i, method, mode == SPECIAL)
        declared += d
        settings += s
        actual.append(a if method == "mpif" else f"{f.fortran_name(p)}={a}")
        checks += c
    name = procedure.name + ("_c" if call.large and f.explicit_large(procedure) else "")
    with_ierror = has_ierror(procedure) and not (method == "f08" and mode == SPECIAL)
    if with_ierror:
        actual.append("ierr" if method == "mpif" else "ierror=ierr")
    lines = [f"subroutine {unit}", "  integer :: ierr"] + [f"  {d}" for d in declared]
    lines += ["  ierr = -1", f"  call rec_begin({mode})"] + [f"  {s}" for s in settings]
    lines.append(f"  {f.continued(f'call {prefix}{name}(' + ', '.join(actual) + ')', 100)}")
    for c in checks:
        lines += [f"  if ({c}) &", f"    call rec_fail('{procedure.name}, {method}, result: {c.replace(chr(39), chr(34))[:80]}')"]
    if with_ierror:
        lines.append(f"  if (ierr /= 0) call rec_fail('{procedure.name}, {method}, ierror')")
    lines += [f"  call rec_end('{procedure.name}, {method}{', large' if call.large else ''}')", f"end subroutine {unit}"]
    return "\n".join(lines)


def program(calls, method, prefix="", modes=(ORDINARY, SPECIAL)):
    units, texts = [], []
    for n, call in enumerate(calls):
        for mode in modes:
            units.append(f"unit_{n}_{mode}")
            texts.append(subroutine(call, method, mode, units[-1], prefix))
    uses = {"f08": ["  use mpi_f08", "  use, intrinsic :: iso_c_binding, only: c_ptr"], "mpi": ["  use mpi"], "mpif": []}[method]
    head = [f"module units_{method}", *uses, "  implicit none", *(["  include 'mpif.h'"] if method == "mpif" else []),
            "  external :: rec_set_address, rec_begin, rec_fail, rec_end, rec_report", "contains"]
    main = [f"end module units_{method}", f"program calls_{method}", f"  use units_{method}", *(f"  call {u}" for u in units),
            "  call rec_report()", f"end program calls_{method}"]
    return "\n".join([*head, *texts, *main]) + "\n"


SUPPORT = """! Generated by calls.py. What the programs share.
module recorder
  use, intrinsic :: iso_c_binding
  implicit none
  integer(c_int), bind(C) :: rec_mode, rec_wrong, rec_calls
  type(c_ptr), bind(C) :: rec_address(0:31)
  integer :: calls_before = 0, units = 0
end module recorder
subroutine rec_set_address(i, v)
  use recorder
  integer :: i
  integer, target :: v(*)
  rec_address(i) = c_loc(v)
end subroutine
subroutine rec_begin(mode)
  use recorder
  integer :: mode
  rec_mode = int(mode, c_int)
  calls_before = rec_calls
end subroutine
subroutine rec_fail(what)
  use recorder
  character(len=*) :: what
  rec_wrong = rec_wrong + 1
  if (rec_wrong < 40) print '(a)', what
end subroutine
subroutine rec_end(what)
  use recorder
  character(len=*) :: what
  units = units + 1
  if (rec_calls /= calls_before + 1) call rec_fail(what // ': C saw not one call')
end subroutine
subroutine rec_report()
  use recorder
  if (rec_wrong == 0 .and. units > 300) return
  print '(i0, a, i0, a)', units, ' calls, ', rec_wrong, ' mistakes'
  error stop
end subroutine
"""


def main(folder, integer="4"):
    table = read_table(ROOT / "bindings/api")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    every = [Call(p, large) for p in f.procedures(table, "f08") if tested(p) for large in f.forms(p)
             if not (integer == "8" and (p.name in CONTENTS or large and any("large_only" in q.flags for q in p.parameters)))]
    (folder / "recorder.c").write_text(recorder(table, every))
    (folder / "support.f90").write_text(SUPPORT)
    for method in ("f08", "mpi", "mpif"):
        names = {p.name for p in f.procedures(table, method)}
        calls = [c for c in every if c.procedure.name in names and (method == "f08" or not c.large)]
        (folder / f"calls_{method}.f90").write_text(program(calls, method))
        below = [c for c in calls if c.procedure.name not in ASKED]
        (folder / f"calls_{method}_p.f90").write_text(program(below, method, "P", (ORDINARY,)))


if __name__ == "__main__":
    main(*sys.argv[1:])
