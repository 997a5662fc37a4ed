"""The manual's pages of the calls: share/man/man3, in man(7). What a page says comes from the table, from the checks of
the entry points, and from bindings/words."""
import fnmatch
import os
import re
from pathlib import Path

import fortran
from arguments import Arguments
from c_types import c_name, prototype, wrap
from manual_families import derived, nonblocking
from roff import code, escape, example, heading, part, prose, tagged
from sections import check_calls
from table import TableError
from template import write_if_changed
from tool_entry import tool_body
from words import read_words

DATE = "2026-11-22"
DIRECTIONS = {"in": "in", "out": "out", "inout": "in and out"}
HANDLE_ERRORS = {"comm": ("MPI_ERR_COMM", "a communicator"), "group": ("MPI_ERR_GROUP", "a group"),
                 "datatype": ("MPI_ERR_TYPE", "a datatype"), "op": ("MPI_ERR_OP", "a reduction operation"),
                 "request": ("MPI_ERR_REQUEST", "a request"), "errhandler": ("MPI_ERR_ERRHANDLER", "an error handler"),
                 "info": ("MPI_ERR_INFO", "an info object"), "message": ("MPI_ERR_REQUEST", "a matched message"),
                 "session": ("MPI_ERR_SESSION", "a session"), "win": ("MPI_ERR_WIN", "a window"), "file": ("MPI_ERR_FILE", "a file")}
STARTERS = ("MPI_Init", "MPI_Init_thread", "MPI_Query_thread")     # at any time, and then only once or after the start
# What the cold functions of bindings/c/check.h mean: the class and the condition. A check that is not here stops the
# generator, so that no page lacks one.
CHECKS = {
    "bad_type": ("MPI_ERR_TYPE", "{n} is MPI_DATATYPE_NULL, freed, or not committed"),
    "bad_count": ("MPI_ERR_COUNT", "{n} is below 0"),
    "bad_size": ("MPI_ERR_SIZE", "{n} is below 0"),
    "bad_tag": ("MPI_ERR_TAG", "{n} is below 0 or above the attribute MPI_TAG_UB"),
    "bad_any_tag": ("MPI_ERR_TAG", "{n} is neither a tag nor MPI_ANY_TAG"),
    "bad_dest": ("MPI_ERR_RANK", "{n} is neither a rank of the communicator nor MPI_PROC_NULL"),
    "bad_source": ("MPI_ERR_RANK", "{n} is neither a rank of the communicator nor MPI_ANY_SOURCE nor MPI_PROC_NULL"),
    "bad_root": ("MPI_ERR_ROOT", "{n} is no rank of the communicator (of an intercommunicator: MPI_ROOT and MPI_PROC_NULL in the "
                 "root's group)"),
    "bad_null": ("MPI_ERR_ARG", "{n} is a null pointer"),
    "bad_buffer": ("MPI_ERR_BUFFER", "{n} is a null pointer though there are data, or a constant that is not allowed there"),
    "same_buffer": ("MPI_ERR_BUFFER", "both buffers are the same memory, where MPI_IN_PLACE would be right"),
    "bad_counts": ("MPI_ERR_COUNT", "an element of {n} is below 0"),
    "bad_types": ("MPI_ERR_TYPE", "an element of {n} is no datatype that can be used"),
    "bad_requests": ("MPI_ERR_REQUEST", "an element of {n} is no request"),
    "bad_origins": ("MPI_ERR_ARG", "{n} and another argument belong to different sessions (with check.sessions=true)"),
    "bad_errhandler": ("MPI_ERR_ARG", "{n} was made for objects of another kind"),
    "too_large": ("MPI_ERR_VALUE_TOO_LARGE", "{n} does not fit into an int"),
}


# ---- what is checked -----------------------------------------------------------------------------------------------------

def failed_checks(arguments):
    """(function of check.h, argument) of every check of an entry point, in the order of the call."""
    steps = arguments.steps
    for line in [*steps.resolve, *steps.check, *steps.buffer, *steps.store]:
        for function, facts in re.findall(r"return (\w+)\((\".*?)\);", line):
            quoted = re.findall(r'"(\w+)"', facts)
            yield function, quoted[1] if len(quoted) > 1 else ""


def error_of(function, parameter, procedure, arguments):
    """The class of a check that fails, and the condition with {n} for the argument's name."""
    if function == "bad_length" and parameter:
        least = 1 if parameter.kind.name == "length_min1" else 0
        return "MPI_ERR_COUNT" if "count" in parameter.name else "MPI_ERR_ARG", f"{{n}} is below {least}"
    if function == "bad_handle" and parameter:
        cls, what = HANDLE_ERRORS[parameter.kind.name]
        return cls, f"{{n}} is null, freed, or not {what}"
    if function not in CHECKS:
        raise TableError(f"{procedure.name}: the manual does not know what the check {function} means")
    cls, condition = CHECKS[function]
    if parameter and function == "bad_type" and arguments.count_of(parameter):
        condition += ", and the count is not 0"
    return cls, condition


