"""The sections of the standard, bindings/api/sections.txt: which one defines a call, and which numbers there are."""
import re
from dataclasses import dataclass, field

from table import TableError


@dataclass
class Sections:
    titles: dict = field(default_factory=dict)      # "3.2.1" -> "Blocking Send"
    of_call: dict = field(default_factory=dict)     # "MPI_Send" -> "3.2.1"

    def cite(self, name):
        """The sentence with which the page of `name` refers to the standard."""
        number = self.of_call[name]
        return f"MPI 5.0, {'section' if '.' in number else 'chapter'} {number}, {self.titles[number]}."


def follows(number, before):
    """Whether the table may have `number` after `before`: the next section of a level, or the first one below."""
    parts, last = [int(n) for n in number.split(".")], [int(n) for n in before.split(".")]
    if len(parts) > len(last):
        return parts == last + [1]
    return parts[:-1] == last[:len(parts) - 1] and parts[-1] == last[len(parts) - 1] + 1


def read_sections(path):
    sections, number = Sections(), ""
    for at, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{path.name}:{at}"
        if not line or line.startswith("#"):
            continue
        if line.startswith("  "):
            for name in line.split():
                if not number or name in sections.of_call:
                    raise TableError(f"{where}: {name} is defined by one section, and this is another")
                sections.of_call[name] = number
        elif match := re.fullmatch(r"(\d+(?:\.\d+){0,2}) (\S.*)", line):
            if number and not follows(match[1], number):
                raise TableError(f"{where}: after section {number} comes none with the number {match[1]}")
            number = match[1]
            sections.titles[number] = match[2]
        else:
            raise TableError(f"{where}: expected 'NUMBER TITLE', or names of calls behind two spaces")
    return sections


def check_calls(sections, procedures):
    """Every procedure has its section, and no section has a name that is not in the table."""
    for name in sorted(set(procedures) ^ set(sections.of_call)):
        raise TableError(f"sections.txt: {name} " + ("is not there" if name in procedures else "is no procedure of the table"))
