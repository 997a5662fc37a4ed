"""What follows from the kind of an argument: how an entry point checks it, hands it on, and stores results.

The checks are the functions of bindings/c/check.h; the failing branch of each is cold and takes the facts as arguments.
Whatever an argument needs is said in five places of an entry point, in this order:
  resolve   handle -> object (the communicator first, so that later failures reach its error handler)
  check     everything but buffers
  buffer    buffers, when their counts and types are known to be good
  local     variables for results
  store     results into the caller's variables
"""
from dataclasses import dataclass, field

from c_types import c_name

# Classes behind handles, and the null handle where there is one.
OBJECTS = {"comm": "Comm", "group": "Group", "datatype": "Datatype", "op": "ReduceOp", "request": "Request",
           "errhandler": "Errhandler", "info": "Info", "message": "MessageObject", "session": "Session", "win": "Window", "file": "File"}
NULLS = {"request": "MPI_REQUEST_NULL", "info": "MPI_INFO_NULL", "errhandler": "MPI_ERRHANDLER_NULL",
         "comm": "MPI_COMM_NULL", "session": "MPI_SESSION_NULL", "group": "MPI_GROUP_NULL", "datatype": "MPI_DATATYPE_NULL", "op": "MPI_OP_NULL", "win": "MPI_WIN_NULL",
         "file": "MPI_FILE_NULL"}
# Objects that errors are raised on. An error handler stands for the object that the call is to make.
GUARDED = ("comm", "session", "win", "file", "errhandler")
# Objects that belong to a session or to the world model.
ORIGINS = ("comm", "group", "session")
KIND_OF_HANDLER = {"comm": "Kind::kComm", "session": "Kind::kSession"}

# Chapters whose calls move data, and so ask for committed datatypes.
COMMUNICATION = ("pt2pt", "coll", "neighbor", "partitioned", "op", "rma", "io")

SCALAR_TESTS = {   # kind -> (condition of failure, cold function)
    "count": ("{n} < 0", "bad_count"), "bytes": ("{n} < 0", "bad_count"), "wide_count": ("{n} < 0", "bad_count"),
    "size_bytes": ("{n} < 0", "bad_count"), "aint_size": ("{n} < 0", "bad_size"),
    "length": ("{n} < 0", "bad_length"), "length_min1": ("{n} < 1", "bad_length"),
    "tag": ("{n} < 0", "bad_tag"), "any_tag": ("!is_wanted_tag({n}, *{comm})", "bad_any_tag"),
    "dest": ("!is_dest({n}, *{comm})", "bad_dest"), "source": ("!is_source({n}, *{comm})", "bad_source"),
    "root": ("!is_root({n}, *{comm})", "bad_root"),
}
# Kinds whose input form may be a null pointer, or needs no look at all.
FREE_INPUTS = ("attribute", "attribute1", "state", "state1", "state_ptr", "object", "varargs", "buffer", "memory", "boolean")


@dataclass
class Steps:
    """The lines of one entry point, by the order in which they are emitted."""
    resolve: list = field(default_factory=list)
    check: list = field(default_factory=list)
    buffer: list = field(default_factory=list)
    local: list = field(default_factory=list)
    arguments: list = field(default_factory=list)
    always: list = field(default_factory=list)     # stores that happen on failure too (Wait's request)
    store: list = field(default_factory=list)


def about_files(procedure):
    """Whether the procedure's errors are for the default file error handler when no file is there to have one."""
    return procedure.chapter == "io" or any(p.kind.name == "file" for p in procedure.parameters)


def guarded_by(procedure, parameters):
    """The parameter whose error handler gets the errors, or None."""
    kinds = ("file",) if procedure.chapter == "io" else GUARDED
    return next((p for p in parameters if p.kind.name in kinds and p.direction == "in" and not p.array), None) or next(
        (p for p in parameters if p.kind.name in kinds[:4] and p.direction == "inout" and not p.array), None)


def lost_on_failure(parameters):
    """Outputs that get their null value when the call fails: handles and keys. The standard leaves them undefined then,
    but programs test them, and clean up by them."""
    return [p for p in parameters if p.direction == "out" and not p.array and (p.kind.name in OBJECTS or p.kind.name == "keyval")]


