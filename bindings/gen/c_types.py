"""C types and prototypes of the table's procedures."""
import re


def declarator(parameter, large, callbacks, names=True):
    """`const int recvcounts[]`: one parameter of a C prototype."""
    kind = parameter.kind.name
    name = parameter.name if names else ""
    const = "const " if "const" in parameter.flags else ""
    if kind == "varargs":
        return "..."
    if kind == "function":
        return f"{function_type(parameter, large, callbacks)} {name}".rstrip()
    base = parameter.kind.c_large if large else parameter.kind.c
    if kind == "argv":
        return f"char* {name}[]" if parameter.direction == "in" else f"char*** {name}"
    if kind in ("strings", "string_lists"):
        return f"{base} {name}[]"
    if base.endswith("*"):                       # buffers, strings, statuses: already addresses
        return f"{const}{base} {name}".rstrip()
    if parameter.array and "pointer" in parameter.flags:    # may be a constant that is no array
        return f"{const}{base}* {name}".rstrip()
    if parameter.array:
        inner = "".join(f"[{n}]" for n in parameter.length.split(",")[1:])
        return f"{const}{base} {name}[]{inner}"
    pointer = "*" if parameter.output or "pointer" in parameter.flags else ""
    return f"{const}{base}{pointer} {name}".rstrip()


def function_type(parameter, large, callbacks):
    name = parameter.options["type"]
    if large and callbacks[name].large:
        name += "_c"
    return name if "byvalue" in parameter.flags else name + "*"


def parameter_list(procedure, large, table):
    items = [declarator(p, large, table.callbacks) for p in procedure.form(large)]
    return ", ".join(items) or "void"


def c_name(procedure, large):
    return procedure.name + ("_c" if large else "")


def prototype(procedure, large, table, prefix=""):
    return f"{procedure.returns} {prefix}{c_name(procedure, large)}({parameter_list(procedure, large, table)})"


def callback_typedef(callback, large, table):
    result = "void" if callback.options.get("returns") == "void" else "int"
    parameters = parameter_list(callback, large, table)
    return f"typedef {result} ({c_name(callback, large)})({parameters});"


def wrap(text, indent="    ", width=118):
    """Breaks a long prototype at commas."""
    if len(text) <= width:
        return text
    lines, current = [], ""
    for piece in re.split(r"(?<=, )", text):
        if current and len(current.rstrip()) + len(piece.rstrip()) > width:
            lines.append(current.rstrip())
            current = indent
        current += piece
    return "\n".join(lines + [current])
