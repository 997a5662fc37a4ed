"""Text for the man(7) macros."""
import re


def escape(text):
    """Plain text: a backslash is one, and no line is taken for a macro."""
    text = text.replace("\\", "\\e")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def code(text):
    """Text that is typed as it stands: its hyphens and quotes are those of ASCII."""
    return escape(text).replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")


def prose(text, names=()):
    """Sentences: each begins a line, as roff wants it to know their ends; names of calls, parameters of the library and
    constants are bold, and so is what stands in backticks; `names` of arguments are italic."""
    text = re.sub(r"`[^`]+`", lambda typed: typed[0].replace(" ", "\0"), text)
    sentences = re.sub(r"([.!?])\s+(?=[A-Z0-9\"(])", r"\1\n", " ".join(text.split())).split("\n")
    lines = []
    for sentence in sentences:
        current = ""
        for word in sentence.split():
            word = marked(word, names)
            if current and len(current) + 1 + len(word) > 78:
                lines.append(current)
                current = word
            else:
                current = f"{current} {word}" if current else word
        lines.append(current)
    return "\n".join(re.sub(r"^([.'])", r"\\&\1", line) for line in lines)


def marked(word, names):
    if "`" in word:
        pieces = re.split(r"`([^`]+)`", word)
        return "".join(f"\\fB{code(p)}\\fP" if i % 2 else plain(p) for i, p in enumerate(pieces)).replace("\0", " ")
    core = re.match(r"[(\"]*(P?MPI_\w+|[a-z]+(?:\.[a-z_]+)+(?:=\w+)?)", word)
    if core:
        start, end = core.span(1)
        return f"{plain(word[:start])}\\fB{code(core[1])}\\fP{plain(word[end:])}"
    bare = word.strip(".,;:()")
    return word.replace(bare, f"\\fI{code(bare)}\\fP", 1) if bare in names else plain(word)


def plain(word):
    return word.replace("\\", "\\e")


def heading(title, section, date, source, manual):
    return f'.TH "{code(title.upper())}" "{section}" "{date}" "{source}" "{manual}"\n'


def part(title, *lines):
    return f".SH {title}\n" + "\n".join(line.rstrip("\n") for line in lines) + "\n"


def example(text):
    # An empty line, or one that begins with a blank, would be a request.
    lines = ["\\ " if not line else ("" if line[0] != " " else "\\&") + code(line) for line in text.splitlines()]
    return ".EX\n" + "\n".join(lines) + "\n.EE"


def tagged(tag, text):
    return f".TP\n{tag}\n{text}"
