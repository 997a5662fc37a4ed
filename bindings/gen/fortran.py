"""What the procedures of the table are in Fortran: their names, arguments and declarations in each of the three methods.

The methods are "f08" (module mpi_f08), "mpi" (module mpi) and "mpif" (mpif.h). What describes a choice buffer, and how
long an array is, follows from the table too; the C entry points (fortran_entries.py) go by it.
"""
from c_types import c_name
from header import HANDLE_KINDS

HANDLES = tuple(k for k in HANDLE_KINDS if not k.startswith("t_"))
RESULTS = {"double": "DOUBLE PRECISION", "MPI_Aint": "INTEGER(KIND=MPI_ADDRESS_KIND)"}
INTEGERS = ("INTEGER", "INTEGER(KIND=MPI_ADDRESS_KIND)", "INTEGER(KIND=MPI_COUNT_KIND)", "INTEGER(KIND=MPI_OFFSET_KIND)")
NOT_IN_MPIF = ("MPI_Status_f2f08", "MPI_Status_f082f")


# --- which procedures and arguments there are -----------------------------------------------------------------------

def in_f08(p):
    return p.options.get("fortran") != "no" and p.kind.f08 != "-"


def has_f08(procedure):
    """Whether Fortran has the procedure: all that stays of its arguments has a type there."""
    left_out = [p for p in procedure.parameters if p.kind.f08 == "-" and p.options.get("fortran") != "no" and
                p.kind.name not in ("function", "argv", "varargs")]
    return not left_out and (procedure.returns_error or procedure.returns in RESULTS)


def procedures(table, method):
    """The procedures of a method, in the order of the table."""
    for procedure in table.procedures.values():
        if procedure.options.get("fortran") == "no" or not has_f08(procedure):
            continue
        if method == "mpif" and procedure.name in NOT_IN_MPIF:
            continue
        yield procedure


def typed(procedure):
    """Whether mpi_f08 has a procedure with its own types; deprecated ones are in it as they are in mpi."""
    return procedure.options.get("fortran") != "mpi"


def same_kinds(procedure):
    """Whether the large form has the same kinds as the small one, so that a generic name cannot have both."""
    return all(p.kind.f08.count("(") and p.kind.f08 != "INTEGER" for p in procedure.parameters if p.kind.wide) and not any(
        "large_only" in p.flags or p.kind.name == "function" for p in procedure.parameters)


def explicit_large(procedure):
    """Whether the large form is called by a name of its own: procedures as arguments do not tell generics apart."""
    return procedure.large and any(p.kind.name == "function" for p in procedure.parameters)


def forms(procedure):
    """False for the small form; True for the large one, where mpi_f08 has it."""
    return [False, True] if procedure.large and not same_kinds(procedure) else [False]


def parameters(procedure, large):
    return [p for p in procedure.form(large) if p.options.get("fortran") != "no" and
            (p.kind.f08 != "-" or p.kind.name == "function")]


def buffers(procedure):
    return [p for p in procedure.parameters if p.kind.name == "buffer"]


def choice(procedure):
    return bool(buffers(procedure))


def strings(procedure, large=False):
    """The arguments with a hidden length, in order."""
    return [p for p in parameters(procedure, large) if p.kind.name in ("string", "strings", "string_lists")]


def specific(procedure, large, descriptors=True):
    """The standard's name of a specific procedure of mpi_f08."""
    if not typed(procedure):
        return procedure.name
    return c_name(procedure, large) + ("_f08ts" if choice(procedure) and descriptors else "_f08")


# --- what describes a buffer ------------------------------------------------------------------------------------------

COUNTS = ("count", "wide_count")


def described_by(procedure, buffer, large=False):
    """(way, arguments): "pair" count and datatype of the whole; "peers" the same for each rank; "partitions" for each
    partition; "operand" of a reduction; "blocks" arrays of counts; "bytes"; "address" nothing but where it is."""
    form = procedure.form(large)
    after = form[form.index(buffer) + 1:]
    kinds = [p.kind.name for p in after]
    if any(p.kind.name == "op" for p in form) and procedure.chapter in ("coll", "op"):
        return "operand", []
    if kinds[:3] == ["partition", "wide_count", "datatype"]:
        return "partitions", after[:3]
    if kinds[:2] == ["count", "datatype"] and not after[0].array:
        return ("peers" if "per_peer" in after[0].flags else "pair"), after[:2]
    if after and after[0].array and kinds[0] == "count":
        return "blocks", []
    if kinds[:1] and kinds[0] in ("bytes", "size_bytes", "aint_size"):
        return "bytes", after[:1]
    if procedure.name.startswith("MPI_Unpack") and kinds[:1] == ["displ_count"]:
        return "bytes", []
    return "address", []


# --- declarations -----------------------------------------------------------------------------------------------------

def fortran_name(p):
    return p.options.get("fortran_name", p.name)


def wide(p, large):
    return large and p.kind.wide


def f08_type(p, large):
    if p.kind.name == "function":
        return f"PROCEDURE({p.options['type']}{'_c' if large and p.options['type'] in LARGE_CALLBACKS else ''})"
    if p.kind.name == "string" and p.output and p.length:
        return f"CHARACTER(LEN={p.length})"
    return p.kind.f08_large if wide(p, large) else p.kind.f08


LARGE_CALLBACKS = ("MPI_User_function", "MPI_Datarep_conversion_function")


