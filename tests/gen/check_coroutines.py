#!/usr/bin/env python3
"""Holds the coroutines of this tree to the forms that g++ 12 translates correctly.

    check_coroutines.py ROOT [FILE...]      checks the C++ files below framework/ and components/ (or those named)
    check_coroutines.py --self-test         checks the checker

The rules, each with the name it is reported by:
  stands-alone   co_await is a whole statement: `co_await gate;`, `st = co_await gate;` or `Status st = co_await gate;`,
                 and what it awaits is a plain name
  place          coroutines are written only in framework/coll, components/coll, framework/io and framework/comm
  lambda         no lambda in a function that awaits, and so no lambda coroutine
  guard          no lock or guard object in a function that awaits
  thread-local   no thread_local or static local in a function that awaits
  no-owner       no local that owns memory or an object (string, vector, unique_ptr, Ref, function ...): a frame is given
                 back, not destroyed
  yield          co_yield does not occur
  destroy        .destroy() of a coroutine does not occur
  symmetric      await_suspend returns void
  promise        every promise_type declares a constructor
"""
import pathlib
import re
import sys

PLACES = ("framework/coll/", "components/coll/", "framework/io/", "framework/comm/")
OWNERS = re.compile(r"\b(std::(?:string|vector|deque|map|unordered_map|set|function|unique_ptr|shared_ptr|optional|any|"
                    r"lock_guard|unique_lock|scoped_lock)|Ref|RequestOwner)\s*(?:<[^;{}]*>)?\s+\w+\s*[;({=]")
GUARDS = re.compile(r"\b(LaneGuard|std::(?:lock_guard|unique_lock|scoped_lock|shared_lock))\b")
AWAIT = re.compile(r"(?:(?:const\s+)?(?:[A-Za-z_][\w:]*\s+)?[A-Za-z_]\w*\s*=\s*)?co_await\s+[A-Za-z_]\w*\s*;")


