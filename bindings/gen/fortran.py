"""mpi_f08 from the table: a Fortran wrapper with the standard's interface, and a C function below it.

The wrapper deals with what only Fortran can say (OPTIONAL, LOGICAL, procedures); the C function with what only C can
(descriptors, handles). PROCEDURES is what this version makes; the rest of the table waits for the files that a Fortran
user also needs (the mpi module, mpif.h, wrappers of compilers).
"""
from c_types import c_name
from header import HANDLE_KINDS
from template import fill

PROCEDURES = ("MPI_Alltoallw", "MPI_Irecv", "MPI_Op_create", "MPI_Send")
SMALL_ONLY = ("MPI_Op_create",)      # its large form needs trampolines of another type
CALLBACKS = ("MPI_User_function",)
HANDLES = tuple(k for k in HANDLE_KINDS if not k.startswith("t_"))
CONVERTERS = {"datatype": "Type"}    # MPI_Type_fromint for MPI_Datatype


def class_name(kind):
    return CONVERTERS.get(kind.name, kind.c.replace("MPI_", ""))


def from_int(kind, value):
    return f"PMPI_{class_name(kind)}_fromint({value})"


# --- the module's types and constants ---------------------------------------------------------------------------------

def types(table):
    lines = []
    for name in HANDLES:
        kind = table.kinds[name].c
        lines += [f"  type, bind(C), public :: {kind}", "    integer(c_int) :: MPI_VAL", f"  end type {kind}"]
    return "\n".join(lines)


def constants(table):
    handle_types = {table.kinds[k].c for k in HANDLES}
    values, lines = {}, []
    for c in table.constants:
        value = values.get(c.value, c.value)
        values[c.name] = value
        if c.alias:
            c_type = next(o.type for o in table.constants if o.name == c.value)
        else:
            c_type = c.type
        if c_type in handle_types:
            lines.append(f"  type({c_type}), parameter, public :: {c.name} = {c_type}({int(value, 0)})")
        elif c_type == "number" and not c.name.startswith("MPI_T_"):
            lines.append(f"  integer, parameter, public :: {c.name} = {int(value, 0)}")
    return "\n".join(lines)


# --- declarations -----------------------------------------------------------------------------------------------------

def fortran_name(p):
    return p.options.get("fortran_name", p.name)


def fortran_type(p, large):
    if p.kind.name == "function":
        return f"procedure({p.options['type']})"
    return p.kind.f08_large if large and p.kind.wide else p.kind.f08


def declaration(p, large):
    """`TYPE(*), DIMENSION(..), ASYNCHRONOUS :: buf`"""
    parts = [fortran_type(p, large)]
    buffer_without_intent = p.kind.name in ("buffer", "boolean") and p.output
    if p.kind.name != "function" and not buffer_without_intent and "nointent" not in p.flags:
        parts.append(f"INTENT({p.direction.upper()})")
    if "async" in p.flags:
        parts.append("ASYNCHRONOUS")
    shape = ""
    if p.array:
        # An array of statuses may be a constant that is none; Fortran counts the other way round.
        unknown = p.length in ("comm", "*") or p.kind.name in ("status", "strings", "string_lists")
        shape = "(*)" if unknown else f"({', '.join(reversed(p.length.split(',')))})"
    return f"{', '.join(parts)} :: {fortran_name(p)}{shape}"


# --- the interface as the manual shows it -------------------------------------------------------------------------------

RESULTS = {"double": "DOUBLE PRECISION", "MPI_Aint": "INTEGER(KIND=MPI_ADDRESS_KIND)"}


def in_f08(p):
    return p.options.get("fortran") != "no" and p.kind.f08 != "-"


def has_f08(procedure):
    """Whether mpi_f08 has the procedure: all that stays of its arguments has a type there."""
    left_out = [p for p in procedure.parameters if p.kind.f08 == "-" and p.options.get("fortran") != "no" and
                p.kind.name not in ("function", "argv", "varargs")]
    return not left_out and (procedure.returns_error or procedure.returns in RESULTS)


def interface(procedure, large):
    """A procedure of mpi_f08: its name with its arguments, and their declarations."""
    parameters = [p for p in procedure.form(large) if p.options.get("fortran") != "no" and
                  (p.kind.f08 != "-" or p.kind.name == "function")]
    names = [fortran_name(p) for p in parameters] + (["ierror"] if procedure.returns_error else [])
    result = "" if procedure.returns_error else RESULTS[procedure.returns] + " "
    head = f"{result}{procedure.name}({', '.join(names)})" + (" !(_c)" if large else "")
    lines = [continued(head)] + [f"    {declaration(p, large)}" for p in parameters]
    if procedure.returns_error:
        lines.append("    INTEGER, OPTIONAL, INTENT(OUT) :: ierror")
    return "\n".join(lines)


