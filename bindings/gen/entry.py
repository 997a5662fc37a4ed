"""The C entry points: one .cc per chapter, one function per form of a procedure."""
import re

from arguments import NULLS, Arguments, about_files, guarded_by, kernel_type, lost_on_failure
from c_types import c_name, declarator, prototype, wrap
from template import fill
from tool_entry import tool_body


def body(procedure, large, table):
    """The lines of one entry point."""
    overlay = procedure.overlay
    if not overlay.calls:
        return unimplemented(procedure, large)
    if procedure.chapter == "tool":
        return tool_body(procedure)
    if "raw" in overlay.flags:
        names = ", ".join(p.name for p in procedure.form(large) if p.kind.name != "varargs")
        return [f"return {overlay.calls}({names});"]
    arguments = Arguments(procedure, large, table)
    steps = arguments.steps
    lines = []
    if "anytime" in overlay.flags:
        lines.append("prepare();")
    elif "hot" not in overlay.flags and not implies_running(arguments):
        lines.append(f"if (!running()) return not_running({arguments.call});")
    lines += steps.resolve + steps.check + steps.buffer + steps.local
    target = overlay.options.get("calls_c", overlay.calls) if large else overlay.calls
    call = f"{target}({', '.join(steps.arguments)})"
    lines.append(f"const Status outcome = {call};")
    lines += steps.always
    lines.append(f"if (!outcome.ok()) return failed({arguments.call}, {arguments.on}, outcome);")
    lines += steps.store
    return [*clearing(lines, procedure.form(large)), "return MPI_SUCCESS;"]


def implies_running(arguments):
    """Whether the object of the call, when there is one, says that MPI is running."""
    of = arguments.comm
    return of is not None and of.kind.name != "errhandler" and of.name not in arguments.null_ok


def clearing(lines, parameters):
    """The same lines, whose returns of a failure first give the call's handles their null value: the user's error handler
    sees that already."""
    cleared = "".join(f"clear({p.name}), " for p in lost_on_failure(parameters))
    return [line.replace("return ", f"return {cleared}") for line in lines]


def unimplemented(procedure, large):
    name = c_name(procedure, large)
    if procedure.chapter == "tool":
        return ["return MPI_T_ERR_NOT_SUPPORTED;"]      # tools calls have codes of their own and no error handler
    on = guarded_by(procedure, procedure.form(large))
    if on is None:
        value = "MPI_FILE_NULL" if about_files(procedure) else "MPI_COMM_NULL"
    else:
        value = f"{on.name} ? *{on.name} : {NULLS[on.kind.name]}" if on.output else on.name
    return clearing([f'return unsupported("{name}", {value});'], procedure.form(large))


def function(procedure, large, table):
    name = c_name(procedure, large)
    head = wrap(prototype(procedure, large, table, "P") + " {", indent=" " * 8)
    lines = body(procedure, large, table)
    if not procedure.overlay.calls:
        head = wrap(nameless(procedure, large, table, lines), indent=" " * 8)
    text = "\n".join(layout(line) for line in lines)
    return fill("entry.cc", HEAD=head, BODY=text, NAME=name)


def layout(line, width=120):
    """One statement, indented; a long `if` puts its statement on a line of its own."""
    if len(line) + 2 <= width:
        return "  " + line
    head, found, tail = line.rpartition(" return ")
    if line.startswith("if (") and found:
        return layout_piece(head, 2, width) + "\n" + layout_piece("return " + tail, 4, width)
    return layout_piece(line, 2, width)


def layout_piece(text, indent, width):
    return " " * indent + wrap(text, indent=" " * (indent + 4), width=width - indent)


def nameless(procedure, large, table, lines):
    """A prototype that names only the parameters which the body uses."""
    used = lines[0]
    items = []
    for p in procedure.form(large):
        keep = re.search(rf"\b{p.name}\b", re.sub('".*?"', "", used)) is not None
        items.append(declarator(p, large, table.callbacks, names=keep))
    return f"{procedure.returns} P{c_name(procedure, large)}({', '.join(items)}) {{"


def chapter(name, table):
    """The source of one chapter."""
    procedures = [p for p in table.procedures.values() if p.chapter == name and p.in_abi]
    headers = sorted({p.overlay.header for p in procedures if p.overlay.header})
    functions = [function(p, large, table) for p in procedures for large in ((False, True) if p.large else (False,))]
    return fill("chapter.cc", CHAPTER=name, INCLUDES="\n".join(f'#include "{h}"' for h in headers), FUNCTIONS="\n".join(functions))


def targets(table, header=""):
    """(header, namespace, name, parameters) of every function of the kernel that an entry point calls."""
    for procedure in table.procedures.values():
        overlay = procedure.overlay
        if not overlay.calls or "raw" in overlay.flags or procedure.chapter == "tool" or header and overlay.header != header:
            continue
        for large in (False, True) if procedure.large else (False,):
            arguments = Arguments(procedure, large, table)
            target = overlay.options.get("calls_c", overlay.calls) if large else overlay.calls
            namespace, _, name = target.rpartition("::")
            parameters = []
            for p in procedure.form(large):
                if p.kind.name == "varargs":
                    continue
                wanted = kernel_type(p, arguments)
                parameters.append(f"{wanted} {p.name}" if wanted else declarator(p, large, table.callbacks))
            yield overlay.header, namespace, name, tuple(parameters)


def declarations(table, header=""):
    """What the rooms declare for the bindings, by header."""
    by_header = {}
    for file, namespace, name, parameters in targets(table, header):
        lines = by_header.setdefault((file, namespace), [])
        line = f"Status {name}({', '.join(parameters)});"
        if line not in lines:
            lines.append(line)
    parts = []
    for (file, namespace), lines in by_header.items():
        parts.append(f"// {file}\nnamespace ashlar::{namespace} {{\n" + "\n".join(wrap(x) for x in lines) + "\n}")
    return "\n\n".join(parts) + "\n"


def coverage(table):
    """One line per function of the ABI: its name, whether the kernel does it, and its chapter (ashlar_info --coverage)."""
    rows = []
    for procedure, large in table.entry_points():
        state = "implemented" if procedure.overlay.calls else "unsupported"
        rows.append(f"{c_name(procedure, large)} {state} {procedure.chapter}")
    return "\n".join(sorted(rows)) + "\n"


def export_map(table):
    names = sorted(c_name(p, large) for t in (table, table.removed) for p, large in t.entry_points())
    return "{\n  global:\n" + "".join(f"    {n};\n    P{n};\n" for n in names) + "  local: *;\n};\n"
