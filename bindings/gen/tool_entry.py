"""The entry points of the tools interface, whose calls answer with codes of MPI_T and never call an error handler."""

# Handles that are resolved: what a call answers when there is no object behind one.
HANDLES = {"t_enum": "MPI_T_ERR_INVALID_HANDLE", "t_cvar": "MPI_T_ERR_INVALID_HANDLE", "t_pvar": "MPI_T_ERR_INVALID_HANDLE",
           "t_session": "MPI_T_ERR_INVALID_SESSION", "t_registration": "MPI_T_ERR_INVALID_HANDLE"}
CLASSES = {"t_enum": "Enumeration", "t_cvar": "CvarHandle", "t_pvar": "PvarHandle", "t_session": "PvarSession",
           "t_registration": "Registration"}


def tool_body(procedure):
    """The lines of one entry point: is the interface in use, are the handles good, is every result wanted that must be."""
    overlay, parameters = procedure.overlay, procedure.form(False)
    null_ok = overlay.options.get("null_ok", "").split(",")
    # Calls that describe something leave out what the caller does not ask for (MPI-5.0, 15.3.6).
    describes = any(p.kind.name == "string" and p.output for p in parameters)
    lines = [] if "anytime" in overlay.flags else ["if (!mpit::in_use()) return MPI_T_ERR_NOT_INITIALIZED;"]
    arguments = []
    for p in parameters:
        kind, name = p.kind.name, p.name
        if kind in HANDLES and p.direction == "in":
            lines.append(f"mpit::{CLASSES[kind]}* const {name}_obj = mpit::resolve({name});")
            missing = f"{name}_obj == nullptr"
            if name in null_ok:
                missing += f" && {name} != MPI_T_PVAR_ALL_HANDLES"
            lines.append(f"if ({missing}) return {HANDLES[kind]};")
            arguments.append(f"{name}_obj" if name in null_ok else f"*{name}_obj")
            continue
        arguments.append(name)
        if p.array:
            if not describes:
                lines.append(f"if ({p.length} < 0 || ({name} == nullptr && {p.length} > 0)) return MPI_T_ERR_INVALID;")
        elif (p.output and not describes) or kind == "buffer" or kind == "string" and not p.output:
            lines.append(f"if ({name} == nullptr) return MPI_T_ERR_INVALID;")
    return [*lines, f"return {overlay.calls}({', '.join(arguments)});"]
