"""The wrappers of libashlar_tool.so: what tools are told of each call, worked out from the kinds of its arguments."""
import re

from c_types import c_name, prototype, wrap
from template import fill

# Collectives in which one count stands for the part of each process, and the buffer that it belongs to.
EACH = {("Allgather", "recv"), ("Alltoall", "send"), ("Alltoall", "recv"), ("Gather", "recv"), ("Scatter", "send"),
        ("Reduce_scatter_block", "send")}


def procedures(table):
    """(procedure, large) of the calls that are watched, in the order of their numbers: those that the kernel does and
    that return an error code. MPI_T is for tools, and no part of what the program does."""
    return [(p, large) for p, large in table.entry_points()
            if p.overlay.calls and p.returns_error and p.chapter != "tool"]


def base_name(procedure):
    """Allgather of MPI_Iallgather and of MPI_Allgather_init."""
    name = procedure.name.removeprefix("MPI_").removesuffix("_init")
    return name[1:].capitalize() if re.match(r"I[a-z]", name) and name not in ("Info",) else name


def first(parameters, *kinds, direction=None):
    return next((p for p in parameters if p.kind.name in kinds and not p.array and direction in (None, p.direction)), None)


def takes(parameters, buffer):
    """Whether a call writes to this buffer: of MPI_Precv_init it is an `in` argument, which the request writes to."""
    into_it = first(parameters, "source", "message") and not first(parameters, "dest")
    return buffer.output or bool(into_it and buffer.kind.name == "buffer")


def kind_bits(procedure, parameters):
    bits = []
    communication = first(parameters, "request", direction="out") or procedure.chapter in ("coll", "neighbor")
    if first(parameters, "dest", "target_rank") and first(parameters, "datatype"):
        bits.append("SENDS")
    if any(takes(parameters, p) for p in parameters if p.kind.name == "buffer") and first(parameters, "source", "message"):
        bits.append("RECEIVES")
    if procedure.chapter in ("coll", "neighbor"):
        bits.append("COLLECTIVE")
    if procedure.name.endswith("_init") and communication:
        bits.append("PREPARES")
    elif first(parameters, "request", direction="out"):
        bits.append("STARTS")
    if re.match(r"MPI_(Wait|Test)(all|any|some)?$", procedure.name):
        bits.append("COMPLETES")
    return bits


