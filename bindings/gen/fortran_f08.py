"""mpi_f08.f90 and the shims below it.

A procedure with choice buffers has three names: MPI_Send_f08ts, the standard's, a Fortran shim; PMPI_Send_f08ts, which
is the C function itself; and the C function over the MPI_ names, which the shim calls.
"""
import re

from fortran import (RESULTS, callback_declaration, callback_parameters, choice, continued, declaration, explicit_large,
                     forms, fortran_name, joined, old_declaration, parameters, procedures, same_kinds, specific, strings, typed)
from fortran_mpi import DIRECTIVES, c_double, directives
from fortran_types import handle_constants
from template import fill


def interoperable(text):
    """A declaration in a procedure of C: the default INTEGER as the kind of C that it is."""
    return re.sub(r"^INTEGER(?!\()", "INTEGER(ashlar_int)", text)


def symbol(procedure, large, prefix):
    """The C function behind a procedure with choice buffers."""
    return f"ashlar_{prefix}_{procedure.name.removeprefix('MPI_').lower()}{'_c' if large else ''}_ts"


def optional(procedure):
    return ["INTEGER, OPTIONAL, INTENT(OUT) :: ierror"] if has_ierror(procedure) else []


def has_ierror(procedure):
    return procedure.returns_error and procedure.name not in ("MPI_F_sync_reg", "MPI_Pcontrol")


def argument_names(procedure, large):
    return [fortran_name(p) for p in parameters(procedure, large)] + (["ierror"] if has_ierror(procedure) else [])


def old_body(procedure):
    """A deprecated procedure, as it is in module mpi."""
    given = parameters(procedure, False)
    lines = [f"    {continued(f'subroutine {procedure.name}({names_of(procedure, False)})', 110)}", "      import"]
    lines += [f"      {old_declaration(p)}" for p in given] + ["      INTEGER, OPTIONAL, INTENT(OUT) :: ierror"]
    return "\n".join([*lines, f"    end subroutine {procedure.name}"])


def names_of(procedure, large):
    return ", ".join(argument_names(procedure, large))


def buffers_by_address(text):
    return text.replace("TYPE(*), DIMENSION(..)", "type(*), dimension(*)")


def body(procedure, large, name, descriptors=True):
    """The interface body of a specific procedure."""
    given = parameters(procedure, large)
    what = "subroutine" if procedure.returns_error else "function"
    result = "" if procedure.returns_error else " result(r)"
    lines = [f"    {continued(f'{what} {name}({names_of(procedure, large)}){result}', 110)}", "      import"]
    if descriptors:
        lines += [f"      {d}" for d in joined([*(declaration(p, large) for p in given), *optional(procedure)])]
    else:
        lines += [*directives([p for p in given if p.kind.name == "buffer"])]
        lines += [f"      {d}" for d in joined([*(buffers_by_address(declaration(p, large)) for p in given), *optional(procedure)])]
    if not procedure.returns_error:
        lines.append(f"      {c_double(RESULTS[procedure.returns])} :: r")
    return "\n".join([*lines, f"    end {what} {name}"])


def c_declaration(p, large):
    """An argument as the C function takes it; a string comes as its first character, its length at the end."""
    if p.kind.name == "string":
        return f"CHARACTER(KIND=C_CHAR), INTENT(IN) :: {p.name}(*)"
    return interoperable(declaration(p, large))


def c_body(procedure, large, name, prefix):
    """The interface body of the C function."""
    lengths = [f"{p.name}_length" for p in strings(procedure)]
    names = ", ".join([*argument_names(procedure, large), *lengths])
    head = f"subroutine {name}({names}) bind(C,name=\"{symbol(procedure, large, prefix)}\")"
    lines = [f"    {continued(head, 110)}", "      import"]
    declared = [*(c_declaration(p, large) for p in parameters(procedure, large)), *map(interoperable, optional(procedure)),
                *(f"INTEGER(C_SIZE_T), VALUE :: {n}" for n in lengths)]
    lines += [f"      {d}" for d in joined(declared)]
    return "\n".join([*lines, f"    end subroutine {name}"])


def profiling_name(procedure, large, descriptors=True):
    return "P" + specific(procedure, large, descriptors)


def in_c(procedure):
    """Whether the P form is the C function; one with a string needs a shim, for the length."""
    return choice(procedure) and not strings(procedure)


def callbacks(table):
    lines = []
    for callback in table.callbacks.values():
        if callback.options.get("fortran") == "mpi" or callback.name.startswith("MPI_T_"):
            continue
        for large in (False, True) if callback.large else (False,):
            name = callback.name + ("_c" if large else "")
            given = callback_parameters(callback)
            ierror = [] if callback.options.get("returns") == "void" else ["ierror"]
            names = ", ".join([fortran_name(p) for p in given] + ierror)
            lines += [f"    {continued(f'subroutine {name}({names})', 110)}", "      import"]
            lines += [f"      {callback_declaration(p, large, 'f08')}" for p in given]
            lines += ["      INTEGER :: ierror"] * len(ierror) + [f"    end subroutine {name}"]
    return "\n".join(lines)