def continued(head, width=90):
    """A long list of arguments, on lines that Fortran joins."""
    lines, current = [], ""
    for piece in head.split(", "):
        if current and len(current) + len(piece) > width:
            lines.append(current + ", &")
            current = "        " + piece
        else:
            current = f"{current}, {piece}" if current else piece
    return "\n".join(lines + [current])


def callback(procedure):
    """The abstract interface of a callback; data come as addresses, because the callee does not know their type."""
    names = [fortran_name(p) for p in procedure.parameters]
    lines = [f"    subroutine {procedure.name}({', '.join(names)})",
             "      import :: c_ptr, MPI_Datatype"]
    for p in procedure.parameters:
        value = ", VALUE" if p.kind.name == "memory" else ""
        lines.append(f"      {fortran_type(p, False)}{value} :: {fortran_name(p)}")
    return "\n".join(lines + [f"    end subroutine {procedure.name}"])


# --- wrapper and interface of the C function ----------------------------------------------------------------------------

def glue_name(procedure, large):
    return f"ashlar_f08_{c_name(procedure, large)}"


def glue_declaration(p, large):
    """How the C function takes `p`."""
    kind, name = p.kind.name, fortran_name(p)
    asynchronous = ", asynchronous" if "async" in p.flags else ""
    if kind == "buffer":
        intent = ", intent(in)" if not p.output and "nointent" not in p.flags else ""
        return f"type(*), dimension(..){intent}{asynchronous} :: {name}"
    if kind == "function":
        return f"type(c_funptr), value :: {name}"
    if kind in HANDLES and p.array:
        return f"{p.kind.f08}, intent({p.direction}){asynchronous} :: {name}(*)"
    if kind in HANDLES or kind == "logical":
        return f"integer(c_int), {'intent(' + p.direction + ')' if p.output else 'value'} :: {name}"
    base = "integer(c_int)"
    if large and p.kind.wide:
        base = "integer(c_intptr_t)" if p.kind.c_large == "MPI_Aint" else "integer(c_int64_t)"
    if p.array:
        return f"{base}, intent({p.direction}){asynchronous} :: {name}(*)"
    return f"{base}, {'intent(' + p.direction + ')' if p.output else 'value'} :: {name}"


def glue_interface(procedure, large):
    names = [fortran_name(p) for p in procedure.form(large)]
    name = glue_name(procedure, large)
    handles = sorted({p.kind.c for p in procedure.form(large) if p.kind.name in HANDLES and p.array})
    lines = [f"    integer(c_int) function {name}( &", f"        {', '.join(names)}) &", f"        bind(C, name=\"{name}\")",
             f"      import :: {', '.join(['c_int', 'c_int64_t', 'c_intptr_t', 'c_funptr', *handles])}"]
    lines += [f"      {glue_declaration(p, large)}" for p in procedure.form(large)]
    return "\n".join(lines + [f"    end function {name}"])


def actual(p):
    """The actual argument that the wrapper hands to the C function."""
    name = fortran_name(p)
    if p.kind.name in HANDLES and not p.array:
        return f"{name}%MPI_VAL"
    if p.kind.name == "logical":
        return f"merge(1_c_int, 0_c_int, {name})"
    if p.kind.name == "function":
        return f"c_funloc({name})"
    return name


def wrapper(procedure, large):
    name = f"{c_name(procedure, large)}_f08"
    parameters = procedure.form(large)
    names = ", ".join([fortran_name(p) for p in parameters] + ["ierror"])
    lines = [f"  subroutine {name}( &", f"      {names})"]
    lines += [f"    {declaration(p, large)}" for p in parameters]
    lines += ["    INTEGER, OPTIONAL, INTENT(OUT) :: ierror", "    integer(c_int) :: code",
              f"    code = {glue_name(procedure, large)}( &"]
    pieces = [actual(p) for p in parameters]
    lines += [f"        {', '.join(pieces[:5])}, &", f"        {', '.join(pieces[5:])})"] if len(pieces) > 5 else \
             [f"        {', '.join(pieces)})"]
    lines += ["    if (present(ierror)) ierror = code", f"  end subroutine {name}\n"]
    return "\n".join(lines)