def shape(p):
    """The dimensions of an array in mpi_f08; "" of a scalar. Fortran counts the other way round."""
    if p.kind.name == "string_lists":
        return f"({p.length}, *)"
    if not p.array and p.kind.name != "strings":
        return ""
    # An array of statuses may be a constant that is none.
    unknown = p.length in ("comm", "*") or p.kind.name in ("status", "strings")
    return "(*)" if unknown else f"({', '.join(reversed(p.length.split(',')))})"


def declaration(p, large):
    """`TYPE(*), DIMENSION(..), ASYNCHRONOUS :: buf` of mpi_f08."""
    parts = [f08_type(p, large)]
    buffer_without_intent = p.kind.name == "buffer" and p.output
    if p.kind.name not in ("function", "status") and not buffer_without_intent and "nointent" not in p.flags:
        parts.append(f"INTENT({p.direction.upper()})")
    elif p.kind.name == "status" and p.direction != "out":
        parts.append(f"INTENT({p.direction.upper()})")
    if "async" in p.flags:
        parts.append("ASYNCHRONOUS")
    return f"{', '.join(parts)} :: {fortran_name(p)}{shape(p)}"


def old_type(p):
    """The type of an argument in mpi and mpif.h, with the dimensions that the type brings along."""
    kind = p.kind.name
    if p.options.get("f90") == "buffer" or kind == "buffer":
        return "TYPE(*)", "*"
    if kind == "function":
        return "EXTERNAL", ""
    if kind == "status":
        return "INTEGER", "MPI_STATUS_SIZE"
    if kind == "f_status":
        return "INTEGER", "MPI_STATUS_SIZE"
    if kind == "memory":
        return "INTEGER(KIND=MPI_ADDRESS_KIND)", ""
    if kind in HANDLES:
        return "INTEGER", ""
    return p.kind.f08, ""


def old_declaration(p, address=""):
    """One argument of a procedure of mpi; an array has no length, because programs give longer and shorter ones. Choice
    buffers have no INTENT: a constant for "in place" may stand for them."""
    base, inner = old_type(p)
    if address and p.kind.name == "memory":
        base = address
    if base == "EXTERNAL":
        return f"EXTERNAL :: {fortran_name(p)}"
    outer = ""
    if p.array or p.kind.name == "strings":
        outer = f"{p.length.split(',')[1]}, *" if "," in p.length else "*"
    if p.kind.name == "string_lists":
        outer = f"{p.length}, *"
    dimensions = ", ".join(d for d in (inner, outer) if d)
    scalar = not dimensions and base != "TYPE(*)" and p.kind.name not in ("string", "f08_status")
    if base == "TYPE(*)":
        return f"type(*), dimension(*) :: {fortran_name(p)}"
    intent = ""
    if p.direction == "in" and "nointent" not in p.flags and base != "TYPE(*)":
        intent = ", INTENT(IN)"
    elif scalar and p.kind.name != "memory":
        intent = f", INTENT({p.direction.upper()})"
    asynchronous = ", ASYNCHRONOUS" if "async" in p.flags and dimensions else ""
    return f"{base}{intent}{asynchronous} :: {fortran_name(p)}{f'({dimensions})' if dimensions else ''}"


def joined(declarations, width=100):
    """The declarations, with neighbours on one line that are scalars of one type."""
    lines = []
    for d in declarations:
        what, _, name = d.partition(" :: ")
        same = lines and name and lines[-1].startswith(f"{what} :: ") and "(" not in lines[-1].partition(" :: ")[2] + name
        if same and len(lines[-1]) + len(name) < width:
            lines[-1] += f", {name}"
        else:
            lines.append(d)
    return lines


def callback_declaration(p, large, method):
    """An argument of a callback: data are addresses, and nothing has an INTENT."""
    if method == "f08":
        base = f08_type(p, large)
        if p.kind.name == "memory":
            return f"TYPE(C_PTR), VALUE :: {fortran_name(p)}"
        return f"{base} :: {fortran_name(p)}"
    base, inner = old_type(p)
    if wide(p, large):
        base = p.kind.f08_large
    if p.kind.name == "memory":
        return f"type(*), dimension(*) :: {fortran_name(p)}"
    return f"{base} :: {fortran_name(p)}{f'({inner})' if inner else ''}"


def callback_parameters(callback):
    return [p for p in callback.parameters if p.kind.name != "varargs"]


# --- the interface as the manual shows it -------------------------------------------------------------------------------

def interface(procedure, large):
    """A procedure of mpi_f08: its name with its arguments, and their declarations."""
    given = parameters(procedure, large)
    names = [fortran_name(p) for p in given] + (["ierror"] if procedure.returns_error else [])
    result = "" if procedure.returns_error else RESULTS[procedure.returns] + " "
    head = f"{result}{procedure.name}({', '.join(names)})" + (" !(_c)" if large else "")
    lines = [continued(head)] + [f"    {declaration(p, large)}" for p in given]
    if procedure.returns_error:
        lines.append("    INTEGER, OPTIONAL, INTENT(OUT) :: ierror")
    return "\n".join(lines)


def continued(head, width=90, indent="        ", end=", &"):
    """A long list of arguments, on lines that Fortran joins."""
    lines, current = [], ""
    for piece in head.split(", "):
        if current and len(current) + len(piece) > width:
            lines.append(current + end)
            current = indent + piece
        else:
            current = f"{current}, {piece}" if current else piece
    return "\n".join(lines + [current])
