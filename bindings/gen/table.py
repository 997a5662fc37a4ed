"""The API table: reads bindings/api into plain objects. The form of the files: bindings/api/README.md."""
import re
from dataclasses import dataclass, field
from pathlib import Path


class TableError(Exception):
    """A line of the table that cannot be understood; says file and line."""


@dataclass(frozen=True)
class Kind:
    """What a parameter is: its C type and Fortran type in the small and in the large form."""
    name: str
    c: str
    c_large: str
    f08: str
    f08_large: str

    @property
    def wide(self):
        """Whether the large form has another C type."""
        return self.c != self.c_large


@dataclass
class Parameter:
    name: str
    kind: Kind
    direction: str = "in"
    length: str = ""            # "", "count", "comm" (one per rank of the remote group), "*", "n,3"
    flags: set = field(default_factory=set)
    options: dict = field(default_factory=dict)

    @property
    def array(self):
        return bool(self.length) and self.kind.name not in ("string", "memory")

    @property
    def output(self):
        return self.direction != "in"


@dataclass
class Procedure:
    name: str
    chapter: str
    parameters: list
    flags: set
    options: dict
    callback: bool = False
    overlay: "Overlay" = None

    @property
    def large(self):
        return "large" in self.flags

    @property
    def in_abi(self):
        return not self.callback and self.options.get("abi") != "no"

    @property
    def returns(self):
        """The C result; error codes are int."""
        value = self.options.get("returns", "int")
        return "int" if value == "int_value" else value

    @property
    def returns_error(self):
        return "returns" not in self.options

    @property
    def deprecated(self):
        return self.options.get("deprecated")

    def form(self, large):
        """The parameters of the small or of the large form."""
        return [p for p in self.parameters if large or "large_only" not in p.flags]


@dataclass
class Overlay:
    """What the kernel does for a procedure: the part of the table that the standard does not know."""
    calls: str = ""
    header: str = ""
    flags: set = field(default_factory=set)
    options: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Constant:
    name: str
    value: str
    type: str
    group: str
    alias: bool = False
    deprecated: str = ""

    @property
    def enumeration(self):
        return self.type[len("enumeration "):] if self.type.startswith("enumeration ") else ""


@dataclass
class Table:
    kinds: dict
    constants: list
    procedures: dict            # by name, chapters in alphabetical order
    callbacks: dict
    predefined_functions: dict  # MPI_COMM_DUP_FN -> callback type
    removed: "Table" = None     # names of older versions of the standard, outside of the ABI

    def chapters(self):
        names = []
        for procedure in self.procedures.values():
            if procedure.chapter not in names:
                names.append(procedure.chapter)
        return names

    def entry_points(self):
        """(procedure, large) of every function of the ABI, in the order of the table."""
        for procedure in self.procedures.values():
            if procedure.in_abi:
                yield procedure, False
                if procedure.large:
                    yield procedure, True