def without_comments(text):
    """The text with comments and literals blanked, so that line numbers and columns stay."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def functions(text):
    """Yields (start, end) of every outermost function body: braces that follow a parameter list."""
    depth_of_function, depth, start = None, 0, 0
    for match in re.finditer(r"[{}]", text):
        if match[0] == "{":
            before = text[:match.start()].rstrip()
            opens = re.search(r"\)\s*(?:const|noexcept|override|final|mutable|ASHLAR_\w+(?:\([^()]*\))?|->\s*[\w:<>*& ]+|\s)*$",
                              before) is not None
            if depth_of_function is None and opens:
                depth_of_function, start = depth, match.start()
            depth += 1
        else:
            depth -= 1
            if depth_of_function is not None and depth == depth_of_function:
                yield start, match.end()
                depth_of_function = None


def check(path, text):
    """Yields (line, rule, what) for each fault."""
    plain = without_comments(text)

    def line(at):
        return plain.count("\n", 0, at) + 1

    for match in re.finditer(r"\bco_yield\b", plain):
        yield line(match.start()), "yield", "co_yield"
    for match in re.finditer(r"\b(?:handle_?|h|self|coroutine)\s*\.\s*destroy\s*\(", plain):
        yield line(match.start()), "destroy", match[0]
    for match in re.finditer(r"([\w:<>]+)\s+(?:\w+::)?await_suspend\s*\(", plain):
        if match[1] not in ("void", "return"):
            yield line(match.start()), "symmetric", f"await_suspend returns {match[1]}"
    for match in re.finditer(r"\bstruct\s+(Promise|promise_type)\b[^;{]*\{", plain):
        if not re.search(rf"\b{match[1]}\s*\(", plain[match.end():]):
            yield line(match.start()), "promise", f"{match[1]} declares no constructor"

    keywords = list(re.finditer(r"\bco_(?:await|return)\b", plain))
    if keywords and path is not None and not path.startswith(PLACES):
        yield line(keywords[0].start()), "place", "a coroutine"
    for match in re.finditer(r"\bco_await\b", plain):
        # The statement begins behind the last ; { } or : of a label, or behind a comment.
        begin = max(plain.rfind(c, 0, match.start()) for c in ";{}") + 1
        end = plain.find(";", match.start()) + 1
        if not AWAIT.fullmatch(plain[begin:end].strip()):
            yield line(match.start()), "stands-alone", " ".join(plain[begin:end].split())
    for start, end in functions(plain):
        body = plain[start:end]
        if not re.search(r"\bco_(?:await|return)\b", body):
            continue
        for rule, pattern in (("guard", GUARDS), ("no-owner", OWNERS),
                              ("thread-local", re.compile(r"\bthread_local\b|\bstatic\s+(?!_cast|_assert|constexpr)\w")),
                              ("lambda", re.compile(r"(?<![\w\])])\[[^\[\]]*\]\s*(?:\([^()]*\)|\{)[^;]*\{?"))):
            for match in pattern.finditer(body):
                yield line(start + match.start()), rule, " ".join(match[0].split())[:60]


GOOD = """
Co f(Op& op, const Call& call) {
  Gate gate;  // not co_await (in a comment)
  Status st = co_await gate;
  if (!st.ok()) co_return st;
  parts[1] = 2;
  st = co_await gate;
  co_await gate;
  co_return st;
}
Status g() { const LaneGuard guard(lock); return {}; }
"""
BAD = {
    "stands-alone": ["Co f() { if ((co_await g).ok()) co_return s; }", "Co f() { use(co_await g); co_return s; }",
                     "Co f() { switch (co_await g) {} co_return s; }", "Co f() { auto [a, b] = co_await g; co_return s; }",
                     "Co f() { int v[] = {co_await g}; co_return s; }", "Co f() { co_return co_await g; }",
                     "Co f() { st = co_await h(g); co_return s; }", "Co f() { if (x) st = co_await g; co_return s; }"],
    "lambda": ["Co f() { auto x = [&] { return 1; }; st = co_await g; co_return s; }",
               "Status f() { auto x = [](Op& op) -> Co { co_return s; }; }"],
    "guard": ["Co f() { const LaneGuard guard(l); st = co_await g; co_return s; }"],
    "thread-local": ["Co f() { thread_local int x; co_return s; }", "Co f() { static int x; co_return s; }"],
    "no-owner": ["Co f() { std::vector<int> v(3); st = co_await g; co_return s; }",
                 "Co f() { Ref<Comm> keep = share(c); co_return s; }"],
    "yield": ["Co f() { co_yield 1; }"],
    "destroy": ["void f() { handle.destroy(); }"],
    "symmetric": ["std::coroutine_handle<> await_suspend(H) { return h; }", "bool await_suspend(H) { return true; }"],
    "promise": ["struct promise_type { int x; };"],
}


def self_test():
    faults = list(check("framework/coll/x.cc", GOOD))
    assert not faults, faults
    for rule, texts in BAD.items():
        for text in texts:
            found = [f[1] for f in check("framework/coll/x.cc", text)]
            assert rule in found, f"{rule} not found in: {text} (found {found})"
    assert [f[1] for f in check("framework/p2p/x.cc", GOOD)] == ["place"]
    print("check_coroutines: the rules are found where they are broken, and only there")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1])
    files = [root / f for f in sys.argv[2:]] or sorted(
        f for top in ("framework", "components", "mpiexec") for f in (root / top).rglob("*") if f.suffix in (".h", ".cc"))
    faults, seen = 0, 0
    for file in files:
        text = file.read_text(encoding="utf-8")
        seen += "co_await" in text
        for line, rule, what in check(str(file.relative_to(root)), text):
            print(f"{file}:{line}: {rule}: {what}")
            faults += 1
    if faults:
        sys.exit(f"{faults} faults; the rules: tests/gen/check_coroutines.py")
    if not sys.argv[2:] and seen == 0:
        sys.exit("no coroutine found: is this the root of the tree?")
    print(f"check_coroutines: {seen} files with coroutines are in order")


if __name__ == "__main__":
    main()