class Arguments:
    """Works out the steps of one procedure in one form."""

    def __init__(self, procedure, large, table):
        self.procedure, self.large, self.table = procedure, large, table
        self.overlay = procedure.overlay
        self.parameters = procedure.form(large)
        self.unchecked = self.overlay.options.get("unchecked", "").split(",")
        self.null_ok = self.overlay.options.get("null_ok", "").split(",") + self.unchecked
        self.call = f'"{c_name(procedure, large)}"'
        # The object that errors are raised on; without one, calls on files have a handler of their own.
        self.comm = guarded_by(procedure, self.parameters)
        self.nobody = "&no_file()" if about_files(procedure) else "nullptr"
        self.on = f"{self.comm.name}_obj" if self.comm else self.nobody
        self.guards = {}
        self.steps = Steps()
        self.plan_guards()
        first = [p for p in self.parameters if p is self.comm] + [p for p in self.parameters if p.kind.name == "root"]
        for parameter in first + [p for p in self.parameters if p not in first]:
            self.look_at(parameter)
        self.same_origin()
        if "in_place" in self.overlay.options:
            self.same_memory()
        self.steps.arguments = [self.argument(p) for p in self.parameters if p.kind.name != "varargs"]

    # --- collectives: arguments that are not significant in this process are not looked at ----------------------------

    def plan_guards(self):
        """Which arguments count only where a condition holds, and the variables of those conditions."""
        buffer, _, only_at_root = self.overlay.options.get("in_place", "").partition("@")
        rooted = self.procedure.chapter == "coll" and any(p.kind.name == "root" for p in self.parameters)
        self.conditions = []                        # known when communicator and root are
        if only_at_root:
            self.conditions = [
                f"const bool at_root = is_at_root(root, *{self.on});",
                f"const bool takes_part = contributes(root, *{self.on}) && !(at_root && {buffer} == MPI_IN_PLACE);"]
        elif buffer:
            self.steps.check.append(f"const bool own_data = {buffer} != MPI_IN_PLACE;")
        side = ("send", "sdispls") if buffer == "sendbuf" else ("recv", "rdispls")
        for p in self.parameters:
            if p.kind.name in ("comm", "root", "request", "info"):
                continue
            if "root" in p.flags:
                self.guards[p.name] = "at_root"
            elif buffer and p.name.startswith(side):
                self.guards[p.name] = "takes_part" if only_at_root else "own_data"
            elif rooted:
                self.guards[p.name] = "root != MPI_PROC_NULL"

    def guarded(self, name, condition):
        guard = self.guards.get(name)
        if not guard:
            return condition
        return f"{guard} && {condition}"

    def same_origin(self):
        """Of communicators, groups and sessions in one call, whether they belong together."""
        first, *others = [p for p in self.parameters if p.kind.name in ORIGINS and p.direction == "in" and not p.array] or [None]
        for p in others:
            a, b = f"{first.name}_obj", f"{p.name}_obj"
            self.steps.check.append(f"if (mixed({a}, {b})) " + self.fail(
                "bad_origins", f'"{first.name}"', f"origin_of({a})", f'"{p.name}"', f"origin_of({b})"))

    # --- one argument -------------------------------------------------------------------------------------------------

    def fail(self, function, *facts):
        return f"return {function}({', '.join([self.call, self.on, *facts])});"

    def check(self, name, condition, function, *facts):
        self.steps.check.append(f"if ({self.guarded(name, condition)}) {self.fail(function, *facts)}")

    def look_at(self, p):
        kind = p.kind.name
        if kind in OBJECTS and not p.array:
            self.handle(p)
        elif p.array:
            self.array(p)
        elif kind == "buffer":
            self.data(p)
        elif p.output:
            self.result(p)
        elif kind in SCALAR_TESTS and p.name not in self.unchecked:
            condition, function = SCALAR_TESTS[kind]
            facts = [f'"{p.name}"', p.name]
            self.check(p.name, condition.format(n=p.name, comm=self.on), function, *facts)
            if kind == "root":
                self.steps.check += self.conditions
        elif kind == "status" or kind in ("string", "function") and p.name not in self.null_ok:
            self.check(p.name, f"{p.name} == nullptr", "bad_null", f'"{p.name}"')

    def handle(self, p):
        name, kind, cls = p.name, p.kind.name, OBJECTS[p.kind.name]
        resolver = "committed" if kind == "datatype" and self.needs_commit() else "resolve"
        bad = "bad_type" if resolver == "committed" else "bad_handle"
        if kind == "file" and name in self.null_ok:
            resolver = "file_or_none"
        if p.direction == "out":
            self.check(name, f"{name} == nullptr", "bad_null", f'"{name}"')
            self.steps.local.append(f"{cls}* {name}_obj = nullptr;")
            self.steps.store.append(f"store({self.call}, {name}, {name}_obj);")
            return
        value = name
        into = self.steps.resolve if p is self.comm else self.steps.check
        on = self.nobody if p is self.comm else self.on
        if p.direction == "inout" or "pointer" in p.flags:
            into.append(f'if ({name} == nullptr) return bad_null({self.call}, {on}, "{name}");')
            value = f"*{name}"
        const = "" if p.direction == "inout" else " const"
        guard = self.guards.get(name)
        lookup = f"{guard} ? {resolver}({value}) : insignificant_type()" if guard and kind == "datatype" else f"{resolver}({value})"
        if guard and kind == "op":
            lookup = f"{guard} ? resolve({value}) : insignificant_op()"
        if not guard and (twin := self.twin_of(p)):
            lookup = f"{value} == {twin} ? {twin}_obj : {lookup}"
        missing = f"{name}_obj == nullptr"
        into.append(f"{cls}*{const} {name}_obj = {lookup};")
        if count := self.count_of(p):
            again = ", ".join("MPI_BYTE" if q is p else q.name for q in self.parameters)
            into.append(f"if ({missing} && is_nothing({name}, {count})) [[unlikely]] return again<P{self.call[1:-1]}>({again});")
        if self.may_be_null(p):
            missing += f" && {value} != {NULLS[kind]}"
        facts = [self.call, on, f'"{name}"', value]
        if name not in self.unchecked:
            into.append(f"if ({missing}) return {bad}({', '.join(facts)});")
        if p is self.comm and kind == "errhandler":
            made = next(q.kind.name for q in self.parameters if q.direction == "out")
            into.append(f"if (!made_for({KIND_OF_HANDLER[made]}, *{name}_obj)) return bad_errhandler({self.call}, "
                        f"{KIND_OF_HANDLER[made]}, \"{name}\");")
        if p.direction == "inout":
            self.steps.always.append(f"{'store' if kind == 'request' else 'replace'}({name}, {name}_obj);")

    def twin_of(self, p):
        """The datatype of the other end, which most one-sided calls give twice: one comparison saves a look-up."""
        return "origin_datatype" if p.name == "target_datatype" and not p.array else None

    def count_of(self, p):
        """The count that says whether the datatype `p` of a communication matters: of no items it may be null. Not of
        reductions, whose operation has to fit the datatype on all ranks."""
        reduces = any(q.kind.name == "op" for q in self.parameters)
        if p.kind.name != "datatype" or p.array or p.output or not self.needs_commit() or reduces:
            return None
        before = self.parameters[:self.parameters.index(p)]
        count = next((q for q in reversed(before) if q.kind.name in ("count", "wide_count")), None)
        return count.name if count and not count.array else None

    def may_be_null(self, p):
        if p.kind.name == "request":
            return self.procedure.name not in ("MPI_Start", "MPI_Request_free", "MPI_Cancel")
        return p.name in self.null_ok or p.kind.name == "info" and self.procedure.chapter != "info"

    def needs_commit(self):
        return self.procedure.chapter in COMMUNICATION or self.procedure.name.startswith(("MPI_Pack", "MPI_Unpack"))

    def array_size(self, p):
        if p.length == "comm":
            return f"{self.on}->size" if "reduce_scatter" in self.procedure.name.lower() else f"{self.on}->remote_size"
        first = p.length.split(",")[0]
        return first if any(q.name == first for q in self.parameters) else ""

    def array(self, p):
        """Null only when empty; elements that are counts, datatypes or requests are checked one by one."""
        name, kind, size = p.name, p.kind.name, self.array_size(p)
        if not size or kind == "status" or name in self.null_ok:
            return
        counts = next((q.name for q in reversed(self.parameters[:self.parameters.index(p)]) if q.kind.name == "count" and q.array), None)
        needed = f", IntArray({counts})" if counts and self.needs_commit() else ""
        search = {"count": ("bad_counts", f"first_negative({name}, {size})"),
                  "datatype": ("bad_types", f"first_bad_type({name}, {size}, {self.commit_word()}{needed})"),
                  "request": ("bad_requests", f"first_bad_request({name}, {size})")}.get(kind)
        if p.direction == "out" and kind == "datatype":
            self.steps.store.append(f"got_contents({self.call}, *datatype_obj, {name});")
        if p.direction == "out" or search is None:
            self.check(name, f"{name} == nullptr && {size} > 0", "bad_null", f'"{name}"')
            return
        function, test = search
        guard = self.guards.get(name)
        index = f"const auto bad = {guard} ? {test} : -1" if guard else f"const auto bad = {test}"
        self.steps.check.append(f"if ({index}; bad >= 0) " + self.fail(function, f'"{name}"', name, "bad"))

    def commit_word(self):
        return "true" if self.needs_commit() else "false"

    def data(self, p):
        """A buffer that is null, MPI_IN_PLACE or MPI_BUFFER_AUTOMATIC is looked at more closely; others are taken as good."""
        after = self.parameters[self.parameters.index(p) + 1:]
        count = next((q for q in after if q.kind.name in ("count", "wide_count")), None)
        datatype = next((q for q in after if q.kind.name == "datatype"), None)
        if p.name in self.unchecked or count is None or datatype is None or datatype.array or self.procedure.chapter not in (*COMMUNICATION, "datatype"):
            return
        if p.direction == "out" and self.procedure.name.startswith("MPI_Pack"):
            return
        amount = f"{count.name}, {self.array_size(count)}" if count.array else count.name
        if count.array and not self.array_size(count):
            return
        # One-sided calls to MPI_PROC_NULL take any buffer.
        to_target = any(q.kind.name == "target_rank" for q in self.parameters)
        tests = [f"is_special({p.name})", f"!may_be({p.name}, {amount}, *{datatype.name}_obj)"]
        if to_target:
            tests.insert(1, "target_rank != MPI_PROC_NULL")
        elif guard := self.guards.get(p.name):
            tests.insert(0, guard)
        self.steps.buffer.append(f"if ({' && '.join(tests)}) " + self.fail("bad_buffer", f'"{p.name}"', p.name))

    def same_memory(self):
        """The same address for both buffers where MPI_IN_PLACE would have been right, and where both count."""
        send, recv = "sendbuf", "recvbuf"
        both = sorted({g for g in map(self.guards.get, (send, recv)) if g and g != "root != MPI_PROC_NULL"})
        if "exscan" in self.procedure.name.lower():      # nothing is received by the first rank
            both.append(f"{self.on}->rank > 0")
        condition = " && ".join([f"{send} == {recv}", *both, f"overlap({self.side(send)}, {self.side(recv)})"])
        in_place = self.overlay.options["in_place"].partition("@")[0]
        self.steps.buffer.append(f"if ({condition}) " + self.fail("same_buffer", f'"{send}"', f'"{recv}"', f'"{in_place}"'))

    def side(self, buffer):
        """What lies in a buffer, as the next count and datatype behind it say."""
        names = [p.name for p in self.parameters]
        after = self.parameters[names.index(buffer) + 1:]
        count = next(p for p in after if p.kind.name == "count")
        datatype = next(p for p in after if p.kind.name == "datatype")
        displs = next((p for p in after[after.index(count):after.index(datatype)] if p.kind.name == "displ"), None)
        if datatype.array:
            return f"Side({datatype.name}, {count.name}, {displs.name}, {self.array_size(count)})"
        if displs:
            return f"Side({datatype.name}_obj, {count.name}, {displs.name}, {self.array_size(count)})"
        amount = f"{count.name}[{self.on}->rank]" if count.array else count.name    # of reduce_scatter, our piece
        return f"Side({datatype.name}_obj, {amount})"

    def result(self, p):
        """A variable of the caller for a result."""
        name, kind = p.name, p.kind.name
        if kind == "status" and p.direction == "out" or name in self.null_ok:
            return
        self.check(name, f"{name} == nullptr", "bad_null", f'"{name}"')
        if kind == "keyval":
            self.steps.local += [f"const int {name}_was = *{name};"] if p.direction == "inout" else []
            self.steps.store.append(f"give_up_key({name}_was);" if p.direction == "inout" else f"got_key({self.call}, *{name});")
        if self.narrows(p):
            start = f"*{name}" if p.direction == "inout" else "0"
            self.steps.local.append(f"MPI_Count {name}_wide = {start};")
            if "strict" in self.overlay.flags:
                self.steps.store.append(f"if ({name}_wide > INT_MAX) {self.fail('too_large', f'{chr(34)}{name}{chr(34)}', f'{name}_wide')}")
            self.steps.store.append(f"*{name} = narrow({name}_wide);")

    def narrows(self, p):
        return p.output and not p.array and p.kind.wide and p.kind.c == "int" and not self.large

    # --- the argument of the kernel's function --------------------------------------------------------------------------

    def argument(self, p):
        name, kind = p.name, p.kind.name
        if kind in OBJECTS and not p.array:
            if p.output:
                return f"&{name}_obj"
            pointer = kind in ("info", "request") or p.name in self.null_ok and kind != "file"
            return f"{name}_obj" if pointer else f"*{name}_obj"
        if p.kind.wide and p.array and p.direction == "in":
            return f"IntArray({name})"
        return f"&{name}_wide" if self.narrows(p) else name


def kernel_type(p, arguments):
    """The C++ type of the parameter that a kernel function has for `p`."""
    kind = p.kind.name
    if kind in OBJECTS and not p.array:
        if p.output:
            return f"{OBJECTS[kind]}**"
        return OBJECTS[kind] + ("*" if kind in ("info", "request") or p.name in arguments.null_ok and kind != "file" else "&")
    if p.kind.wide and p.array and p.direction == "in":
        return "IntArray"
    if p.kind.wide and p.kind.c != "-":
        return "MPI_Count" + ("*" if p.output else "")
    return None     # as in C


