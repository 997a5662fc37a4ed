"""include/mpi.h and include/mpi_removed.h from the table."""
from c_types import callback_typedef, prototype, wrap
from conversions import definitions
from template import fill

HANDLE_KINDS = ("comm", "group", "datatype", "op", "request", "message", "info", "errhandler", "session", "win", "file",
                "t_enum", "t_cvar", "t_pvar", "t_session", "t_registration", "t_instance")
OLD_CALLBACK_NAMES = ("Comm", "File", "Win", "Session")   # MPI_Comm_errhandler_fn and its like


def handles(table):
    types = [table.kinds[k].c for k in HANDLE_KINDS]
    return "\n".join(f"typedef struct {t.replace('MPI_', 'MPI_ABI_', 1)}* {t};" for t in types)


def callbacks(table):
    lines = []
    for callback in table.callbacks.values():
        lines.append(wrap(callback_typedef(callback, False, table)))
        if callback.large:
            lines.append(wrap(callback_typedef(callback, True, table)))
    lines += [f"typedef MPI_{c}_errhandler_function MPI_{c}_errhandler_fn;" for c in OLD_CALLBACK_NAMES]
    return "\n".join(lines)


def enumerations(table):
    members = {}
    for constant in table.constants:
        if constant.enumeration:
            members.setdefault(constant.enumeration, []).append(f"  {constant.name} = {constant.value}")
    return "\n".join(f"typedef enum {name} {{\n" + ",\n".join(rows) + f"\n}} {name};" for name, rows in members.items())


def define(constant):
    value = f"({constant.value})" if constant.value.startswith("-") else constant.value
    if constant.type != "number" and not constant.alias:
        value = f"(({constant.type}){value})"
    note = f" /* deprecated since {constant.deprecated} */" if constant.deprecated else ""
    return f"#define {constant.name} {value}{note}"


def constants(table):
    lines, group = [], ""
    for constant in table.constants:
        if constant.enumeration:
            continue
        if constant.group != group:
            group = constant.group
            lines.append(f"\n/* {group} */")
        lines.append(define(constant))
    return "\n".join(lines).lstrip("\n")


def prototypes(table, prefix=""):
    lines, chapter = [], ""
    for procedure, large in table.entry_points():
        if procedure.chapter != chapter:
            chapter = procedure.chapter
            lines.append("")
        if procedure.deprecated and not prefix:
            lines.append(f"/* deprecated since {procedure.deprecated} */")
        lines.append(wrap(prototype(procedure, large, table, prefix) + ";"))
    return "\n".join(lines).lstrip("\n")


def mpi_removed_h(table):
    removed = table.removed
    return fill("mpi_removed.h", CONSTANTS=constants(removed), PROTOTYPES=prototypes(removed),
                PROFILING=prototypes(removed, "P"))


def mpi_h(table):
    return fill("mpi.h", HANDLES=handles(table), ENUMS=enumerations(table), CALLBACKS=callbacks(table),
                CONSTANTS=constants(table), PROTOTYPES=prototypes(table), PROFILING=prototypes(table, "P"),
                CONVERSIONS=definitions(table))