# The tests of an entry point of MPI_T, by their form (tool_entry.py): what a match means.
TOOL_CHECKS = ((r"!mpit::in_use\(\)", "the interface is not in use: MPI_T_init_thread comes first"),
               (r"(\w+)_obj == nullptr.*", "{n} is null, freed, or no such handle"),
               (r"(\w+) < 0 \|\| \((\w+) == nullptr && \1 > 0\)", "{n} is below 0, or above 0 with a null pointer for the array"),
               (r"(\w+) == nullptr", "{n} is a null pointer"))


def tool_errors(procedure):
    """The same of a call of the tools interface."""
    found = {}
    for line in tool_body(procedure):
        if not (test := re.fullmatch(r"if \((.*)\) return (MPI_T_ERR_\w+);", line)):
            continue
        meant = next(((m, words) for form, words in TOOL_CHECKS if (m := re.fullmatch(form, test[1]))), None)
        if meant is None:
            raise TableError(f"{procedure.name}: the manual does not know what the check {test[1]} means")
        names = found.setdefault(test[2], {}).setdefault(meant[1], [])
        names += [meant[0][1]] if meant[0].groups() else []
    return found


def errors(procedure, table):
    """What an entry point finds before anything is done: class -> {condition: arguments}."""
    if procedure.chapter == "tool":
        return tool_errors(procedure)
    if "raw" in procedure.overlay.flags:
        return {}
    found = {}
    for large in forms(procedure):
        arguments = Arguments(procedure, large, table)
        for function, name in failed_checks(arguments):
            parameter = next((p for p in procedure.parameters if p.name == name), None)
            cls, condition = error_of(function, parameter, procedure, arguments)
            names = found.setdefault(cls, {}).setdefault(condition, [])
            if name not in names:
                names.append(name)
    return found


# ---- the parts of a page -------------------------------------------------------------------------------------------------

def forms(procedure):
    return (False, True) if procedure.large else (False,)


def removed(procedure):
    """Whether the standard has the procedure no more."""
    return procedure.chapter == "removed"


def c_synopsis(procedure, table):
    lines = ["#include <mpi.h>", *(["#include <mpi_removed.h>"] if removed(procedure) else []), ""]
    for large in forms(procedure):
        lines.append(wrap(prototype(procedure, large, table) + ";", width=90))
    return "\n".join(lines)


def in_fortran(procedure):
    return procedure.options.get("fortran") in (None, "mpi_f08") and fortran.has_f08(procedure)


def fortran_synopsis(procedure):
    return "\n".join(["USE mpi_f08", ""] + [fortran.interface(procedure, large) for large in forms(procedure)])


def name_part(procedure, entry):
    names = [c_name(procedure, large) for large in forms(procedure)]
    if procedure.options.get("c") == "no":
        names = [procedure.name]
    return part("NAME", ", ".join(map(code, names)), f"\\- {escape(entry.brief)}")


def synopsis_part(procedure, table):
    lines = []
    if procedure.options.get("c") != "no":
        lines += [".SS C", example(c_synopsis(procedure, table))]
    if in_fortran(procedure):
        lines += [".SS Fortran 2008", example(fortran_synopsis(procedure))]
    return part("SYNOPSIS", *lines)


def description_part(procedure, entry, words):
    names = [p.name for p in procedure.parameters]
    paragraphs = [entry.text] + words.notes_of(procedure.name)
    if procedure.overlay.flags & {"anytime", "raw"} and procedure.name not in STARTERS:
        paragraphs.append("May be called at any time, also before MPI_Init and after MPI_Finalize, by any thread.")
    if procedure.large:
        paragraphs.append(f"{procedure.name}_c takes counts and sizes as MPI_Count and displacements as MPI_Aint or MPI_Count; it "
                          "does the same.")
    if procedure.deprecated:
        paragraphs.append(f"Deprecated since MPI-{procedure.deprecated}.")
    if removed(procedure):
        paragraphs.append("Removed from the standard with MPI-3.0; old programs run with it, and compile with mpi_removed.h.")
    missing = not procedure.overlay.calls and procedure.in_abi
    if missing:
        code_name = "MPI_T_ERR_NOT_SUPPORTED" if procedure.chapter == "tool" else "MPI_ERR_UNSUPPORTED_OPERATION"
        paragraphs.insert(0, f"Not implemented in this version: the call does nothing but fail with {code_name}. What follows is what "
                             "the standard has it do.")
    return part("DESCRIPTION", "\n.PP\n".join(prose(p, names) for p in paragraphs))


def arguments_part(procedure, words):
    if not procedure.parameters:
        return ""
    lines = []
    for p in procedure.parameters:
        notes = [DIRECTIONS[p.direction]]
        if "root" in p.flags:
            notes.append("significant at root only")
        if "large_only" in p.flags:
            notes.append("of the _c form only")
        lines.append(tagged(f"\\fI{code(p.name)}\\fP ({', '.join(notes)})", prose(words.argument(procedure, p))))
    return part("ARGUMENTS", *lines)


def error_list(found, names):
    """class -> conditions, as a list."""
    return [tagged(f"\\fB{cls}\\fP", prose("; ".join(conditions) + ".", names)) for cls, conditions in found.items()]


