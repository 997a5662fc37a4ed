"""Writes a program that calls every procedure which the kernel does, in both forms, with each argument wrong in turn in
every way that its kind allows, and holds the error class and the sentence against what the standard and README say.
Handles and keys that the call would have made have their null value afterwards; so they have after calls that the kernel
does not do.

  make_negative.py OUT
"""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings" / "gen"))
from c_types import c_name, declarator                   # noqa: E402
from table import read_table                             # noqa: E402

HEAD = r"""/* Made by tests/abi/make_negative.py. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static char room[1 << 16], name_room[] = "name";
static int ints[64];
static MPI_Count counts[64];
static MPI_Aint aints[64];
static char** argv_room;
static void* pointer;
static MPI_Comm a_comm, freed_comm;
static MPI_Group a_group, the_group;
static MPI_Info an_info, the_info, freed_info;
static MPI_Request a_request;
static MPI_Message a_message;
static MPI_Session a_session, the_session, freed_session;
static MPI_Datatype a_type, freed_type, raw_type, types[64];
static MPI_Op an_op, freed_op;
static MPI_Errhandler a_handler, freed_handler;
static MPI_Win a_win;
static MPI_File a_file;
static MPI_Status a_status, statuses[64];
static MPI_Request requests[64];
static void function(void) {}
static void on_op(void* a, void* b, int* n, MPI_Datatype* t) { (void)a, (void)b, (void)n, (void)t; }
static void on_error(MPI_Comm* c, int* e, ...) { (void)c, (void)e; }

typedef struct {
  const char *call, *argument, *mistake;
  int (*run)(void);
  int wanted;
  int (*left)(void); /* whether an output was left as it was */
} Case;
"""
MAIN = r"""
static void prepare(void) {
  /* Before the freed ones, whose storage they would take over. */
  MPI_Type_contiguous(2, MPI_INT, &raw_type);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &the_session);
  MPI_Comm_dup(MPI_COMM_SELF, &freed_comm);
  { MPI_Comm c = freed_comm; MPI_Comm_free(&c); }
  MPI_Info_create(&freed_info);
  { MPI_Info i = freed_info; MPI_Info_free(&i); }
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &freed_session);
  { MPI_Session s = freed_session; MPI_Session_finalize(&s); }
  MPI_Type_contiguous(2, MPI_INT, &freed_type);
  { MPI_Datatype t = freed_type; MPI_Type_free(&t); }
  MPI_Op_create(on_op, 1, &freed_op);
  { MPI_Op o = freed_op; MPI_Op_free(&o); }
  MPI_Comm_create_errhandler(on_error, &freed_handler);
  { MPI_Errhandler e = freed_handler; MPI_Errhandler_free(&e); }
}

/* What a call may have changed although it failed, or must not have been given back. */
static void set_up(void) {
  a_comm = MPI_COMM_SELF;
  a_group = the_group;
  an_info = the_info;
  a_session = the_session;
  a_type = MPI_INT;
  an_op = MPI_SUM;
  a_handler = MPI_ERRORS_RETURN;
  a_request = MPI_REQUEST_NULL;
  a_message = MPI_MESSAGE_NO_PROC;
  a_win = (MPI_Win)room;
  a_file = (MPI_File)room;
  ints[0] = 17;
  for (int i = 0; i < 64; i++) requests[i] = MPI_REQUEST_NULL, types[i] = MPI_INT;
}

int main(void) {
  int wrong = 0, cases = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_group(MPI_COMM_SELF, &a_group);
  MPI_Comm_group(MPI_COMM_SELF, &the_group);
  MPI_Info_create(&the_info);
  prepare();
  for (const Case* c = kCases; c->call; c++, cases++) {
    char text[MPI_MAX_ERROR_STRING] = "", wanted[128];
    int length = 0, error_class = -1;
    set_up();
    const int code = c->run();
    if (c->left && c->left()) {
      printf("%s with %s: an output is not null\n", c->call, c->mistake);
      wrong++;
    }
    MPI_Error_class(code, &error_class);
    MPI_Error_string(code, text, &length);
    snprintf(wanted, sizeof wanted, "%s", c->argument);
    if (error_class == c->wanted && strstr(text, wanted) && strstr(text, c->call)) continue;
    printf("%s with %s: class %d, not %d, and \"%s\"\n", c->call, c->mistake, error_class, c->wanted, text);
    wrong++;
  }
  MPI_Session_finalize(&the_session);
  MPI_Finalize();
  printf("%d cases, %d wrong\n", cases, wrong);
  return wrong != 0;
}
"""

# Kind -> a good argument. The address of a variable where the procedure writes.
GOOD = {"comm": "a_comm", "group": "a_group", "datatype": "a_type", "op": "an_op", "request": "a_request",
        "message": "a_message", "info": "an_info", "errhandler": "a_handler", "session": "a_session", "win": "MPI_WIN_NULL", "file": "MPI_FILE_NULL",
        "buffer": "room", "memory": "&pointer", "string": "name_room", "status": "&a_status"}
