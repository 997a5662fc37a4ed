#!/usr/bin/env python3
"""Holds config/messages.yaml against the code: every id used exists, every id is used, facts match, every failure of ours
is a message of the catalogue, and its reason is in the Status and nowhere else.

usage: check_messages.py SOURCE_FOLDER
       check_messages.py --self-test

A use is fail(class, "some.id", {{"fact", value}, ...}) or catalogue::message("some.id", {...}); a component's is
ashlar_fail_with(host, class, "some.id", facts, count). The facts of `says` are given there; those of `because` and
`try` there or by add_facts() of a level above. A fact that no text shows is one of the record's fields, or a mistake.
"""
import pathlib
import re
import sys

FIELDS = {"argument", "value", "peer", "peer_host", "tag", "bytes_wanted", "bytes_got", "component", "lower"}
# Where foreign sentences become failures: a component's own words, and ids that do not exist.
MACHINERY = {"framework/base/status.cc", "framework/base/failure.cc", "framework/plugin/component.h",
             "framework/plugin/host.cc"}


def balanced(text, start):
    """The text from the bracket at `start` to the one that closes it; string literals are skipped."""
    depth, at = 0, start
    while at < len(text):
        if text[at] == '"':
            at = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, at).end()
            continue
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            return text[start:at]
    return text[start:]


