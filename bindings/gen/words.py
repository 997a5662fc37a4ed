"""The words of the manual: reads bindings/words. The form of the files: bindings/words/README.md."""
import fnmatch
import re
from dataclasses import dataclass, field

from table import TableError


@dataclass
class Entry:
    """What the manual says of one call."""
    brief: str
    text: str = ""
    kin: list = field(default_factory=list)     # names of the calls that are described beside it


@dataclass
class Words:
    entries: dict               # by name
    arguments: dict             # "name", "name:kind", "name@chapter", "name@MPI_Call", ":kind"
    notes: list                 # (key, text, patterns)
    errors: list                # (class, id of the message, condition, patterns): those that a call finds while it works
    used: set = field(default_factory=set)      # keys of arguments that were asked for

    def argument(self, procedure, parameter):
        """What `parameter` of `procedure` is: the most particular line counts."""
        name = parameter.name
        for key in (f"{name}@{procedure.name}", f"{name}@{procedure.chapter}", f"{name}:{parameter.kind.name}", name,
                    f":{parameter.kind.name}/{parameter.direction}", f":{parameter.kind.name}"):
            if key in self.arguments:
                self.used.add(key)
                return self.arguments[key]
        raise TableError(f"{procedure.name}: nothing says what argument '{name}' ({parameter.kind.name}) is")

    def notes_of(self, name):
        """One note of each kind, in the order of the file."""
        found = {}
        for key, text, patterns in self.notes:
            if key not in found and any(fnmatch.fnmatchcase(name, p) for p in patterns):
                found[key] = text
        return list(found.values())


    def errors_of(self, name):
        """class -> conditions."""
        found = {}
        for cls, _, condition, patterns in self.errors:
            if any(fnmatch.fnmatchcase(name, p) for p in patterns):
                found.setdefault(cls, []).append(condition)
        return found


def lines_of(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            yield f"{path.name}:{number}", line.rstrip()


def read_calls(path, entries):
    current, kin = None, []
    for where, line in lines_of(path):
        if line.startswith("  "):
            if current is None:
                raise TableError(f"{where}: a sentence before any call")
            current.text = f"{current.text} {line.strip()}".strip()
        elif line.startswith("group "):
            kin = []
        elif match := re.fullmatch(r"(MPI_\w+): (\S.*)", line):
            if match[1] in entries:
                raise TableError(f"{where}: {match[1]} is described twice")
            current = entries[match[1]] = Entry(match[2], kin=kin)
            kin.append(match[1])
        else:
            raise TableError(f"{where}: expected 'group ...' or 'MPI_Call: line under NAME'")


def read_arguments(path):
    arguments = {}
    for where, line in lines_of(path):
        key, _, text = line.partition(" ")
        if not text.strip() or key in arguments:
            raise TableError(f"{where}: expected 'name meaning', once for each name")
        arguments[key] = text.strip()
    return arguments


def read_notes(path):
    """A note goes on in lines that do not begin with MPI_; the others are its patterns."""
    notes = []
    for where, line in lines_of(path):
        if match := re.fullmatch(r"note (\w+): (\S.*)", line):
            notes.append([match[1], match[2], []])
        elif not notes or not line.startswith("  "):
            raise TableError(f"{where}: expected 'note KIND: text'")
        elif re.fullmatch(r"\s+(?:MPI_\S+\s*)+", line) and not line.rstrip().endswith("."):
            notes[-1][2] += line.split()
        else:
            notes[-1][1] += " " + line.strip()
    return [tuple(note) for note in notes]


def read_errors(path):
    errors = []
    for where, line in lines_of(path):
        if match := re.fullmatch(r"error (MPI_(?:T_)?ERR_\w+) ([a-z][\w.]*|-): (\S.*)", line):
            errors.append((*match.groups(), []))
        elif errors and re.fullmatch(r"\s+(?:MPI_\S+\s*)+", line):
            errors[-1][3].extend(line.split())
        else:
            raise TableError(f"{where}: expected 'error CLASS ID: condition' or names of calls")
    return errors


def read_words(folder):
    entries = {}
    for path in sorted(folder.glob("*.words")):
        if path.stem not in ("arguments", "notes", "errors"):
            read_calls(path, entries)
    return Words(entries, read_arguments(folder / "arguments.words"), read_notes(folder / "notes.words"),
                 read_errors(folder / "errors.words"))