HANDLES = {   # kind -> class, null handle, a constant of another kind, a freed handle
    "comm": ("MPI_ERR_COMM", "MPI_COMM_NULL", "(MPI_Comm)MPI_INT", "freed_comm"),
    "group": ("MPI_ERR_GROUP", "MPI_GROUP_NULL", "(MPI_Group)MPI_INT", None),
    "datatype": ("MPI_ERR_TYPE", "MPI_DATATYPE_NULL", "(MPI_Datatype)MPI_SUM", "freed_type"),
    "op": ("MPI_ERR_OP", "MPI_OP_NULL", "(MPI_Op)MPI_INT", "freed_op"),
    "errhandler": ("MPI_ERR_ERRHANDLER", "MPI_ERRHANDLER_NULL", "(MPI_Errhandler)MPI_INT", "freed_handler"),
    "info": ("MPI_ERR_INFO", "MPI_INFO_NULL", "(MPI_Info)MPI_INT", "freed_info"),
    "win": ("MPI_ERR_WIN", "MPI_WIN_NULL", "(MPI_Win)MPI_INT", None),
    "file": ("MPI_ERR_FILE", "MPI_FILE_NULL", "(MPI_File)MPI_INT", None),
    "session": ("MPI_ERR_SESSION", "MPI_SESSION_NULL", "(MPI_Session)MPI_INT", "freed_session"),
}
NUMBERS = {   # kind -> [(value, class)]
    "count": [("-1", "MPI_ERR_COUNT")], "bytes": [("-1", "MPI_ERR_COUNT")], "wide_count": [("-1", "MPI_ERR_COUNT")],
    "aint_size": [("-1", "MPI_ERR_SIZE")],
    "tag": [("-1", "MPI_ERR_TAG"), ("MPI_ANY_TAG", "MPI_ERR_TAG")], "any_tag": [("-99", "MPI_ERR_TAG")],
    "dest": [("1", "MPI_ERR_RANK"), ("-99", "MPI_ERR_RANK"), ("MPI_ANY_SOURCE", "MPI_ERR_RANK")],
    "source": [("1", "MPI_ERR_RANK"), ("-99", "MPI_ERR_RANK")],
    "root": [("1", "MPI_ERR_ROOT"), ("-99", "MPI_ERR_ROOT"), ("MPI_ROOT", "MPI_ERR_ROOT")],
}
COMMUNICATION = ("pt2pt", "coll", "neighbor", "partitioned")
# Not called: what they do cannot be undone, or what is wrong is found out by a return value only.
LEFT_OUT = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Abort", "MPI_Pcontrol", "MPI_Session_init")


def good(p, large):
    kind = p.kind.name
    if p.array and "," in p.length:
        return "(void*)ints"
    if p.array:
        base = p.kind.c_large if large else p.kind.c
        return {"int": "ints", "MPI_Count": "counts", "MPI_Aint": "aints", "MPI_Datatype": "types",
                "MPI_Request": "requests", "MPI_Status": "statuses", "MPI_Status*": "statuses"}.get(base, "(void*)room")
    if kind == "function":
        return "(void*)function"
    if kind == "argv":
        return "argv_room" if p.direction == "in" else "&argv_room"
    if kind in ("win", "file") and p.output:
        return f"&a_{kind}"
    if kind in HANDLES or kind in ("request", "message"):
        return ("&" if p.output else "") + GOOD[kind]
    if kind in GOOD:
        return GOOD[kind] if kind != "string" or not p.output else "room"
    if p.output or "pointer" in p.flags:
        return {"int": "ints", "MPI_Count": "counts", "MPI_Aint": "aints"}.get(
            p.kind.c_large if large else p.kind.c, "(void*)room")
    if kind in ("attribute", "attribute1", "state", "state1", "state_ptr", "object", "boolean"):
        return "room"
    return "1" if kind == "length_min1" else "0"


def sized(p, parameters):
    first = (p.length or "").split(",")[0]
    return first if first != "comm" and any(q.name == first for q in parameters) else None