def code_of(text):
    """The text with its comments blanked, so that examples in them are no uses."""
    blank = lambda m: m[0] if m[0][0] in "\"'" else re.sub(r"[^\n]", " ", m[0])
    return re.sub(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|//[^\n]*|/\*.*?\*/', blank, text, flags=re.S)


def arguments_of(inside):
    """The arguments of a call, split at its commas."""
    parts, depth, begin, at = [], 0, 1, 0
    while at < len(inside):
        if inside[at] == '"':
            at = re.compile(r'"(?:[^"\\]|\\.)*"').match(inside, at).end()
            continue
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(inside[at], 0)
        if inside[at] == "," and depth == 1:
            parts.append(inside[begin:at].strip())
            begin = at + 1
        at += 1
    return parts + [inside[begin:-1].strip()]


def facts_of(text, before=""):
    """The names of facts in `text`: written out there, or those of the variables (Fact wanted("kind", kind)) `before` it."""
    names = set(re.findall(r'\{\s*"([a-z_0-9]+)"\s*,', text))
    listed = text[text.find("{") + 1:text.rfind("}")]
    alone = "," + re.sub(r"\{[^{}]*\}", "", listed) + ","  # without the facts that are written out
    for variable in re.findall(r"(?<=[{,])\s*([a-z_]\w*)\s*(?=[,}])", alone):
        if found := re.findall(rf'\b{variable}[({{]"([a-z_0-9]+)",', before):
            names.add(found[-1])
    return names


def contract_facts(text, before):
    """The names in the table of ashlar_fact that a component gives to fail_with()."""
    table = re.search(r"&?([a-z_]\w*)", text)
    at = before.rfind(f"ashlar_fact {table[1]}") if table else -1
    return set(re.findall(r'\{(?:\.name = )?"([a-z_0-9]+)"', before[at:before.index(";", at)])) if at >= 0 else set()


def uses(text):
    """(line, id, facts) of each use."""
    for call in re.finditer(r"(?:(?<![\w.>:])(?:ashlar::|catalogue::)?(?:fail|(message))|\bashlar_fail_with)(\()", text):
        parts = arguments_of(balanced(text, call.start(2)))
        at = 0 if call[1] else 2 if "fail_with" in call[0] else 1
        if len(parts) > at and (found := re.fullmatch(r'"([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+)"', parts[at])):
            line = text.count("\n", 0, call.start()) + 1
            given = contract_facts if "fail_with" in call[0] else facts_of
            yield line, found[1], given(",".join(parts[at + 1:]), text[:call.start()])


def added(text):
    """The facts that levels above add."""
    for call in re.finditer(r"\badd_facts(\()", text):
        yield from facts_of(balanced(text, call.start(1)))


def literal_sentences(path, text):
    """The lines on which a failure of ours is made of a sentence in the code."""
    if path in MACHINERY:
        return
    for call in re.finditer(r"\bStatus::fail(?:_text)?\(|host->fail\(", text):
        yield text.count("\n", 0, call.start()) + 1


def reasons_beside(text):
    """The lines on which a function gives the reason of its failure beside its result, and not as a Status."""
    for parameter in re.finditer(r"\bstd::string\s*[*&]\s*(?:why|error|reason|problem|mistake|fault)\s*[,)=]", text):
        const = text[:parameter.start()].rstrip().endswith("const")
        if not const:
            yield text.count("\n", 0, parameter.start()) + 1


def check(known, files):
    mistakes, used = [], set()
    above = set().union(*(added(text) for text in files.values()))
    for path, text in files.items():
        for line in literal_sentences(path, text):
            mistakes.append(f"{path}:{line}: a failure without a message of the catalogue; see fail() of base/failure.h")
        for line in reasons_beside(text):
            mistakes.append(f"{path}:{line}: a reason in an out-parameter; a function that fails returns a Status")
        for line, name, facts in uses(text):
            place = f"{path}:{line}"
            used.add(name)
            if name not in known:
                mistakes.append(f"{place}: there is no message {name}")
                continue
            needed, optional = known[name]
            for fact in sorted(needed - facts):
                mistakes.append(f"{place}: {name} needs the fact {fact}")
            for fact in sorted(facts - needed - optional - FIELDS):
                mistakes.append(f"{place}: {name} has no place for the fact {fact}")
    given = {}
    for path, text in files.items():
        for _, name, facts in uses(text):
            given.setdefault(name, set()).update(facts)
    for name, (_, optional) in sorted(known.items()):
        if name not in used:
            mistakes.append(f"config/messages.yaml: {name} is not used")
        for fact in sorted(optional - given.get(name, set()) - above) if name in used else ():
            mistakes.append(f"config/messages.yaml: no use of {name} gives the fact {fact}, so a sentence is never shown")
    return mistakes, used


def self_test():
    known = {"a.b": ({"x"}, {"y"}), "c.d": (set(), set())}
    good = {"f.cc": 'return fail(1, "a.b", {{"x", f(1, "{")}, {"tag", 2}}); add_facts(s, {{"y", 1}}); message("c.d", {});'}
    assert check(known, good) == ([], {"a.b", "c.d"}), check(known, good)
    named = {"f.cc": 'const Fact a("x", 1), b("y", 2);\nfail(1, "a.b", {a, b}); fail(2, "c.d");'}
    assert check(known, named) == ([], {"a.b", "c.d"}), check(known, named)
    table = {"f.cc": 'ashlar_fact known[] = {{.name = "x"}, {.name = "y"}};\nashlar_fail_with(h, 1, "a.b", known, 2); fail(1, "c.d");'}
    assert check(known, table) == ([], {"a.b", "c.d"}), check(known, table)
    plain = {"f.cc": table["f.cc"].replace(".name = ", "")}
    assert check(known, plain) == ([], {"a.b", "c.d"}), check(known, plain)
    bad = {"f.cc": code_of('// fail(1, "no.such")\nfail(1, "a.b", {{"z", 1}});\nashlar::fail(2, "e.f");')}
    mistakes, _ = check(known, bad)
    assert mistakes == ["f.cc:2: a.b needs the fact x", "f.cc:2: a.b has no place for the fact z",
                        "f.cc:3: there is no message e.f",
                        "config/messages.yaml: no use of a.b gives the fact y, so a sentence is never shown",
                        "config/messages.yaml: c.d is not used"], mistakes
    literal = {"components/x.cc": 'return Status::fail(1, "a sentence"); fail(1, "a.b", {{"x", 1}, {"y", 2}}); fail(1, "c.d");'}
    assert check(known, literal)[0] == ["components/x.cc:1: a failure without a message of the catalogue; see fail() of "
                                        "base/failure.h"], check(known, literal)
    beside = {"mpiexec/x.h": "bool open(const std::string& reason,\n          std::string* why);\n" + good["f.cc"]}
    assert check(known, beside)[0] == ["mpiexec/x.h:2: a reason in an out-parameter; a function that fails returns a "
                                       "Status"], check(known, beside)
    print("the check finds what it is for")


def main(folder):
    root = pathlib.Path(folder)
    sys.path.insert(0, str(root / "config"))
    import messages  # noqa: E402
    known = {m["id"]: messages.facts(m) for m in messages.parse((root / "config/messages.yaml").read_text())}
    files = {}
    for part in ("framework", "components", "mpiexec", "bindings"):
        for path in sorted((root / part).rglob("*")):
            name = str(path.relative_to(root))
            if path.suffix in (".cc", ".h"):
                files[name] = code_of(path.read_text())
    mistakes, used = check(known, files)
    if not used:
        mistakes.append("no use of the catalogue was found: has its form changed?")
    print("\n".join(mistakes) or f"{len(used)} messages match the code")
    sys.exit(bool(mistakes))


if __name__ == "__main__":
    self_test() if sys.argv[1] == "--self-test" else main(sys.argv[1])
