"""What follows from the kind of an argument in a C entry point of the Fortran interface: its C declaration, what is made
of it before the call, what it is in the call, and what goes back to the program.

The functions and macros that the lines use are those of bindings/fortran/entry.h. An INTEGER has 4 or 8 bytes: f_int. With
8 bytes a procedure with a large form calls that one, so that counts pass unchanged: their type is f_count, f_displ or
f_bytes, which is what the called form has.
"""
from dataclasses import dataclass, field

from fortran import HANDLES, parameters

# How a handle is converted: F_COMM(value) and F_COMM_INT(handle).
NULLS = {"datatype": "MPI_DATATYPE_NULL"}
WIDE_TYPES = {("int", "MPI_Count"): "f_count", ("int", "MPI_Aint"): "f_displ", ("MPI_Aint", "MPI_Count"): "f_bytes"}
# Output strings without a length of their own in the table.
LENGTHS = {"key": "MPI_MAX_INFO_KEY", "datarep": "MPI_MAX_DATAREP_STRING"}


@dataclass
class Steps:
    """The lines of one entry point, in the order in which they come."""
    declared: list = field(default_factory=list)    # C parameters
    lengths: list = field(default_factory=list)     # hidden lengths of strings
    before: list = field(default_factory=list)
    opened: list = field(default_factory=list)      # buffers, after everything that describes them
    arguments: list = field(default_factory=list)
    hooks: list = field(default_factory=list)       # what requests have pending
    always: list = field(default_factory=list)      # after the call, whatever it said
    after: list = field(default_factory=list)       # after a call that succeeded
    release: list = field(default_factory=list)


def null(kind):
    return NULLS.get(kind.name, f"MPI_{kind.name.upper()}_NULL")


def calls_small(procedure):
    """Whether the small form calls C's small form with 8-byte INTEGER too: where the large one has other arguments."""
    return any("large_only" in p.flags or p.kind.name == "function" for p in procedure.parameters)


