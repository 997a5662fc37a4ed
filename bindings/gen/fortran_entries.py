"""entries.c and sections.c: the C functions that Fortran programs call.

One machine call serves mpif.h, mpi and mpi_f08: a handle is one INTEGER by reference, an absent ierror is a null pointer.
So a procedure without choice buffers is one function with the names of all three.
"""
from fortran import choice, forms, procedures, specific, typed
from fortran_f08 import has_ierror
from fortran_steps import Entry, calls_small
from template import fill

C_RESULTS = {"double": "double", "MPI_Aint": "MPI_Aint"}
# Start MPI, and leave with the library first what it has to know of this compiler.
STARTS = ("MPI_Init", "MPI_Init_thread", "MPI_Session_init")
WIDTH = 118


def by_hand(procedure):
    """Whether bindings/fortran has the entry: procedures as arguments, attributes, what is of Fortran alone."""
    kinds = ("function", "attribute", "attribute1", "f_status", "f08_status")
    names = ("MPI_Sizeof", "MPI_F_sync_reg", *(f"MPI_{c}_free_keyval" for c in ("Comm", "Type", "Win")), "MPI_Keyval_free")
    return any(p.kind.name in kinds for p in procedure.parameters) or procedure.name in names


def entry_name(text):
    """F_PROC(send, SEND): the name as the compiler makes it from mpi_send."""
    base = text.removeprefix("MPI_")
    return f"F_PROC({base.lower()}, {base.upper()})"


def call(procedure, large):
    name = procedure.name
    if large:
        return f"F_CALL({name}_c)"
    return f"F_CALL_WIDE({name})" if procedure.large and not calls_small(procedure) else f"F_CALL({name})"


def split(head, pieces, tail, indent="    "):
    """`head` with `pieces` between parentheses, broken where a line gets too long."""
    lines, current = [], head
    for i, piece in enumerate(pieces):
        piece += "," if i < len(pieces) - 1 else tail
        if len(current) + len(piece) + 1 > WIDTH:
            lines.append(current)
            current = indent + piece
        else:
            current += piece if current == head else " " + piece
    return "\n".join([*lines, current]) if pieces else head + tail.lstrip()


def function(procedure, large, name, descriptors=False, as_f08=False):
    entry = Entry(procedure, large, descriptors, as_f08)
    s = entry.steps
    ierror = ["f_int* ierror"] if has_ierror(procedure) else []
    declared = [*s.declared, *ierror, *s.lengths] or ["void"]
    lines = [split(f"void {name}(", declared, ") {")]
    before = [*s.before, *s.opened]
    if procedure.name in STARTS:
        before.insert(0, "f_register(&code);")
    text = " ".join(before)
    may_fail = any(word in text for word in ("&code", "F_ROOM", "F_STRING", "F_INTS_", "F_STATUSES_OPEN"))
    if may_fail:
        lines.append("  int code = MPI_SUCCESS;")
    lines += [f"  {line}" for line in before]
    how = "  if (code == MPI_SUCCESS) code =" if may_fail else "  const int code ="
    lines.append(split(f"{how} {call(procedure, large)}(", s.arguments, ");", "      "))
    if s.hooks:
        lines += ["  if (taken) {", *(f"    {line}" for line in s.hooks), "  }"]
    if descriptors:
        lines += closing(entry)
    lines += [f"  {line}" for line in s.always]
    if s.after:
        lines += ["  if (code == MPI_SUCCESS) {", *(f"    {line}" for line in s.after), "  }"]
    lines += [f"  {line}" for line in s.release]
    lines.append("  f_return(ierror, code);" if ierror else "  (void)code;")
    return "\n".join([*lines, "}\n"])


def closing(entry):
    """What a section was opened for ends with the call, or with the request."""
    lines = []
    sections = [p for p in entry.parameters if p.kind.name == "buffer"]
    for p in sections:
        if entry.request:
            lines.append(f"  F_KEEP(s_{p.name}, c_{entry.request.name}, {entry.life});")
        else:
            lines.append(f"  F_CLOSE(s_{p.name});")
    return lines


def returning(procedure):
    given = [(p.kind.c, p.name) for p in procedure.parameters]
    declared = ", ".join(f"{t}* {n}" for t, n in given) or "void"
    actual = ", ".join(f"*{n}" for _, n in given)
    return (f"{C_RESULTS[procedure.returns]} {entry_name(procedure.name)}({declared}) {{\n"
            f"  return F_CALL({procedure.name})({actual});\n}}\n")


def alias(procedure, name):
    return f"F_ALIAS({entry_name(name)}, {entry_name(procedure.name)});\n"


def without_choice(procedure):
    """The functions of one procedure, and the names of mpi_f08 for them."""
    if not procedure.returns_error:
        return [returning(procedure), alias(procedure, specific(procedure, False))]
    texts = [function(procedure, False, entry_name(procedure.name))]
    differs = any(p.options.get("f90") == "buffer" for p in procedure.parameters)
    if not typed(procedure):
        return texts
    if differs:
        texts.append(function(procedure, False, entry_name(specific(procedure, False)), as_f08=True))
    else:
        texts.append(alias(procedure, specific(procedure, False)))
    if procedure.name in ("MPI_Alloc_mem", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_shared_query"):
        texts.append(alias(procedure, f"{procedure.name}_cptr"))
    if forms(procedure)[1:]:
        texts.append(function(procedure, True, entry_name(specific(procedure, True)), as_f08=True))
    return texts


def with_choice(procedure):
    """The functions that take a buffer by its address. Those of mpi_f08 are for compilers without descriptors."""
    texts = [function(procedure, False, entry_name(procedure.name))]
    fallback = [alias(procedure, specific(procedure, False, False))]
    if forms(procedure)[1:]:
        fallback.append(function(procedure, True, entry_name(specific(procedure, True, False)), as_f08=True))
    return [*texts, "#if !ASHLAR_F_DESCRIPTORS", *fallback, "#endif\n"]


def entries(table):
    texts = []
    for procedure in procedures(table, "f08"):
        if not by_hand(procedure):
            texts += with_choice(procedure) if choice(procedure) else without_choice(procedure)
    return fill("entries.c", FUNCTIONS="\n".join(texts))


def section_name(procedure, large):
    return f"F_TS({procedure.name.removeprefix('MPI_').lower()}{'_c' if large else ''})"


def sections(table):
    texts = []
    for procedure in procedures(table, "f08"):
        if choice(procedure) and not by_hand(procedure):
            texts += [function(procedure, large, section_name(procedure, large), True, True) for large in forms(procedure)]
    return fill("sections.c", FUNCTIONS="\n".join(texts))