# --- the C function -----------------------------------------------------------------------------------------------------

def glue_parameter(p, large):
    kind = p.kind.name
    if kind == "buffer":
        return f"const CFI_cdesc_t* {p.name}"
    if kind == "function":
        return f"fortran_user_function* {p.name}"
    if p.array:
        base = "int" if kind in HANDLES else (p.kind.c_large if large else p.kind.c)
        return f"const {base}* {p.name}"
    base = "int" if kind in HANDLES else (p.kind.c_large if large else p.kind.c)
    return f"{base}{'*' if p.output else ''} {p.name}"


def glue_function(procedure, large):
    parameters = procedure.form(large)
    comm = next((p for p in parameters if p.kind.name == "comm"), None)
    lines = ["int code = MPI_SUCCESS;"]
    on = "c_comm" if comm else "MPI_COMM_SELF"
    if comm:
        lines.append(f"const MPI_Comm {on} = {from_int(comm.kind, comm.name)};")
    arguments, after, described = [], [], {}
    for i, p in enumerate(parameters):
        kind, name = p.kind.name, p.name
        follow = parameters[i + 1:i + 3]
        if kind == "buffer" and [q.kind.name for q in follow] == ["count", "datatype"] and not follow[0].array:
            count, datatype = follow
            lines += [f"struct section {name}_data;",
                      f"code = open_section({name}, {count.name}, {from_int(datatype.kind, datatype.name)}, {on}, &{name}_data);",
                      "if (code != MPI_SUCCESS) return code;"]
            described[count.name] = f"{'' if large else '(int)'}{name}_data.count"
            described[datatype.name] = f"{name}_data.type"
            arguments.append(f"{name}_data.address")
            after.append(f"close_section(&{name}_data);")
        elif name in described:
            arguments.append(described[name])
        elif kind == "buffer":
            lines.append(f"void* const {name}_address = contiguous_address({name}, {on}, &code);")
            arguments.append(f"{name}_address")
        elif kind == "comm":
            arguments.append(on)
        elif kind == "datatype" and p.array:
            lines.append(f"MPI_Datatype* const c_{name} = datatypes_from_ints({name}, peers_of({on}));")
            arguments.append(f"c_{name}")
            after.append(f"free(c_{name});")
        elif kind in HANDLES and p.direction == "out":
            lines.append(f"{p.kind.c} c_{name};")
            arguments.append(f"&c_{name}")
            after.append(f"if (code == MPI_SUCCESS) *{name} = PMPI_{class_name(p.kind)}_toint(c_{name});")
        elif kind in HANDLES:
            arguments.append(from_int(p.kind, name))
        elif kind == "function":
            lines += [f"MPI_User_function* const c_{name} = user_function_for({name});",
                      f"if (c_{name} == NULL) return MPI_ERR_OTHER;"]
            arguments.append(f"c_{name}")
        else:
            arguments.append(name)
    call = f"code = P{c_name(procedure, large)}({', '.join(arguments)});"
    lines.append(f"if (code == MPI_SUCCESS) {call}" if any("contiguous_address" in x for x in lines) else call)
    head = f"int {glue_name(procedure, large)}({', '.join(glue_parameter(p, large) for p in parameters)})"
    body = "".join(f"  {line}\n" for line in lines + after)
    return f"{head};\n{head} {{\n{body}  return code;\n}}\n"


def forms(table):
    for name in PROCEDURES:
        procedure = table.procedures[name]
        yield procedure, False
        if procedure.large and name not in SMALL_ONLY:
            yield procedure, True


def module(table):
    generics = []
    for name in PROCEDURES:
        specifics = [f"{c_name(p, large)}_f08" for p, large in forms(table) if p.name == name]
        generics.append(f"  interface {name}\n    module procedure {', '.join(specifics)}\n  end interface {name}\n  public :: {name}")
    callbacks = [callback(table.callbacks[n]) for n in CALLBACKS]
    return fill("mpi_f08.f90", TYPES=types(table), CONSTANTS=constants(table),
                CALLBACKS="\n".join(callbacks), GENERICS="\n".join([*generics, *[f"  public :: {n}" for n in CALLBACKS]]),
                GLUE="\n".join(glue_interface(p, large) for p, large in forms(table)),
                WRAPPERS="\n".join(wrapper(p, large) for p, large in forms(table)))


def glue(table):
    return fill("f08_glue.c", FUNCTIONS="\n".join(glue_function(p, large) for p, large in forms(table)))