def lines_of(path):
    """(where, text) of the lines of a file that are not blank or comments."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.split("#", 1)[0].rstrip()
        if text:
            yield f"{path.name}:{number}", text


def split_attributes(words, where, flags, options):
    """Sorts words into flags (`hot`) and options (`calls=p2p::send`); both sets of names are closed."""
    found_flags, found_options = set(), {}
    for word in words:
        key, sign, value = word.partition("=")
        if sign and key in options and value:
            found_options[key] = value
        elif not sign and key in flags:
            found_flags.add(key)
        else:
            raise TableError(f"{where}: unknown attribute '{word}'")
    return found_flags, found_options


def read_kinds(path):
    kinds = {}
    for where, text in lines_of(path):
        cells = re.fullmatch(r"(\w+)\s+(\S+)\s+(\S+)\s+(-|[A-Z].*?)\s+(-|INTEGER\S*)", text)
        if not cells:
            raise TableError(f"{where}: expected the five columns of a kind")
        name, c, c_large, f08, f08_large = cells.groups()
        kinds[name] = Kind(name, c, c if c_large == "-" else c_large, f08, f08 if f08_large == "-" else f08_large)
    return kinds


def read_constants(path):
    constants, group, kind = [], "", ""
    for where, text in lines_of(path):
        if heading := re.fullmatch(r"\[(.+): (.+)\]", text):
            group, kind = heading.groups()
            continue
        name, value, *rest = text.split()
        alias = value == "="
        if alias:
            value, *rest = rest
        _, options = split_attributes(rest, where, (), ("type", "deprecated"))
        constants.append(Constant(name, value, options.get("type", kind), group, alias, options.get("deprecated", "")))
    return constants


PROCEDURE_FLAGS = ("large",)
PROCEDURE_OPTIONS = ("returns", "deprecated", "abi", "fortran", "c")
PARAMETER_FLAGS = ("in", "out", "inout", "const", "async", "root", "large_only", "pointer", "nointent", "positive", "byvalue",
                   "per_peer", "one_based")
PARAMETER_OPTIONS = ("type", "fortran_name", "fortran", "items", "blanks", "f90")
OVERLAY_FLAGS = ("hot", "anytime", "raw", "strict")
OVERLAY_OPTIONS = ("calls", "calls_c", "null_ok", "unchecked", "in_place")


def read_parameter(text, where, kinds):
    name, kind, *rest = text.split()
    shape = re.fullmatch(r"(\w+)(?:\[([\w*,]+)\])?", name)
    if not shape or kind not in kinds:
        raise TableError(f"{where}: expected 'name kind ...', not '{text.strip()}'")
    flags, options = split_attributes(rest, where, PARAMETER_FLAGS, PARAMETER_OPTIONS)
    direction = next((d for d in ("in", "out", "inout") if d in flags), "in")
    return Parameter(shape[1], kinds[kind], direction, shape[2] or "", flags - {"in", "out", "inout"}, options)


def read_chapter(path, kinds, table):
    current = None
    for where, text in lines_of(path):
        if text.startswith(" "):
            if current is None:
                raise TableError(f"{where}: a parameter before any procedure")
            current.parameters.append(read_parameter(text, where, kinds))
            continue
        word, name, *rest = text.split()
        if word == "predefined":
            table.predefined_functions[name] = rest[0]
            continue
        if word not in ("proc", "callback"):
            raise TableError(f"{where}: expected proc, callback or predefined, not '{word}'")
        flags, options = split_attributes(rest, where, PROCEDURE_FLAGS, PROCEDURE_OPTIONS)
        into = table.callbacks if word == "callback" else table.procedures
        if name in into:
            raise TableError(f"{where}: {name} is in the table twice")
        current = into[name] = Procedure(name, path.stem, [], flags, options, word == "callback", Overlay())


def read_overlay(path, table):
    """One line per procedure: `MPI_Send calls=p2p::send hot`; `header X` says where the following targets are declared."""
    header = ""
    for where, text in lines_of(path):
        name, *rest = text.split()
        if name == "header":
            header = rest[0]
            continue
        if name not in table.procedures:
            raise TableError(f"{where}: no procedure {name} in the table")
        flags, options = split_attributes(rest, where, OVERLAY_FLAGS, OVERLAY_OPTIONS)
        calls = options.pop("calls", "")
        table.procedures[name].overlay = Overlay(calls, header if calls else "", flags, options)


def read_table(folder):
    folder = Path(folder)
    kinds = read_kinds(folder / "kinds.txt")
    table = Table(kinds, read_constants(folder / "constants.txt"), {}, {}, {})
    for path in sorted(folder.glob("*.api")):
        read_chapter(path, kinds, table)
    for path in sorted(folder.glob("*.calls")):
        read_overlay(path, table)
    table.removed = read_removed(folder / "removed", table)
    return table


def read_removed(folder, table):
    """The names that the standard once had: a table of their own over the same kinds and callbacks."""
    removed = Table(table.kinds, [], {}, table.callbacks, {})
    if folder.is_dir():
        removed.constants = read_constants(folder / "constants.txt")
        read_chapter(folder / "removed.api", table.kinds, removed)
        read_overlay(folder / "removed.calls", removed)
    return removed
