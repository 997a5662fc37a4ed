"""entries.c and entries_short.c: the C functions that Fortran programs call.

One machine call serves mpif.h, mpi and mpi_f08: a handle is one INTEGER by reference, an absent ierror is a null pointer.
So a procedure without choice buffers is one function with the names of all three. One with choice buffers takes their
addresses; fortran_sections.py puts the function for sections before it.
"""
from fortran import choice, forms, procedures, specific, typed
from fortran_f08 import has_ierror
from fortran_sections import Shape, opened, plain_name, section
from fortran_steps import Entry, calls_small
from template import fill

C_RESULTS = {"double": "double", "MPI_Aint": "MPI_Aint"}
# Start MPI; the library learns what it has to know of this compiler.
STARTS = ("MPI_Init", "MPI_Init_thread", "MPI_Session_init")
# Messages: calls so short that converting handles shows.
DIRECT = ("MPI_Send", "MPI_Bsend", "MPI_Ssend", "MPI_Rsend", "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Wait")
# Messages that loops send from sections of a few shapes.
LOOPS = ("MPI_Send", "MPI_Isend", "MPI_Recv", "MPI_Irecv")
SHORT_PATH = ("partitioned", "pt2pt", "request", "rma")
WIDTH = 118


def by_hand(procedure):
    """Whether bindings/fortran has the entry: procedures as arguments, attributes, what is of Fortran alone."""
    kinds = ("function", "attribute", "attribute1", "f_status", "f08_status")
    names = ("MPI_Sizeof", "MPI_F_sync_reg", *(f"MPI_{c}_free_keyval" for c in ("Comm", "Type", "Win")), "MPI_Keyval_free")
    return any(p.kind.name in kinds for p in procedure.parameters) or procedure.name in names


# What MPI-2 replaced, and not every library with the standard ABI has: the procedure that takes its place there.
REPLACED = {"MPI_Attr_delete": "MPI_Comm_delete_attr"}

# With 8-byte INTEGER their small forms are by hand, as datatypes are made by large forms then.
CONTENTS = ("MPI_Type_get_envelope", "MPI_Type_get_contents")


def entry_name(text):
    """F_PROC(send, SEND): the name as the compiler makes it from mpi_send."""
    base = text.removeprefix("MPI_")
    return f"F_PROC({base.lower()}, {base.upper()})"


def call(procedure, large):
    name = procedure.name
    if name in REPLACED:
        return f"F_CALL_OR({name}, {REPLACED[name]})"
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


def function(procedure, large, name, as_f08=False, prefix=""):
    entry = Entry(procedure, large, as_f08)
    s = entry.steps
    ierror = ["f_int* ierror"] if has_ierror(procedure) else []
    declared = [*s.declared, *ierror, *s.lengths] or ["void"]
    lines = [split(f"{prefix}void {name}(", declared, ") {")]
    if procedure.name in DIRECT:
        converting = f"f_converting_{procedure.name.removeprefix('MPI_').lower()}{'_c' if large else ''}"
        inline = "extern inline " if procedure.name in LOOPS and not large else ""    # in the one for descriptors
        shortcut = [inline + on_the_stack(entry, lines[0]), *direct(entry, call(procedure, large), converting)]
        if entry.comm:
            shortcut = [*without_comm(entry, declared, converting), *shortcut]
            declared = ["MPI_Comm c_comm" if d == "f_int* comm" else d for d in declared]
            s.before = [line for line in s.before if "c_comm" not in line]
        lines = [split(f"static F_SELDOM void {converting}(", declared, ") {")]
    lines += [*body(entry, large), "}\n"]
    return "\n".join([*lines, *shortcut] if procedure.name in DIRECT else lines)


def body(entry, large):
    """From the conversion of the arguments to the return."""
    procedure, s = entry.procedure, entry.steps
    before = [*s.before, *s.opened]
    if procedure.name in STARTS:
        before.insert(0, "f_register(F_BEFORE_START, &code);")
        s.after.append("f_register(F_AFTER_START, &code);")
    text = " ".join(before)
    may_fail = any(word in text for word in ("&code", "F_ROOM", "F_STRING", "F_INTS_", "F_STATUSES_OPEN"))
    lines = ["  int code = MPI_SUCCESS;"] if may_fail else []
    lines += [f"  {line}" for line in before]
    how = "  if (code == MPI_SUCCESS) code =" if may_fail else "  const int code ="
    lines.append(split(f"{how} {call(procedure, large)}(", s.arguments, ");", "      "))
    if s.hooks:
        lines += ["  if (taken) {", *(f"    {line}" for line in s.hooks), "  }"]
    lines += [f"  {line}" for line in s.always]
    if s.after:
        lines += ["  if (code == MPI_SUCCESS) {", *(f"    {line}" for line in s.after), "  }"]
    lines += [f"  {line}" for line in s.release]
    return [*lines, "  f_return(ierror, code);" if has_ierror(procedure) else "  (void)code;"]


def with_kept(procedure):
    """The call with a datatype that an earlier one has made for a section of this shape."""
    entry = Entry(procedure, False)
    s = entry.steps
    stands_for = {"c_buf": "buf->base_addr", "*count": "1", "f_datatype(*datatype)": "kept->made"}
    s.arguments, s.opened = [stands_for.get(a, a) for a in s.arguments], []
    return body(entry, False)


def direct(entry, c, converting):
    """The call when nobody has to be asked for a handle, the buffer is ordinary, the request has nothing pending. It keeps as
    little as can be in registers over the call, which conversions do: they are another function."""
    return [*(waiting if entry.procedure.name == "MPI_Wait" else passing)(entry, c, converting), "}\n"]