def errors_part(procedure, table, words):
    if procedure.options.get("c") == "no":
        return ""
    if not procedure.returns_error or not procedure.in_abi and not procedure.name.startswith("MPI_Status_"):
        return part("RETURN VALUE", "The value itself; the call cannot fail.")
    tool = procedure.chapter == "tool"
    success = prose("MPI_SUCCESS, or a code of MPI_T: calls of the tools interface call no error handler." if tool else
                    "MPI_SUCCESS, or an error code when the error handler returns.")
    if not procedure.overlay.calls:
        return part("RETURN VALUE", success)
    names = [p.name for p in procedure.parameters]
    found = {cls: [condition.format(n=" or ".join(of)) for condition, of in conditions.items()]
             for cls, conditions in errors(procedure, table).items()}
    later = words.errors_of(procedure.name)
    lines = [prose("The arguments are checked before anything is done:"), *error_list(found, names)] if found else []
    if later:
        lines += [".PP"] if found else []
        lines += [prose("The call may also find:" if found else "The call may find:"), *error_list(later, names)]
    closing = "Other failures have the class that fits; ashlar-messages(7) lists the sentences."
    if tool:
        closing = "Other failures have the code of MPI_T that fits."
    elif "anytime" not in procedure.overlay.flags:
        closing = "Before initialisation and after finalisation the call fails with MPI_ERR_OTHER. " + closing
    lines += [".PP"] if found or later else []
    lines += [prose(closing)]
    return part("RETURN VALUE", success) + part("ERRORS", *lines)


def standard_part(procedure, sections):
    text = sections.cite(procedure.name)
    if removed(procedure):
        return part("STANDARD", prose(text))
    if in_fortran(procedure):
        text += " The Fortran form is the standard's; this version comes without Fortran's modules."
    return part("STANDARD", prose(text))


def see_also_part(procedure, entry, table, pages):
    near = [k for k in entry.kin if k in pages and k != procedure.name]
    base = re.sub("_init$", "", procedure.name)
    near += [n for n in (nonblocking(base), base + "_init") if n in pages and n != procedure.name]
    if any(p.kind.name == "request" and p.direction == "out" for p in procedure.parameters):
        near += ["MPI_Wait", "MPI_Test"]
    at = entry.kin.index(procedure.name) if procedure.name in entry.kin else 0
    near = sorted(dict.fromkeys(near), key=lambda n: (abs(entry.kin.index(n) - at) if n in entry.kin else 99))[:8]
    lines = [f".BR {code(name)} (3)," for name in sorted(near)] + [".BR ashlar\\-messages (7)"]
    return part("SEE ALSO", *lines)


def page(procedure, entry, table, words, sections, pages, source):
    return "".join([
        '.\\" Made by bindings/gen/manual.py.\n', heading(procedure.name, 3, DATE, source, "MPI"),
        name_part(procedure, entry), synopsis_part(procedure, table), description_part(procedure, entry, words),
        arguments_part(procedure, words), errors_part(procedure, table, words), standard_part(procedure, sections),
        see_also_part(procedure, entry, table, pages)])


# ---- the folder ------------------------------------------------------------------------------------------------------------

def link(folder, name, target):
    path = folder / f"{name}.3"
    if path.is_symlink() and os.readlink(path) == f"{target}.3":
        return
    path.unlink(missing_ok=True)
    path.symlink_to(f"{target}.3")


def other_names(procedure):
    """What a page is found under besides its own name: the large form, and the names of the profiling interface."""
    if procedure.options.get("c") == "no":
        return []
    names = [c_name(procedure, large) for large in forms(procedure)]
    return names[1:] + ["P" + name for name in names]


def write_manual(table, sections, words_folder, folder, source):
    """One page for each procedure, links for its other names; what lies there besides is of older tables and goes."""
    folder, words = Path(folder), read_words(Path(words_folder))
    folder.mkdir(parents=True, exist_ok=True)
    entries, made = {}, set()
    tables = [(procedure, of) for of in (table, table.removed) for procedure in of.procedures.values()]
    for name in (procedure.name for procedure, _ in tables):
        entries[name] = words.entries.get(name) or derived(name, words.entries)
        if entries[name] is None or not entries[name].text:
            raise TableError(f"{name}: the manual has no words for it")
    check_calls(sections, entries)
    for procedure, of in tables:
        text = page(procedure, entries[procedure.name], of, words, sections, entries, source)
        write_if_changed(folder / f"{procedure.name}.3", text)
        made.add(procedure.name)
        for name in other_names(procedure):
            link(folder, name, procedure.name)
            made.add(name)
    patterns = [p for *_, of in words.errors + words.notes for p in of]
    unused = sorted({p for p in patterns if not any(fnmatch.fnmatchcase(name, p) for name in entries)})
    unknown = unused + sorted(set(words.entries) - set(entries)) + sorted(set(words.arguments) - words.used)
    if unknown:
        raise TableError(f"bindings/words describes what is not in the table: {', '.join(unknown)}")
    for path in folder.glob("*.3"):
        if path.stem not in made:
            path.unlink()