def predefined(table):
    """The predefined callbacks: the interface of the callback under each name."""
    lines = []
    for name, of in table.predefined_functions.items():
        callback = table.callbacks[of]
        method = callback.options.get("fortran", "f08")  # MPI-1's have numbers for handles in each method
        for large in (False, True) if callback.large else (False,):
            given = callback_parameters(callback)
            full = name + ("_C" if large else "")
            names = ", ".join([fortran_name(p) for p in given] + ["ierror"])
            lines += [f"    {continued(f'subroutine {full}({names})', 110)}", "      import"]
            lines += [f"      {callback_declaration(p, large, method)}" for p in given]
            lines += ["      INTEGER :: ierror", f"    end subroutine {full}"]
    return "\n".join(lines)


def generic(prefix, procedure, large_forms, descriptors):
    """The generic name. With 8-byte INTEGER both forms have the same kinds, and the large one is left out of
    it; also that of MPI_Type_get_envelope, whose one argument more could be the ierror that may be absent."""
    lines = [f"  interface {prefix}{procedure.name}"]
    for large in large_forms:
        lines.append(f"    procedure {prefix}{specific(procedure, large, descriptors)}{' !i4' if large else ''}")
    return "\n".join([*lines, f"  end interface {prefix}{procedure.name}"])


def specifics(procedure, descriptors):
    """The interface bodies of one procedure under MPI_ and its P forms."""
    bodies, profiling = [], []
    for large in forms(procedure):
        name = specific(procedure, large, descriptors)
        bodies.append(body(procedure, large, name, descriptors))
        if descriptors and in_c(procedure):
            bodies.append(c_body(procedure, large, "P" + name, "fp"))
        else:
            profiling.append(f"  procedure({name}) :: P{name}")
    return bodies, profiling


def module(table, descriptors=True):
    bodies, profiling, generics = [], [], []
    for procedure in procedures(table, "f08"):
        if not typed(procedure):
            bodies.append(old_body(procedure))
            profiling.append(f"  procedure({procedure.name}) :: P{procedure.name}")
            continue
        if procedure.name == "MPI_Sizeof" and not descriptors:
            continue
        more_bodies, more_profiling = specifics(procedure, descriptors)
        bodies += more_bodies
        profiling += more_profiling
        for prefix in ("", "P"):
            if explicit_large(procedure):
                generics += [generic(prefix, procedure, [False], descriptors),
                             generic(prefix, procedure, [True], descriptors).replace(f"interface {prefix}{procedure.name}", f"interface {prefix}{procedure.name}_c").replace(" !i4", "")]
            else:
                generics.append(generic(prefix, procedure, forms(procedure), descriptors))
    return fill("mpi_f08.f90", SUBARRAYS=".true." if descriptors else ".false.", HANDLES=handle_constants(table, "f08"),
                CALLBACKS=callbacks(table), PREDEFINED=predefined(table), PROCEDURES="\n".join(bodies),
                PROFILING="\n".join(profiling), GENERICS="\n".join(generics))


# --- shims --------------------------------------------------------------------------------------------------------------

def used_types(procedure, large):
    text = " ".join(declaration(p, large) for p in parameters(procedure, large))
    return sorted(set(re.findall(r"TYPE\((MPI_\w+)\)|(MPI_\w+_KIND)", text)))


def shim(procedure, large, prefix):
    """One call of the C function, which has the interface of the P form."""
    name = prefix + specific(procedure, large)
    types = [a or b for a, b in used_types(procedure, large)]
    letter = "fp" if prefix else "f"
    c = symbol(procedure, large, letter)
    actual = argument_names(procedure, large) + [f"len({p.name}, c_size_t)" for p in strings(procedure)]
    lines = [continued(f"subroutine {name}({names_of(procedure, large)})", 110)]
    by_interface = not strings(procedure)
    uses = sorted(types) + ([f"P{specific(procedure, large)}"] if by_interface else ["ashlar_int"])
    module_name = "mpi_f08" if by_interface else "ashlar_fortran_types"
    lines.append(f"  use {module_name}, only: {continued(', '.join(uses), 80)}")
    if not by_interface:
        lines.append("  use, intrinsic :: iso_c_binding, only: c_char, c_size_t")
    lines.append("  implicit none")
    lines += [f"  {d}" for d in joined([*(declaration(p, large) for p in parameters(procedure, large)), *optional(procedure)])]
    if by_interface:
        lines.append(f"  procedure(P{specific(procedure, large)}), bind(C, name=\"{c}\") :: c")
        call = f"  call c({', '.join(actual)})"
    else:
        lines += ["  interface", c_body(procedure, large, "c", letter), "  end interface"]
        call = f"  call c({', '.join(actual)})"
    return "\n".join([*lines, continued(call, 110), f"end subroutine {name}\n"])


def sizeof(prefix):
    return "\n".join([f"subroutine {prefix}MPI_Sizeof(x, size, ierror)", "  use mpi_f08, only: PMPI_Sizeof_f08ts", "  implicit none",
                      "  TYPE(*), DIMENSION(..) :: x", "  INTEGER, INTENT(OUT) :: size, ierror",
                      "  call PMPI_Sizeof_f08ts(x, size, ierror)", f"end subroutine {prefix}MPI_Sizeof\n"])


def shims(table):
    texts = []
    for procedure in procedures(table, "f08"):
        if not choice(procedure):
            continue
        for large in forms(procedure):
            texts.append(shim(procedure, large, ""))
            if not in_c(procedure):
                texts.append(shim(procedure, large, "P"))
    texts += [sizeof(""), sizeof("P")]
    return fill("mpi_f08_shims.f90", SHIMS="\n".join(texts))