def without_comm(entry, declared, converting):
    """For the function that converts the other arguments: the communicator."""
    names = ", ".join("f_comm(*comm)" if n == "comm" else n for n in [*(p.name for p in entry.parameters), "ierror"])
    return [split(f"static F_SELDOM void {converting}_all(", declared, ") {"), f"  {converting}({names});", "}\n"]


def on_the_stack(entry, head):
    """Most machines pass six or eight arguments in registers and the others on the stack. Of the latter those that are
    needed after the call are read from there then: no register has to be kept for them, and saved before."""
    if len(entry.parameters) < 6:
        return head
    return head.replace("f_int* request", "f_int* volatile request").replace("f_int* ierror", "f_int* volatile ierror")


def passing(entry, c, converting):
    """A message. No argument's address is needed when its value has been read into the register where it was: where the
    datatype is not found, the communicator is."""
    s = entry.steps
    names = [*(p.name for p in entry.parameters), "ierror"]
    buffer = next(p.name for p in entry.parameters if p.kind.name == "buffer")
    actual = []
    for argument in s.arguments:
        for name, c_type in ((entry.comm.name, "MPI_Comm"), ("datatype", "MPI_Datatype")):
            if argument in (f"c_{name}", f"f_{name}(*{name})"):
                argument = f"({c_type})c_{name}"
        actual.append(buffer if argument == f"c_{buffer}" else argument)
    made = entry.request
    end = [f"f_return_made({made.name}, &c_{made.name}, ierror, code);"] if made else [*s.always, "f_return(ierror, code);"]
    return ["  uintptr_t c_comm, c_datatype;",
            f"  if (!F_LIKELY(f_ordinary({buffer}) && f_found(comm, &c_comm))) {{",
            f"    {converting}_all({', '.join(names)});",
            "  } else if (!F_LIKELY(f_found(datatype, &c_datatype))) {",
            f"    {converting}({', '.join('(MPI_Comm)c_comm' if n == 'comm' else n for n in names)});",
            "  } else {",
            *(f"    {line}" for line in s.before if "c_comm" not in line),
            split(f"    const int code = {c}(", actual, ");", "        "), *(f"    {line}" for line in end), "  }"]


def waiting(entry, c, converting):
    """One request that goes by the rule for numbers and has nothing pending. What is needed after the call is left on the
    stack: two stores and two loads, where a register that is kept over the call takes three of each."""
    s = entry.steps
    return ["  if (F_LIKELY(f_is_above(*request, atomic_load_explicit(&f_plain_above, memory_order_acquire)))) {",
            "    f_int *volatile to_request = request, *volatile to_ierror = ierror;",
            "    MPI_Request c_request = (MPI_Request)f_handle_at(*request);",
            *(f"    {line}" for line in s.before if "c_request" not in line),
            split(f"    const int code = {c}(", s.arguments, ");", "        "),
            *(f"    {line}" for line in s.always if "c_request" not in line),
            "    f_return_done(to_request, &c_request, to_ierror, code);", "  } else {",
            f"    {converting}(request, status, ierror);", "  }"]


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
    if procedure.name in CONTENTS:
        texts = ["#if ASHLAR_F_INT != 8", *texts, "#endif\n"]
    if procedure.name in ("MPI_Alloc_mem", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_shared_query"):
        texts.append(alias(procedure, f"{procedure.name}_cptr"))
    if forms(procedure)[1:]:
        texts.append(function(procedure, True, entry_name(specific(procedure, True)), as_f08=True))
    return texts


def sections(procedure):
    in_loops = {False: with_kept(procedure)} if procedure.name in LOOPS else {}
    return [section(procedure, large, in_loops.get(large)) for large in forms(procedure)]


def with_choice(procedure):
    """The functions that take a buffer by its address, which are those of mpi_f08 where the compiler has no descriptors;
    and the functions that take a section."""
    small, *rest = forms(procedure)
    names = [entry_name(specific(procedure, large, False)) for large in forms(procedure)]
    texts = [function(procedure, small, entry_name(procedure.name)),
             f"F_INTERNAL_ALIAS({plain_name(procedure, small)}, {entry_name(procedure.name)});"]
    texts += [function(procedure, large, plain_name(procedure, large), as_f08=True, prefix="F_INTERNAL ") for large in rest]
    texts += ["#if ASHLAR_F_DESCRIPTORS", *sections(procedure), "#else"]
    return [*texts, *(f"F_ALIAS({name}, {plain_name(procedure, large)});" for name, large in zip(names, forms(procedure))),
            "#endif\n"]


def short_path(procedure):
    """Whether programs make the call so often that its instructions count more than its size."""
    return procedure.chapter in SHORT_PATH


def entries(table, short):
    texts = []
    for procedure in procedures(table, "f08"):
        if not by_hand(procedure) and short_path(procedure) == short:
            texts += with_choice(procedure) if choice(procedure) else without_choice(procedure)
    # Other names of a function stand right behind it.
    if short:
        texts = [*(f"F_BOUND_AT_ONCE({call(p, large)});" for p in procedures(table, "f08") if p.name in DIRECT for large in forms(p)),
                 "", *texts]
    return fill("entries.c", FUNCTIONS="\n".join(texts).replace("}\n\nF_ALIAS", "}\nF_ALIAS"))


def shapes(table):
    texts = [Shape(p).text() for p in procedures(table, "f08") if choice(p) and not by_hand(p) and opened(p)]
    return fill("shapes.c", SHAPES="\n".join(texts))


def shapes_header(table):
    names = [Shape(p) for p in procedures(table, "f08") if choice(p) and not by_hand(p) and opened(p)]
    return fill("shapes.h", SHAPES="\n".join(s.text().split(" = ")[0].replace("const", "extern const", 1) + ";" for s in names))