def mistakes(p, procedure, parameters):
    """(expression, other arguments that go with it, class, part of the sentence, what it is)"""
    options = procedure.overlay.options
    null_ok = options.get("null_ok", "").split(",") + options.get("unchecked", "").split(",")
    kind = p.kind.name
    said = f"argument {p.name} is"
    if kind == "varargs" or p.name in options.get("unchecked", "").split(","):
        return
    if p.array:
        size = sized(p, parameters)
        if size and p.name not in null_ok and kind != "status":
            yield "NULL", {size: "1"}, "MPI_ERR_ARG", f"argument {p.name}", "a null pointer"
        return
    if kind in HANDLES or kind in ("request", "message"):
        if p.output:
            if p.name not in null_ok:
                yield "NULL", {}, "MPI_ERR_ARG", said, "a null pointer"
            if p.direction == "out" or kind not in HANDLES:
                return
        elif kind not in HANDLES:
            return
        error, null, foreign, freed = HANDLES[kind]
        may_be_null = p.name in null_ok or kind == "info" and procedure.chapter != "info"
        # Of no items the datatype may be null.
        before = parameters[:parameters.index(p)]
        counts = [q.name for q in before if kind == "datatype" and q.kind.name in ("count", "wide_count") and not q.array]
        some = {counts[-1]: "1"} if counts else {}
        for value, what in ((None if may_be_null else null, "the null handle"), (foreign, "another kind's handle"),
                            (freed, "a freed handle")):
            if value is None:
                continue
            if p.direction == "inout":
                yield f"&(struct {{ MPI_{c_kind(p)} h; }}){{{value}}}.h", {}, error, said, what
            else:
                yield value, some, error, said, what
        if kind == "datatype" and procedure.chapter in COMMUNICATION:
            yield "raw_type", {}, "MPI_ERR_TYPE", said, "a datatype that is not committed"
        return
    if kind == "buffer":
        after = parameters[parameters.index(p) + 1:]
        count = next((q for q in after if q.kind.name in ("count", "wide_count")), None)
        if procedure.chapter == "pt2pt" and count is not None and not count.array and \
                any(q.kind.name == "datatype" for q in after):
            yield "NULL", {count.name: "1"}, "MPI_ERR_BUFFER", said, "a null pointer"
        return
    if p.output:
        if not (kind == "status" or p.name in null_ok):
            yield "NULL", {}, "MPI_ERR_ARG", said, "a null pointer"
        return
    if kind in ("string", "function") and p.name not in null_ok:
        yield "NULL", {}, "MPI_ERR_ARG", said, "a null pointer"
    if kind == "length":
        yield "-1", {}, "MPI_ERR_COUNT" if "count" in p.name else "MPI_ERR_ARG", said, "-1"
    for value, error in NUMBERS.get(kind, ()):
        yield value, {}, error, said, value


NULLS = {"comm": "a_comm != MPI_COMM_NULL", "group": "a_group != MPI_GROUP_NULL", "datatype": "a_type != MPI_DATATYPE_NULL",
         "op": "an_op != MPI_OP_NULL", "request": "a_request != MPI_REQUEST_NULL", "message": "a_message != MPI_MESSAGE_NULL",
         "info": "an_info != MPI_INFO_NULL", "errhandler": "a_handler != MPI_ERRHANDLER_NULL",
         "session": "a_session != MPI_SESSION_NULL", "win": "a_win != MPI_WIN_NULL", "file": "a_file != MPI_FILE_NULL",
         "keyval": "ints[0] != MPI_KEYVAL_INVALID"}


def left(number, parameters, wrong):
    """The function that tells whether an output other than `wrong` was left, and its name."""
    outputs = [NULLS[p.kind.name] for p in parameters if p.direction == "out" and not p.array and p is not wrong and p.kind.name in NULLS]
    if not outputs:
        return "", "0"
    return f"static int left_{number}(void) {{ return {' || '.join(outputs)}; }}\n", f"left_{number}"


def c_kind(p):
    return p.kind.c.removeprefix("MPI_")


def cases(table):
    number = 0
    for procedure in table.procedures.values():
        overlay = procedure.overlay
        if "raw" in overlay.flags or not procedure.in_abi or procedure.name in LEFT_OUT:
            continue
        if procedure.chapter == "tool":
            continue                                     # return values, no error handlers: tests of their own
        if not overlay.calls:
            parameters = procedure.form(False)
            number += 1
            function, name = left(number, parameters, None)
            arguments = ", ".join(good(q, False) for q in parameters if q.kind.name != "varargs")
            if function and procedure.returns_error:
                yield (f"static int case_{number}(void) {{ return {procedure.name}({arguments}); }}\n{function}",
                       f'  {{"{procedure.name}", "", "good arguments", case_{number}, MPI_ERR_UNSUPPORTED_OPERATION, {name}}},\n')
            continue
        for large in (False, True) if procedure.large else (False,):
            parameters = procedure.form(large)
            lone = next((p for p in parameters if p.kind.name in ("win", "file") and not p.output), None)
            for p in [lone] if lone else parameters:  # no window or file is had to go with what else may be wrong
                for value, others, error, said, what in mistakes(p, procedure, parameters):
                    arguments = [value if q is p else others.get(q.name, good(q, large))
                                 for q in parameters if q.kind.name != "varargs"]
                    number += 1
                    call = c_name(procedure, large)
                    function, name = left(number, parameters, p)
                    yield (f"static int case_{number}(void) {{ return {call}({', '.join(arguments)}); }}\n{function}",
                           f'  {{"{call}", "{said}", "{p.name}: {what}", case_{number}, {error}, {name}}},\n')


def main(out):
    functions, rows = zip(*cases(read_table(ROOT / "bindings" / "api")))
    table = "static const Case kCases[] = {\n" + "".join(rows) + "  {0, 0, 0, 0, 0, 0}};\n"
    Path(out).write_text(HEAD + "\n" + "".join(functions) + "\n" + table + MAIN)


if __name__ == "__main__":
    main(sys.argv[1])
