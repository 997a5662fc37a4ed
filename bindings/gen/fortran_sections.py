"""The C functions of mpi_f08 that take descriptors of choice buffers, and what is known of those buffers.

A scalar or dense row is handed on by its address: the function jumps to the one that takes addresses. For anything else
all arguments go to f_sections of bindings/fortran, with the procedure's shape: where in the list its buffers are, and what
describes each of them.
"""
from fortran import described_by, fortran_name, parameters, strings
from fortran_f08 import has_ierror
from fortran_steps import Entry

WIDTH = 118


def base_name(procedure, large):
    return procedure.name.removeprefix("MPI_").lower() + ("_c" if large else "")


def plain_name(procedure, large):
    """The function that takes the addresses of buffers."""
    return f"F_PLAIN({base_name(procedure, large)})"


def wrapped(head, pieces, tail):
    """`head` with `pieces` behind it, on lines that are not too long."""
    lines, current = [], head
    for i, piece in enumerate(pieces):
        piece += "," if i < len(pieces) - 1 else tail
        if len(current) + len(piece) + 3 > WIDTH:
            lines.append(current)
            current = "      " + piece
        else:
            current += piece if current == head else " " + piece
    return "\n".join([*lines, current])


# --- shapes -----------------------------------------------------------------------------------------------------------

class Shape:
    """Where the arguments of a procedure are that matter for its buffers. Both forms have the same."""

    def __init__(self, procedure):
        self.procedure = procedure
        self.parameters = parameters(procedure, False)
        self.entry = Entry(procedure, False)

    def at(self, *names):
        """The number of the first of the arguments that there is, as an initializer; "" if there is none."""
        for n, p in enumerate(self.parameters):
            if p.name in names:
                return n
        return None

    def way(self, p):
        """(way, count, displacements, datatype): names of arguments."""
        way, described = described_by(self.procedure, p)
        names = [q.name for q in self.parameters]
        if way in ("pair", "peers"):
            return f"F_{way.upper()}", described[0].name, "", described[1].name
        if way == "partitions":
            return "F_PARTITIONS", described[1].name, described[0].name, described[2].name
        if way == "operand":
            kind = "F_OPERAND" if "count" in names else "F_SHARES" if "recvcounts" in names else "F_SHARE"
            return kind, {"F_OPERAND": "count", "F_SHARES": "recvcounts", "F_SHARE": "recvcount"}[kind], "", "datatype"
        if way == "blocks":
            counts, displs, types = self.parameters[self.parameters.index(p) + 1:][:3]
            return "F_BLOCKS_OF_TYPES" if types.array else "F_BLOCKS", counts.name, displs.name, types.name
        if way == "bytes":
            size = next((n for n in names if n in ("outsize", "insize")), "")
            return ("F_BYTES", size, "", "") if self.procedure.chapter not in ("rma", "buffer") else ("F_FIXED", "", "", "")
        if self.procedure.name in ("MPI_Compare_and_swap", "MPI_Fetch_and_op"):
            return "F_ELEMENT", "", "", "datatype"
        return "F_ADDRESS", "", "", ""

    def flags(self, p, count, displs):
        flags = ["F_OUT"] if p.output else []
        if self.procedure.chapter in ("rma", "partitioned") or self.procedure.name.endswith(("_begin", "_end")):
            flags.append("F_NO_COPY")
        if "root" in p.flags:
            flags.append("F_AT_ROOT")
        if "eighbor" in self.procedure.name:
            flags.append("F_INDEGREE" if p.output else "F_OUTDEGREE")
        for name, kind, flag in ((count, "f_count", "F_WIDE_COUNT"), (displs, "f_displ", "F_WIDE_DISPLS")):
            q = next((q for q in self.parameters if q.name == name), None)
            if q is not None and self.entry.wide(q) not in ("", kind):
                flags.append(flag)
        return " | ".join(flags) or "F_IN"

    def buffer(self, p):
        way, count, displs, datatype = self.way(p)
        fields = [f'"{fortran_name(p)}"', f".at = {self.at(p.name)}", f".way = {way}", f".flags = {self.flags(p, count, displs)}"]
        fields += [f".{field} = {self.at(name)}" for field, name in (("count", count), ("displs", displs), ("type", datatype)) if name]
        return f"{{{', '.join(fields)}}}"

    def text(self):
        buffers = [p for p in self.parameters if p.kind.name == "buffer"]
        named = {}
        for field in ("comm", "win", "root"):
            named[field] = next((p.name for p in self.parameters if p.kind.name == field and p.direction == "in"), "")
        named["request"] = self.entry.request.name if self.entry.request else ""
        fields = [f".{field} = {self.at(name) if name else 'F_ABSENT'}" for field, name in named.items()]
        n = len(self.parameters) + has_ierror(self.procedure) + len(strings(self.procedure))
        code = len(self.parameters) if has_ierror(self.procedure) else "F_ABSENT"
        fields += [f".life = {self.entry.life}", f".ierror = {code}", f".arguments = {n}", f".buffers = {len(buffers)}"]
        name = f"const struct f_shape f_shape_{base_name(self.procedure, False)} = {{"
        return "\n".join([wrapped(f"{name}\"{self.procedure.name}\", ", fields, ", {"),
                          ",\n".join(f"    {self.buffer(p)}" for p in buffers) + "}};\n"])