class Wrapper:
    """One wrapper: the statements before and after the call."""

    def __init__(self, procedure, large):
        self.procedure = procedure
        self.parameters = procedure.form(large)
        self.comm = first(self.parameters, "comm", direction="in")
        self.root = first(self.parameters, "root")
        self.before, self.after = [], []
        self.status = first(self.parameters, "status", direction="out")
        self.peers()
        self.amounts()
        self.requests()
        self.results()

    def peers(self):
        p = self.parameters
        tag = first(p, "tag", direction="in")
        if to := first(p, "dest", "target_rank"):
            self.before.append(f"call.to({to.name}{f', {tag.name}' if tag else ''});")
        wanted = first(p, "any_tag", direction="in")
        if (source := first(p, "source")) and wanted:
            self.before.append(f"call.from({source.name}, {wanted.name});")
        if self.procedure.name == "MPI_Pcontrol":
            self.before.append("call.level(level);")
        if self.comm:
            self.before.append(f"call.on({self.comm.name});")
        if self.root:
            self.before.append(f"call.root({self.root.name});")

    # --- bytes --------------------------------------------------------------------------------------------------------

    def amounts(self):
        """bytes_in first: a buffer in place gives what the receiving side says."""
        if not first(self.parameters, "comm", "message", "win", "file"):
            return
        buffers = [p for p in self.parameters if p.kind.name == "buffer"]
        taken = [p for p in buffers if takes(self.parameters, p)]
        given = [p for p in buffers if p.direction != "out" and (p.output or p not in taken)]
        for p in taken:
            if amount := self.amount(p):
                self.add("in", p, amount)
        for p in given:
            if amount := self.amount(p):
                self.add("out", p, amount)

    def amount(self, buffer):
        """The expression of the bytes of one buffer, or None."""
        after = self.parameters[self.parameters.index(buffer) + 1:]
        count = next((q for q in after if q.kind.name in ("count", "wide_count")), None)
        datatype = next((q for q in after if q.kind.name == "datatype"), None)
        if not count or not datatype:
            return None
        if count.array:
            if count.length != "comm":
                return None                     # the number of neighbours is not an argument
            if base_name(self.procedure) == "Reduce_scatter" and buffer.output:
                return f"call.of(call.own({count.name}), {datatype.name})"
            ranks = "members" if base_name(self.procedure) == "Reduce_scatter" else "others"
            return f"call.of({count.name}, call.{ranks}(), {datatype.name})"
        if any(p.name == "partitions" for p in self.parameters):
            return f"call.of({count.name}, {datatype.name}, partitions)"
        side = "recv" if buffer.name.startswith("recv") else "send"
        times = ", call.others()" if (base_name(self.procedure), side) in EACH else ""
        return f"call.of({count.name}, {datatype.name}{times})"

    def add(self, way, buffer, amount):
        statement = f"call.{way}({amount});"
        conditions = []
        if self.root:
            if "root" in buffer.flags:
                conditions.append("call.at_root()")
            elif base_name(self.procedure) == "Bcast":
                conditions.append("call.at_root()" if way == "out" else "!call.at_root() && call.is_leaf()")
            else:
                conditions.append("call.is_leaf()")
        if self.in_place() == buffer.name:
            shared = not any(p.name in ("sendcount", "sendcounts", "sendtype") for p in self.parameters)
            if not shared:
                conditions.append(f"{buffer.name} != MPI_IN_PLACE")
                if own := self.own_share():
                    self.before.append(f"if ({buffer.name} == MPI_IN_PLACE) call.out({own});")
        self.before.append(f"if ({' && '.join(conditions)}) {statement}" if conditions else statement)

    def in_place(self):
        return self.procedure.overlay.options.get("in_place", "").partition("@")[0]

    def own_share(self):
        """What a process in place gives: its part of the receive buffer."""
        name = base_name(self.procedure)
        if name == "Allgather":
            return "call.of(recvcount, recvtype)"
        if name == "Allgatherv":
            return "call.of(call.own(recvcounts), recvtype)"
        return "call.bytes_in()" if name.startswith("Alltoall") else None

    # --- requests and statuses ----------------------------------------------------------------------------------------

    def requests(self):
        several = next((p for p in self.parameters if p.kind.name == "request" and p.array), None)
        if several:
            self.before.append(f"call.requests({several.name}, {several.length});")
        request = first(self.parameters, "request")
        if not request:
            return
        if request.direction == "out":
            self.after.append(f"if (its_result == MPI_SUCCESS) call.request(*{request.name});")
        elif request.direction == "inout" or "pointer" in request.flags:
            self.before.append(f"if ({request.name}) call.request(*{request.name});")
        else:
            self.before.append(f"call.request({request.name});")

    def results(self):
        if not self.status or self.status.array:
            return
        flag = first(self.parameters, "logical", direction="out")
        comm = f", {self.comm.name}" if self.comm else ""
        self.after.append(f"{f'if (its_result == MPI_SUCCESS && *{flag.name}) ' if flag else ''}call.status(its_status{comm});")

    def wants_status(self):
        return self.status is not None and not self.status.array


def function(number, procedure, large, table):
    name = c_name(procedure, large)
    wrapper = Wrapper(procedure, large)
    lines = [f'static constinit Next<decltype(&{name})> next("{name}");', f"Watched call({number});"]
    arguments = [p.name for p in wrapper.parameters if p.kind.name != "varargs"]
    if wrapper.wants_status():
        status = wrapper.status.name
        lines += ["MPI_Status own_status;",
                  f"MPI_Status* const its_status = call && {status} == MPI_STATUS_IGNORE ? &own_status : {status};"]
        arguments[arguments.index(status)] = "its_status"
    lines += ["if (call) {", *("  " + line for line in wrapper.before), "  call.enter();", "}",
              f"const int its_result = next()({', '.join(arguments)});"]
    if wrapper.after:
        lines += ["if (call.returned(its_result)) {", *("  " + line for line in wrapper.after), "  call.leave();", "}"]
    else:
        lines.append("if (call.returned(its_result)) call.leave();")
    head = wrap(prototype(procedure, large, table) + " {", indent=" " * 8)
    return "\n".join([head, *("  " + line for line in lines), "  return its_result;", "}"])


def wrappers(table):
    """The source of all wrappers and the list of the procedures."""
    watched = procedures(table)
    rows = []
    for procedure, large in watched:
        bits = " | ".join(f"ASHLAR_TOOL_{bit}" for bit in kind_bits(procedure, procedure.form(large))) or "0"
        rows.append(f'    {{.name = "{c_name(procedure, large)}", .chapter = "{procedure.chapter}", .kind = {bits}}},')
    functions = [function(number, p, large, table) for number, (p, large) in enumerate(watched)]
    return fill("wrappers.cc", ROWS="\n".join(rows), FUNCTIONS="\n\n".join(functions))


def export_map(table):
    names = [c_name(p, large) for p, large in procedures(table)]
    return "{\n  global:\n    ashlar_call_wrappers_v1;\n" + "".join(f"    {n};\n" for n in names) + "  local: *;\n};\n"
