"""mpi.f90, mpif.h and mpif_removed.h: the methods in which a handle is an INTEGER."""
import re

from fortran import (RESULTS, buffers, callback_declaration, callback_parameters, choice, continued, fortran_name,
                     joined, old_declaration, old_type, parameters, procedures)
from fortran_types import constants, handle_constants
from template import fill

# Compilers without TYPE(*) as the standard has it take these instead; each knows its own and passes over the others.
DIRECTIVES = ("!DEC$ ATTRIBUTES NO_ARG_CHECK :: {0}", "!GCC$ ATTRIBUTES NO_ARG_CHECK :: {0}", "!DIR$ IGNORE_TKR {0}")
C_POINTERS = ("MPI_Alloc_mem", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_shared_query")
KINDS = ("MPI_ADDRESS_KIND", "MPI_COUNT_KIND", "MPI_OFFSET_KIND", "MPI_STATUS_SIZE")


def untyped(p):
    return old_type(p)[0] == "TYPE(*)"


def directives(given):
    return [d.format(fortran_name(p)) for p in given if untyped(p) for d in DIRECTIVES]


def c_double(text):
    """A function of C's double stays one where a flag makes DOUBLE PRECISION longer."""
    return text.replace("DOUBLE PRECISION", "REAL(C_DOUBLE)")


def body(procedure, name=None, address=""):
    """The interface body of a procedure in module mpi."""
    given = parameters(procedure, False)
    name = name or procedure.name
    names = ", ".join([fortran_name(p) for p in given] + (["ierror"] if procedure.returns_error else []))
    what = "subroutine" if procedure.returns_error else "function"
    result = "" if procedure.returns_error else " result(r)"
    lines = [f"    {continued(f'{what} {name}({names}){result}', 110)}", "      import"]
    lines += [*directives(given)]
    declared = [old_declaration(p, address) for p in given] + ["INTEGER, INTENT(OUT) :: ierror"] * procedure.returns_error
    lines += [f"      {d}" for d in joined(d for d in declared if d)]
    if not procedure.returns_error:
        lines.append(f"      {c_double(RESULTS[procedure.returns])} :: r")
    return "\n".join(line for line in [*lines, f"    end {what} {name}"] if line)


def sizeof(name):
    """Its result is in the descriptor of its argument."""
    lines = [f"    subroutine {name}(x, size, ierror)", "      TYPE(*), DIMENSION(..) :: x", "      INTEGER, INTENT(OUT) :: size",
             "      INTEGER, INTENT(OUT) :: ierror", f"    end subroutine {name}"]
    return "\n".join(f"{line} !ts" for line in lines)


def sync_reg(name):
    return "\n".join([f"    subroutine {name}(buf)", "      import", *(d.format("buf") for d in DIRECTIVES),
                      "      type(*), dimension(*) :: buf", f"    end subroutine {name}"])


def pcontrol(name, indent="    "):
    return "\n".join(indent + line for line in (f"subroutine {name}(level)", "  INTEGER, INTENT(IN) :: level", f"end subroutine {name}"))


def predefined(table):
    """The predefined callbacks, by the interface of the callback."""
    lines = []
    for name, of in table.predefined_functions.items():
        callback = table.callbacks[of]
        for large in (False, True) if callback.large else (False,):
            given = callback_parameters(callback)
            full = name + ("_C" if large else "")
            names = ", ".join(fortran_name(p) for p in given)
            lines += [f"    {continued(f'subroutine {full}({names}, ierror)', 110)}", "      import"]
            lines += [f"      {callback_declaration(p, large, 'mpi')}" for p in given]
            lines += ["      INTEGER :: ierror", f"    end subroutine {full}"]
    return "\n".join(lines)


def mpi_module(table):
    bodies, profiling, overloads = [], [], []
    for procedure in procedures(table, "mpi"):
        if procedure.name == "MPI_Sizeof":
            bodies += [sizeof("MPI_Sizeof"), sizeof("PMPI_Sizeof")]
            continue
        if procedure.name == "MPI_F_sync_reg":
            bodies.append(sync_reg(procedure.name))
        elif procedure.name == "MPI_Pcontrol":
            bodies.append(pcontrol(procedure.name))
        elif procedure.name in C_POINTERS:
            overloads.append(overload(procedure))
            continue
        else:
            bodies.append(body(procedure))
        profiling.append(f"  procedure({procedure.name}) :: P{procedure.name}")
    return fill("mpi.f90", HANDLES=handle_constants(table, "mpi"), PREDEFINED=predefined(table),
                PROCEDURES="\n".join(bodies), PROFILING="\n".join(profiling), OVERLOADS="\n".join(overloads))


def overload(procedure):
    """A generic name whose last pointer is an integer or a TYPE(C_PTR); the standard's names of the specifics are the
    name itself and NAME_CPTR."""
    lines = []
    for prefix in ("", "P"):
        name = prefix + procedure.name
        lines += [f"  interface {name}", body(procedure, name), body(procedure, f"{name}_CPTR", "TYPE(C_PTR)"),
                  f"  end interface {name}"]
    return "\n".join(lines)


# --- mpif.h -----------------------------------------------------------------------------------------------------------

MARGIN = 6      # columns before a statement of the fixed form


def fixed(text):
    """A statement that both forms read: within columns 7 to 72, continued by "&" in column 73 and in column 6."""
    width = 72 - MARGIN
    pieces, line = [], ""
    for piece in re.split(r"(?<=,) |(?<=::) ", text):
        if line and len(line) + 1 + len(piece) > width:
            pieces.append(line)
            line = piece
        else:
            line = f"{line} {piece}" if line else piece
    pieces.append(line)
    lines = [" " * MARGIN + pieces[0], *(f"     &{piece}" for piece in pieces[1:])]
    return "\n".join([*(f"{line:<72}&" for line in lines[:-1]), lines[-1]])


SENTINELS = (   # name, declaration, dimensions
    ("BOTTOM", "INTEGER", ""), ("IN_PLACE", "INTEGER", ""), ("BUFFER_AUTOMATIC", "INTEGER", ""),
    ("STATUS_IGNORE", "INTEGER", "(MPI_STATUS_SIZE)"), ("STATUSES_IGNORE", "INTEGER", "(MPI_STATUS_SIZE,1)"),
    ("ERRCODES_IGNORE", "INTEGER", "(1)"), ("UNWEIGHTED", "INTEGER", "(1)"), ("WEIGHTS_EMPTY", "INTEGER", "(1)"),
    ("ARGV_NULL", "CHARACTER*1", "(1)"), ("ARGVS_NULL", "CHARACTER*1", "(1,1)"))


def mpif_constants(table):
    integers = [("MPI_STATUS_SIZE", 8), ("MPI_SOURCE", 1), ("MPI_TAG", 2), ("MPI_ERROR", 3), ("MPI_ADDRESS_KIND", 8),
                ("MPI_COUNT_KIND", 8), ("MPI_OFFSET_KIND", 8), ("MPI_INTEGER_KIND", "KIND(0)")]
    integers += [(n, v) for n, v, t in constants(table)]
    lines = [fixed(line) for n, v in integers for line in (f"INTEGER {n}", f"PARAMETER ({n}={v})")]
    lines += [fixed("INTEGER(KIND=MPI_OFFSET_KIND) MPI_DISPLACEMENT_CURRENT"), fixed("PARAMETER (MPI_DISPLACEMENT_CURRENT=-1)"),
              fixed("LOGICAL MPI_SUBARRAYS_SUPPORTED"), fixed("PARAMETER (MPI_SUBARRAYS_SUPPORTED=.FALSE.)"),
              fixed("LOGICAL MPI_ASYNC_PROTECTS_NONBLOCKING"), fixed("PARAMETER (MPI_ASYNC_PROTECTS_NONBLOCKING=.TRUE.)")]
    return "\n".join(lines)


def mpif_body(procedure, name):
    given = parameters(procedure, False)
    names = ", ".join([fortran_name(p) for p in given] + ["ierror"])
    lines = [fixed(f"SUBROUTINE {name}({names})")]
    types = [old_declaration(p) for p in given]
    used = [k for k in KINDS if any(k in t for t in types)]
    if used:
        lines.append(fixed(f"IMPORT :: {', '.join(used)}"))
    lines += directives(given) + [fixed(t) for t in types] + [fixed("INTEGER ierror"), fixed(f"END SUBROUTINE {name}")]
    return "\n".join(lines)


def mpif_address(name):
    """A name of MPI-1 with a buffer: programs give it buffers of several types, as to those that are still there."""
    return [fixed(f"SUBROUTINE {name}(location, address, ierror)"), *(d.format("location") for d in DIRECTIVES),
            fixed("TYPE(*), DIMENSION(*) :: location"), fixed("INTEGER address, ierror"), fixed(f"END SUBROUTINE {name}")]


def mpif_h(table):
    sentinels = []
    for name, base, dimensions in SENTINELS:
        sentinels += [fixed(f"{base} MPI_{name}{dimensions}"), fixed(f"COMMON /ashlar_f4_c_{name.lower()}/ MPI_{name}")]
    functions = []
    for procedure in procedures(table, "mpif"):
        if not procedure.returns_error:
            result = RESULTS[procedure.returns].replace("DOUBLE PRECISION", "REAL(KIND=SELECTED_REAL_KIND(15,307))")
            for prefix in ("", "P"):
                functions += [fixed(f"{result} {prefix}{procedure.name}"), fixed(f"EXTERNAL {prefix}{procedure.name}")]
    functions += [fixed(f"EXTERNAL {n}") for n in table.predefined_functions]
    bodies, profiling = [fixed("INTERFACE")], []
    for procedure in procedures(table, "mpif"):
        if procedure.name == "MPI_Sizeof" or not any(untyped(p) for p in parameters(procedure, False)):
            continue
        if procedure.name == "MPI_F_sync_reg":
            bodies += [fixed("SUBROUTINE MPI_F_sync_reg(buf)"), *(d.format("buf") for d in DIRECTIVES),
                       fixed("type(*), dimension(*) :: buf"), fixed("END SUBROUTINE MPI_F_sync_reg")]
        else:
            bodies.append(mpif_body(procedure, procedure.name))
        profiling.append(fixed(f"PROCEDURE({procedure.name}) :: P{procedure.name}"))
    bodies += mpif_address("MPI_Address")
    profiling.append(fixed("PROCEDURE(MPI_Address) :: PMPI_Address"))
    bodies += mpif_sizeof("MPI_Sizeof") + mpif_sizeof("PMPI_Sizeof")
    bodies.append(fixed("END INTERFACE"))
    return fill("mpif.f", CONSTANTS=mpif_constants(table), SENTINELS="\n".join(sentinels),
                FUNCTIONS="\n".join(functions), PROCEDURES="\n".join(bodies + profiling))


def mpif_sizeof(name):
    lines = (f"SUBROUTINE {name}(x, size, ierror)", "TYPE(*), DIMENSION(..) :: x", "INTEGER size, ierror", f"END SUBROUTINE {name}")
    return [fixed(line) + " !ts" for line in lines]


def mpif_removed_h(table):
    lines = [fixed(line) for c in table.removed.constants for line in
             (f"INTEGER {c.name}", f"PARAMETER ({c.name}={int(c.value, 0)})")]
    return fill("mpif_removed.f", CONSTANTS="\n".join(lines))
