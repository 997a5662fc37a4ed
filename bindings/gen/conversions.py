"""The conversions between C's and Fortran's handles and statuses: of the standard, but not of its ABI, so that mpi.h
defines them over the functions that are. A program that uses them needs no Fortran library and no symbol of ours."""
from c_types import c_name, parameter_list

MEMBERS = ("MPI_SOURCE", "MPI_TAG", "MPI_ERROR")
# What the members of a status are called in each of its forms: C's struct, mpi_f08's, and the array of mpif.h.
FORMS = {
    "c": [*MEMBERS, *(f"MPI_internal[{i}]" for i in range(5))],
    "f08": [*MEMBERS, *(f"MPI_INTERNAL[{i}]" for i in range(5))],
    "f": ["MPI_F_SOURCE", "MPI_F_TAG", "MPI_F_ERROR", *(str(i) for i in range(3, 8))],
}


def conversions(table):
    """The procedures of this kind, in the order of the table."""
    return [p for p in table.procedures.values() if p.chapter == "fortran" and p.options.get("c") != "no"]


def form_of(parameter):
    return parameter.name.partition("_")[0]    # c_status, f_status, f08_status


def member(parameter, index):
    form = form_of(parameter)
    place = FORMS[form][index]
    return f"{parameter.name}[{place}]" if form == "f" else f"{parameter.name}->{place}"


def status_body(procedure):
    source, target = procedure.parameters
    nulls = " || ".join(f"!{p.name}" for p in (source, target))
    lines = [f"if ({nulls}) return MPI_ERR_ARG;"]
    lines += [f"{member(target, i)} = {member(source, i)};" for i in range(8)]
    return [*lines, "return MPI_SUCCESS;"]


def handle_body(procedure, prefix):
    """MPI_Comm_c2f by MPI_Comm_toint, MPI_Comm_f2c by MPI_Comm_fromint."""
    base, _, way = procedure.name.rpartition("_")
    return [f"return {prefix}{base}_{'toint' if way == 'c2f' else 'fromint'}({procedure.parameters[0].name});"]


def definition(procedure, table, prefix):
    status = procedure.name.startswith("MPI_Status_")
    body = status_body(procedure) if status else handle_body(procedure, prefix)
    # The name in parentheses: tools that make a wrapper of each prototype in mpi.h look for a name before a parenthesis,
    # and a function that is defined here cannot be defined again by them.
    head = f"{procedure.returns} ({prefix}{c_name(procedure, False)})({parameter_list(procedure, False, table)})"
    return "\n".join([f"MPI_ABI_INLINE {head} {{", *(f"  {x}" for x in body), "}"])


def definitions(table):
    return "\n".join(definition(p, table, prefix) for prefix in ("", "P") for p in conversions(table))
