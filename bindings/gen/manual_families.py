"""Words that follow from other words: forms of one operation that differ in when they return, where they read, or which
handles they convert."""
import re

from words import Entry

OBJECTS = {"Comm": "communicator", "Errhandler": "error handler", "File": "file", "Group": "group", "Info": "info object",
           "Message": "message", "Op": "reduction operation", "Request": "request", "Session": "session", "Type": "datatype",
           "Win": "window"}
CONVERSIONS = {
    "c2f": ("convert the handle of {a} from C to Fortran", "Gives the integer that Fortran's modules use for this {b}."),
    "f2c": ("convert the handle of {a} from Fortran to C", "Gives C's handle of the {b} that Fortran's integer stands for."),
    "toint": ("turn the handle of {a} into an integer", "Gives an integer that MPI_{c}_fromint turns back."),
    "fromint": ("turn an integer into the handle of {a}", "Takes the integer of MPI_{c}_toint."),
}


def article(noun):
    return ("an " if noun[0] in "aeiou" else "a ") + noun


def conversion(name):
    match = re.fullmatch(r"MPI_([A-Z][a-z]+)_(c2f|f2c|toint|fromint)", name)
    if not match or match[1] not in OBJECTS:
        return None
    brief, text = CONVERSIONS[match[2]]
    facts = {"a": article(OBJECTS[match[1]]), "b": OBJECTS[match[1]], "c": match[1]}
    words = text.format(**facts)
    if match[2] in ("c2f", "f2c"):
        words += " Defined in mpi.h: a program that uses it needs no Fortran library."
    back = {"c2f": "f2c", "f2c": "c2f", "toint": "fromint", "fromint": "toint"}[match[2]]
    return Entry(brief.format(**facts), words, [f"MPI_{match[1]}_{back}"])


def collective(name, entries):
    """MPI_Iallreduce and MPI_Allreduce_init, from MPI_Allreduce."""
    if name.endswith("_init"):
        base = name.removesuffix("_init")
        if base not in entries:
            return None
        return Entry(f"make a persistent request: {entries[base].brief}", f"The persistent form of {base}: makes a request with its "
                     f"arguments, and each MPI_Start does the operation once. {entries[base].text}",
                     [base, nonblocking(base), "MPI_Start", "MPI_Request_free"])
    base = "MPI_" + name.removeprefix("MPI_I").capitalize() if name.startswith("MPI_I") else ""
    if base not in entries:
        return None
    return Entry(f"start: {entries[base].brief}", f"The nonblocking form of {base}. {entries[base].text}",
                 [base, base + "_init"])


def nonblocking(base):
    return "MPI_I" + base.removeprefix("MPI_").lower()


PLACES = {
    "": ("at the process's file pointer", "The file pointer moves behind the data."),
    "at": ("at a given place", "The file pointer is neither used nor moved."),
    "shared": ("at the shared file pointer", "The shared file pointer moves behind the data; calls of several processes take their "
               "turns in any order."),
    "ordered": ("at the shared file pointer, in the order of the ranks", "As if the processes called MPI_File_{verb}_shared one after "
                "another."),
}


def access(name):
    """MPI_File_iwrite_at_all, MPI_File_read_ordered_begin, ..."""
    match = re.fullmatch(r"MPI_File_(i?)(read|write)(?:_(at|shared|ordered))?(_all)?(?:_(begin|end))?", name)
    if not match:
        return None
    start, verb, place, together, half = match.groups()
    where, what = PLACES[place or ""]
    direction = "from" if verb == "read" else "to"
    brief = f"{verb} {direction} a file {where}" + (", all processes together" if together else "")
    text = ("Reads items of datatype from what the process sees of the file. " if verb == "read" else
            "Writes items of datatype to what the process sees of the file. ") + what.format(verb=verb)
    if together:
        text += " All processes of the file call it, so that the library can join their accesses."
    if start:
        brief, text = "start: " + brief, "Nonblocking. " + text
    if half == "begin":
        brief, text = "begin: " + brief, "The first half of a split collective access: the buffer must not be touched until " \
            f"{name.removesuffix('begin')}end. " + text
    if half == "end":
        brief, text = "end: " + brief, f"The second half of what {name.removesuffix('end')}begin has begun: waits until it is complete."
    other = name.replace("read", "write") if verb == "read" else name.replace("write", "read")
    kin = [other, "MPI_File_set_view", f"MPI_File_{verb}", f"MPI_File_{verb}_at", f"MPI_File_{verb}_all"]
    if half:
        kin.append(name.removesuffix(half) + ("end" if half == "begin" else "begin"))
    return Entry(brief, text, [k for k in kin if k != name])


def derived(name, entries):
    return conversion(name) or access(name) or collective(name, entries)