def opened(procedure):
    """Whether sections with gaps need anything."""
    shape = Shape(procedure)
    return any(shape.way(p)[0] != "F_ADDRESS" for p in shape.parameters if p.kind.name == "buffer")


# --- functions ----------------------------------------------------------------------------------------------------------

def section(procedure, large, with_kept=None):
    """`with_kept`: the lines of the call with a datatype that is there already, where they are worth it."""
    entry = Entry(procedure, large)
    given = parameters(procedure, large)
    buffers = [p.name for p in given if p.kind.name == "buffer"]
    declared = [f"f_section* {d.removeprefix('void* ')}" if d.removeprefix("void* ") in buffers else d for d in entry.steps.declared]
    ierror = ["ierror"] if has_ierror(procedure) else []
    lengths = [f"{p.name}_length" for p in strings(procedure)]
    declared += [*(f"f_int* {n}" for n in ierror), *(f"f_length {n}" for n in lengths)]
    names = [p.name for p in given] + ierror
    bases = [f"{n}->base_addr" if n in buffers else n for n in names]
    lines = [wrapped(f"void F_TS({base_name(procedure, large)}, {base_name(procedure, large).upper()})(", declared, ") {")]
    plain = f"  {plain_name(procedure, large)}("
    if not opened(procedure):
        return "\n".join([*lines, wrapped(plain, [*bases, *lengths], ");"), "}\n"])
    head = f"F_SECTIONS({base_name(procedure, False)}, {plain_name(procedure, large)}, {int(large)}, "
    simple = [f"  if (F_LIKELY({' && '.join(f'f_simple({b})' for b in buffers)}))", wrapped(f"  {plain}", [*bases, *lengths], ");"), "  else"]
    given = [*names, *(f"(void*)(size_t){n}" for n in lengths)]
    if not with_kept:
        return "\n".join([*lines, *simple, wrapped(f"    {head}", given, ");"), "}\n"])
    # What converts arguments is a function of its own: the one above keeps nothing over a call.
    gaps = f"f_gaps_{base_name(procedure, large)}"
    return "\n".join([wrapped(f"static F_OUT_OF_LINE void {gaps}(", declared, ") {"),
                      "  const struct f_kept* const kept = f_kept_of(buf, *count, *datatype, 0);",
                      "  if (!kept) {", wrapped(f"    {head}", given, ");"), "    return;", "  }", *with_kept, "}\n",
                      *lines, *simple, wrapped(f"    {gaps}(", names, ");"), "}\n"])