class Entry:
    """Works out the steps of one procedure in one form."""

    def __init__(self, procedure, large, typed=False):
        self.procedure, self.large, self.typed = procedure, large, typed
        self.steps = Steps()
        self.parameters = parameters(procedure, large)
        self.root = next((p for p in self.parameters if p.kind.name == "root"), None)
        self.comm = next((p for p in self.parameters if p.kind.name == "comm" and p.direction == "in"), None)
        self.life = "F_PERSISTENT" if procedure.name.endswith("_init") else "F_ONCE"
        self.request = next((p for p in self.parameters if p.kind.name == "request" and p.direction == "out"), None)
        for p in procedure.form(large):
            if p in self.parameters:
                self.add(p)
            elif p.kind.name in ("int", "argv"):     # argc, argv
                self.steps.arguments.append("0" if p.kind.name == "int" and not p.output else "NULL")
        self.pending()

    # --- types and lengths ---------------------------------------------------------------------------------------------

    def wide(self, p):
        """The C type of an argument that goes as it is; "" where ints are converted."""
        if p.kind.wide and self.large:
            return p.kind.c_large
        if p.kind.wide and not calls_small(self.procedure):
            return WIDE_TYPES[p.kind.c, p.kind.c_large]
        return "" if p.kind.c == "int" else p.kind.c

    def value(self, name):
        p = next(q for q in self.parameters if q.name == name)
        return f"F_INT(*{name})" if self.wide(p) == "" else f"*{name}"

    def items(self, p):
        """How many elements an array has, in C."""
        length = p.options.get("items", p.length)
        if length == "comm":
            return f"f_peers(c_{self.comm.name})"
        if length in ("indegree", "outdegree") and not any(q.name == length for q in self.parameters):
            return f"f_{length}(c_{self.comm.name})"
        if length == "ndims(comm)":
            return f"f_ndims(c_{self.comm.name})"
        if "(" in length:      # last(indx,nnodes), total(degrees,n)
            function, _, rest = length.partition("(")
            array, n = rest.rstrip(")").split(",")
            return f"f_{function}({array}, {self.value(n)})"
        if "," in length:
            n, factor = length.split(",")
            return f"{factor} * (MPI_Count){self.value(n)}"
        return self.value(length)

    def only_at_root(self, p, text):
        return f"if (f_is_root(c_{self.comm.name}, F_INT(*{self.root.name}))) {text}" if "root" in p.flags and self.root else text

    # --- kinds ---------------------------------------------------------------------------------------------------------

    def add(self, p):
        kind = p.kind.name
        s = self.steps
        if kind == "buffer":
            self.buffer(p)
        elif kind == "memory":
            self.memory(p)
        elif kind in HANDLES:
            self.handles(p) if p.array else self.handle(p)
        elif kind == "logical":
            self.logicals(p) if p.array else self.logical(p)
        elif kind in ("string", "strings", "string_lists"):
            getattr(self, kind)(p)
        elif kind == "status":
            self.status(p)
        elif kind == "boolean":
            s.declared.append(f"f_logical* {p.name}")
            s.arguments.append(p.name)
        elif self.wide(p):
            s.declared.append(f"{self.wide(p)}* {p.name}")
            s.arguments.append(p.name if p.array or p.output else f"*{p.name}")
        elif p.array:
            self.ints(p)
        elif self.procedure.name in ("MPI_Info_get_string", "MPI_Session_get_nth_pset") and p.direction == "inout":
            s.declared.append(f"f_int* {p.name}")      # with the string that follows
            s.arguments.append(f"&c_{p.name}")
        else:
            self.int(p)

    def int(self, p):
        s = self.steps
        s.declared.append(f"f_int* {p.name}")
        if not p.output:
            s.arguments.append(f"F_INT(*{p.name})")
            return
        s.before.append(f"int c_{p.name} = {'MPI_UNDEFINED' if 'one_based' in p.flags else f'F_INT(*{p.name})'};")
        s.arguments.append(f"&c_{p.name}")
        s.always.append(f"*{p.name} = {f'F_FROM_ONE(c_{p.name})' if 'one_based' in p.flags else f'c_{p.name}'};")

    def ints(self, p):
        s = self.steps
        s.declared.append(f"f_int* {p.name}")
        weights = p.kind.name == "int" and "pointer" in p.flags
        codes = p.kind.name == "errorcode"
        special = f"f_weights({p.name})" if weights else f"f_errcodes({p.name})" if codes else "F_NONE"
        macro = "F_INTS_OUT" if p.direction == "out" and not codes else "F_INTS_IN"
        n = self.items(p)
        if "root" in p.flags or codes:
            n = f"f_is_root(c_{self.comm.name}, F_INT(*{self.root.name})) ? {n} : 0"
        if codes:      # on all ranks, and the root alone knows how many
            n = f"f_from_root(c_{self.comm.name}, F_INT(*{self.root.name}), {n})"
        s.before.append(f"{macro}(c_{p.name}, {p.name}, {n}, {special});")
        s.arguments.append(f"{f'(int(*)[{p.length[-1]}])' if ',' in p.length else ''}c_{p.name}")
        if "one_based" in p.flags:
            count = next(q.name for q in self.parameters if q.name == "outcount")
            s.always.append(f"F_EACH(i, c_{count}) c_{p.name}[i] = F_FROM_ONE(c_{p.name}[i]);")
            s.always.append(f"F_INTS_BACK(c_{p.name}, {p.name}, c_{count});")
        elif codes:    # they say most when the call fails
            s.always.append(f"F_INTS_BACK(c_{p.name}, {p.name}, n_c_{p.name});")
        elif p.output:
            s.after.append(f"F_INTS_BACK(c_{p.name}, {p.name}, n_c_{p.name});")
        s.release.append(f"F_INTS_LEAVE(c_{p.name});")

    def handle(self, p):
        s, kind, name = self.steps, p.kind, p.name
        convert = f"f_{kind.name}"
        s.declared.append(f"f_int* {name}")
        pointer = p.output or "pointer" in p.flags
        if not pointer:
            if p is self.comm:
                s.before.insert(0, f"const MPI_Comm c_{name} = f_comm(*{name});")
                s.arguments.append(f"c_{name}")
            else:
                s.arguments.append(f"{convert}(*{name})")
            return
        if p.direction == "out" and "async" in p.flags:
            s.before.append(f"struct f_late_comm* const late = f_late_comm({name}, &code);")
            s.arguments.append("&late->comm")
            s.always.append(f"f_late_comm_keep(late, c_{self.request.name}, code);")
            return
        given = null(kind) if p.direction == "out" else f"{convert}(*{name})"
        s.before.append(f"{kind.c} c_{name} = {given};")
        s.arguments.append(f"&c_{name}")
        if p.output:
            s.always.append(f"*{name} = {convert}_int(c_{name});")

    def handles(self, p):
        s, kind, name = self.steps, p.kind, p.name
        convert = f"f_{kind.name}"
        s.declared.append(f"f_int* {name}")
        n = self.items(p)
        if "root" in p.flags:
            n = f"f_is_root(c_{self.comm.name}, F_INT(*{self.root.name})) ? {n} : 0"
        elif name == "sendtypes":
            n = f"c_sendbuf == MPI_IN_PLACE ? 0 : {n}"
        if p.direction == "out":
            s.before += [f"F_ROOM({kind.c}, c_{name}, {n});", f"memset(c_{name}, 0, (size_t)n_c_{name} * sizeof *c_{name});"]
            s.after.append(f"F_EACH(i, n_c_{name}) if (c_{name}[i]) {name}[i] = {convert}_int(c_{name}[i]);")
        else:
            where = s.opened if name in ("sendtypes", "recvtypes") else s.before
            kept = "_KEPT" if self.request else ""
            where += [f"F_ROOM{kept}({kind.c}, c_{name}, {n});", f"F_EACH(i, n_c_{name}) c_{name}[i] = {convert}({name}[i]);"]
        if p.direction == "inout":
            s.always.append(f"F_EACH(i, n_c_{name}) {name}[i] = {convert}_int(c_{name}[i]);")
        s.arguments.append(f"c_{name}")
        if self.request:
            s.release.append(f"F_LEAVE_TO(c_{name}, c_{self.request.name}, {self.life});")
        else:
            s.release.append(f"F_LEAVE(c_{name});")

    def logical(self, p):
        s = self.steps
        s.declared.append(f"f_logical* {p.name}")
        if not p.output:
            s.arguments.append(f"F_TRUTH(*{p.name})")
            return
        s.before.append(f"int c_{p.name} = 0;")
        s.arguments.append(f"&c_{p.name}")
        s.after.append(f"*{p.name} = F_LOGICAL(c_{p.name});")

    def logicals(self, p):
        s = self.steps
        s.declared.append(f"f_logical* {p.name}")
        s.before.append(f"F_ROOM(int, c_{p.name}, {self.items(p)});")
        s.arguments.append(f"c_{p.name}")
        if p.direction == "in":
            s.before.append(f"F_EACH(i, n_c_{p.name}) c_{p.name}[i] = F_TRUTH({p.name}[i]);")
        else:      # MPI_Cart_get writes as many as there are dimensions
            s.after.append(f"F_EACH(i, f_least(n_c_{p.name}, f_ndims(c_{self.comm.name}))) {p.name}[i] = F_LOGICAL(c_{p.name}[i]);")
        s.release.append(f"F_LEAVE(c_{p.name});")

    def status(self, p):
        s, name = self.steps, p.name
        s.declared.append(f"f_int* {name}")
        if p.array:
            s.before.append(f"F_STATUSES_OPEN(c_{name}, {name}, {self.items(p)});")
            s.always.append(f"F_STATUSES_CLOSE(c_{name}, {name});")
        else:
            s.before.append(f"F_STATUS_OPEN(c_{name}, {name});")
            if p.output:
                s.always.append(f"F_STATUS_CLOSE(c_{name}, {name});")
        s.arguments.append(f"c_{name}")

    def memory(self, p):
        s, name = self.steps, p.name
        s.declared.append(f"void* {name}")
        if p.options.get("f90") != "buffer":
            s.arguments.append(name)
            return
        s.before.append(f"void* c_{name} = NULL;")
        s.arguments.append(f"&c_{name}")
        s.after.append(f"f_store_detached({name}, c_{name});" if self.typed else f"(void){name};")

    # --- strings -------------------------------------------------------------------------------------------------------

    def string(self, p):
        s, name = self.steps, p.name
        s.declared.append(f"char* {name}")
        s.lengths.append(f"f_length {name}_length")
        s.arguments.append(f"c_{name}")
        if p.output:
            self.string_out(p)
            return
        both = p.options.get("blanks") == "both"
        length = f"{name}_length"
        if "root" in p.flags:
            length = f"f_is_root(c_{self.comm.name}, F_INT(*{self.root.name})) ? {length} : 0"
        s.before.append(f"F_STRING(c_{name}, {name}, {length}, {'F_BOTH_ENDS' if both else 'F_END'});")
        s.release.append(f"F_LEAVE(c_{name});")

    def string_out(self, p):
        s, name = self.steps, p.name
        flag = next((q.name for q in self.parameters if q.kind.name == "logical" and q.output), "")
        if self.procedure.name in ("MPI_Info_get_string", "MPI_Session_get_nth_pset"):
            length = next(q.name for q in self.parameters if q.direction == "inout")
            s.before += [f"int c_{length} = f_asked(F_INT(*{length}), {name}_length);", f"F_ROOM(char, c_{name}, (MPI_Count)c_{length} + 1);"]
            found = f"c_{flag} && " if flag else ""
            s.after += [f"if ({found}F_INT(*{length}) > 0) f_string_out({name}, {name}_length, c_{name});",
                        f"{f'if (c_{flag}) ' if flag else ''}*{length} = c_{length} - 1;"]
            s.release.append(f"F_LEAVE(c_{name});")
        elif p.length and not p.length.startswith("MPI_"):
            s.before.append(f"F_ROOM(char, c_{name}, (MPI_Count)f_items({self.value(p.length)}) + 1);")
            s.after.append(f"if (c_{flag}) f_string_out({name}, {name}_length, c_{name});")
            s.release.append(f"F_LEAVE(c_{name});")
        else:
            s.before.append(f"char c_{name}[{p.length or LENGTHS[name]} + 1];")
            s.after.append(f"f_string_out({name}, {name}_length, c_{name});")

    def strings(self, p):
        s, name = self.steps, p.name
        s.declared.append(f"char* {name}")
        s.lengths.append(f"f_length {name}_length")
        many = f"F_INT(*{p.length})" if p.length != "*" else "-1"
        s.before += [f"char** c_{name} = MPI_ARGV_NULL;", self.only_at_root(p, f"c_{name} = f_strings({name}, {name}_length, {many}, &code);")]
        s.arguments.append(f"c_{name}")
        s.release.append(f"free(c_{name});")

    def string_lists(self, p):
        s, name = self.steps, p.name
        s.declared.append(f"char* {name}")
        s.lengths.append(f"f_length {name}_length")
        s.before += [f"char*** c_{name} = MPI_ARGVS_NULL;",
                     self.only_at_root(p, f"c_{name} = f_string_lists({name}, {name}_length, F_INT(*{p.length}), &code);")]
        s.arguments.append(f"c_{name}")
        s.release.append(f"f_free_string_lists(c_{name}, {self.value(p.length)});")

    # --- choice buffers -------------------------------------------------------------------------------------------------

    def buffer(self, p):
        s, name = self.steps, p.name
        s.declared.append(f"void* {name}")
        function = "f_attached" if "attach_buffer" in self.procedure.name.lower() or "Buffer_attach" in self.procedure.name else "f_address"
        if self.procedure.name == "MPI_Free_mem":
            s.arguments.append(name)
            return
        s.opened.append(f"void* const c_{name} = {function}({name});")
        s.arguments.append(f"c_{name}")

    # --- requests -------------------------------------------------------------------------------------------------------

    def pending(self):
        """What the requests of a completing call have pending; c_indices count from zero here."""
        name = self.procedure.name
        given = next((p for p in self.parameters if p.kind.name == "request" and p.direction != "out"), None)
        if self.procedure.chapter != "request" or not given or name in ("MPI_Cancel", "MPI_Grequest_complete"):
            return
        s, c = self.steps, f"c_{given.name}"
        n, handles = (f"n_{c}", c) if given.array else ("1", f"&{c}")
        if not given.array and given.direction == "in":
            s.before.append(f"MPI_Request {c} = f_request(*{given.name});")
        s.before.append(f"F_TAKE(taken, {handles}, {n});")
        if name.startswith("MPI_Start"):
            s.before.append(f"f_start(taken, {n});")
        s.hooks += [*self.completed(name, c, n, given.array), f"f_give_back(taken, {handles}, {n});"]

    def completed(self, name, c, n, array):
        names = [p.name for p in self.parameters]
        if name.startswith("MPI_Start"):
            return []
        if name == "MPI_Request_free":
            return [f"f_forget(taken, {n});"]
        if "array_of_indices" in names:
            return ["F_EACH(i, c_outcount) f_complete(taken, c_array_of_indices[i]);"]
        if "indx" in names:
            flag = " && c_flag" if "flag" in names else ""
            return [f"if (c_indx >= 0{flag}) f_complete(taken, c_indx);"]
        done = "c_flag" if "flag" in names else "code == MPI_SUCCESS"
        if array:
            return [f"F_EACH(i, {n}) if ({done} || {c}[i] == MPI_REQUEST_NULL) f_complete(taken, i);"]
        return [f"if ({done} || {c} == MPI_REQUEST_NULL) f_complete(taken, 0);"]
