#!/usr/bin/env python3
"""Holds documentation and comments to the tree: a file or folder that they name exists.

    check_paths.py ROOT        checks every Markdown page, and the comments of every source file
    check_paths.py --self-test checks the checker

In a page, a link's target is a path beside the page, and its #anchor is a heading there. A word in backticks, or in a
picture (a block of ```text), is taken for a path when it ends as a source file does, or has a slash and begins with a
folder of the tree. It is looked for at the root, beside the page, and (when it stands without its folder) by its last
parts anywhere. {a,b} and * stand for several. Words with a part in capitals (DIR, NAME) stand for anything, and those
below share/, lib/ and the like are of an installation: neither is looked for.
In a source file, what begins with a folder of the tree and a slash is a path when it ends as a source file does; in a
comment of C++, every word that ends as a header or a source file does. The sources of these tests are left out, as they
name files that do not exist. A file that the build makes is there as FILE.in.
"""
import itertools
import pathlib
import re
import sys

ENDINGS = "h|cc|c|cpp|py|sh|md|yaml|cmake|json|conf|toml|f90|in|rules|txt"
PATH = re.compile(r"[\w.*{},+-]+(?:/[\w.*{},+-]+)*/?")
SOURCES = {".h", ".cc", ".c", ".py", ".sh", ".yaml", ".cmake", ".txt", ".in", ".md"}
# Files of users, of other libraries, and of the MPI standard.
ELSEWHERE = {"CMakeLists.txt", "ashlar.yaml", "mpif.h"}
INSTALLED = ("include/ashlar/", "lib/", "share/", "bin/", "build")
PLACEHOLDER = re.compile(r"(?:^|[/_])[A-Z]{2,}(?=[/_.]|$)")


def braces(word):
    """a.{h,cc} -> a.h, a.cc"""
    parts = [part.split(",") for part in re.split(r"\{([^{}]*)\}", word)[1::2]]
    plain = re.split(r"\{[^{}]*\}", word)
    for choice in itertools.product(*parts):
        yield "".join(a + b for a, b in itertools.zip_longest(plain, choice, fillvalue=""))


class Tree:
    """The files and folders below a root, but for what a build or an installation made."""

    def __init__(self, paths):
        self.paths = set(paths)
        for path in list(self.paths):
            self.paths.update(str(p) for p in pathlib.PurePosixPath(path).parents if str(p) != ".")
        self.tops = {p.split("/")[0] for p in self.paths if "/" in p}
        self.tails = {}
        for path in self.paths:
            self.tails.setdefault(path.rsplit("/", 1)[-1], []).append(path)

    @staticmethod
    def at(root):
        found = []
        for top in sorted(root.iterdir()):
            if top.name.startswith((".", "build", "install")):
                continue
            found += [top] if top.is_file() else [p for p in top.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
        return Tree(str(p.relative_to(root)) for p in found)

    def one(self, word, folder):
        word = word.rstrip("/")
        if "*" in word:
            pattern = re.compile(r"(?:.*/)?" + ".*".join(map(re.escape, word.split("*"))))
            return any(pattern.fullmatch(p) for p in self.paths)
        for base in (folder, ""):
            if resolve(base, word) in self.paths:
                return True
        # Without its folder: only what no top folder begins may stand for itself.
        if "/" in word and word.split("/")[0] in self.tops:
            return False
        return any(p.endswith("/" + word) for p in self.tails.get(word.rsplit("/", 1)[-1], ()))

    def has(self, word, folder):
        return all(self.one(w, folder) for w in braces(word))


def resolve(folder, word):
    parts = []
    for part in (folder + "/" + word).split("/"):
        if part == "..":
            if not parts:
                return "(outside)"
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def without_blocks(text):
    """A page with its blocks of ``` blanked, so that lines and columns stay."""
    return re.sub(r"^```.*?^```", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S | re.M)


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", without_blocks(text), re.M)
    return {re.sub(r"[^\w\- ]", "", h.strip().lower()).replace(" ", "-") for h in headings}


def is_path(tree, word):
    plain = re.sub(r"(?:README|CONTRIBUTING|LICENSE)(?:\.md)?$", "x", word)
    if not PATH.fullmatch(word) or PLACEHOLDER.search(plain) or word.startswith(INSTALLED) or \
            word.rsplit("/", 1)[-1] in ELSEWHERE:
        return False
    if re.fullmatch(rf".*\.(?:{ENDINGS}|\{{(?:{ENDINGS})(?:,(?:{ENDINGS}))*\}})", word):
        return True
    return "/" in word and word.split("/")[0] in tree.tops


def page(tree, path, text, read):
    """Yields (line, what is named) for each name of a page that stands for nothing."""
    folder = path.rpartition("/")[0]
    plain = without_blocks(text)

    def line(at):
        return text.count("\n", 0, at) + 1

    for match in re.finditer(r"\]\(([^)\s]+)\)", plain):
        if re.match(r"[a-z]+:", match[1]):
            continue
        target, _, anchor = match[1].partition("#")
        to = resolve(folder, target) if target else path
        if target and to not in tree.paths:
            yield line(match.start()), match[1]
        elif anchor and anchor not in anchors(read(to)):
            yield line(match.start()), match[1]
    for match in re.finditer(r"`([^`\n]+)`", plain):
        for word in match[1].split():
            if is_path(tree, word) and not tree.has(word, folder):
                yield line(match.start()), word
    for block in re.finditer(r"^```text\n(.*?)^```", text, flags=re.S | re.M):
        for match in re.finditer(r"(?<![\w./-])[\w/{},*-]+\.(?:h|cc|c|py|\{[\w,]+\})(?![\w*./])", block[1]):
            if is_path(tree, match[0]) and not tree.has(match[0], folder):
                yield line(block.start(1) + match.start()), match[0]


def source(tree, path, text):
    """Yields (line, what is named) for each path from the root that a source file names and the tree has not."""
    tops = "|".join(sorted(map(re.escape, tree.tops)))
    if path.endswith((".h", ".cc")):
        for comment in re.finditer(r"//[^\n]*|/\*.*?\*/", text, flags=re.S):
            for match in re.finditer(r"(?<![\w./<-])[\w/]+\.(?:h|cc)\b(?![\w*./])", comment[0]):
                if is_path(tree, match[0]) and not tree.has(match[0], path.rpartition("/")[0]):
                    yield text.count("\n", 0, comment.start() + match.start()) + 1, match[0]
    for match in re.finditer(rf"(?<![\w./$}}<>*-])(?:{tops})/[\w./{{}},+-]*\.(?:{ENDINGS})\b(?![\w*])", text):
        if is_path(tree, match[0]) and not tree.has(match[0], path.rpartition("/")[0]) and match[0] + ".in" not in tree.paths:
            yield text.count("\n", 0, match.start()) + 1, match[0]


def self_test():
    tree = Tree(["docs/a.md", "README.md", "framework/base/x.h", "framework/base/x.cc", "framework/base/README.md"])
    texts = {"docs/a.md": "# One `two`\n"}

    def found(text, path="docs/b.md"):
        return [what for _, what in page(tree, path, text, texts.get)]

    good = ("[a](a.md) [b](a.md#one-two) [c](../framework/base) [d](https://x.org/y) `framework/base/x.{h,cc}` `x.h` "
            "`base/x.h` `framework/*/x.cc` `a/b` `DIR/x` `MPI_Send` `framework/NAME/x.h` `share/gone.txt`\n"
            "```sh\ncat framework/gone.h\n```\n```text\nx.h -> base/x.cc, e.g. stdio)\n```\n")
    assert not found(good), found(good)
    for bad, what in (("[a](gone.md)", "gone.md"), ("[a](a.md#three)", "a.md#three"), ("[a](../../x)", "../../x"),
                      ("`framework/base/y.h`", "framework/base/y.h"), ("`y.h`", "y.h"),
                      ("`x.{h,c}`", "x.{h,c}"), ("`framework/gone`", "framework/gone"), ("`gone*.h`", "gone*.h"),
                      ("```text\ny.h --> x.cc\n```\n", "y.h")):
        assert found(bad) == [what], (bad, found(bad))
    assert found("`x.h`", "framework/base/README.md") == []
    assert list(page(tree, "a.md", "\n```text\n\n```\n`y.h`\n", texts.get)) == [(5, "y.h")]
    assert [w for _, w in source(tree, "framework/base/x.cc", '#include "framework/base/x.h"\n// see framework/gone/z.h.')] == \
        ["framework/gone/z.h"]
    assert [w for _, w in source(tree, "framework/base/x.cc", "int x;  // x.h, not <gone.h>, and\n// gone.h\n")] == ["gone.h"]
    print("check_paths: names that stand for nothing are found, and only those")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1])
    tree = Tree.at(root)
    read = lambda p: (root / p).read_text(encoding="utf-8") if (root / p).is_file() else ""
    faults, pages, sources = 0, 0, 0
    for path in sorted(p for p in tree.paths if pathlib.Path(p).suffix in SOURCES and (root / p).is_file()):
        if path.startswith("tests/gen/"):
            continue
        text = read(path)
        named = list(source(tree, path, text))
        sources += 1
        if path.endswith(".md"):
            named += page(tree, path, text, read)
            pages += 1
        for line, what in sorted(set(named)):
            print(f"{path}:{line}: {what}: there is no such file, folder or heading")
            faults += 1
    if faults or not pages or not sources:
        sys.exit(f"check_paths: {faults} names of files that are not there, in {pages} pages and {sources} files")
    print(f"check_paths: what {pages} pages and {sources} files name is there")


if __name__ == "__main__":
    main()
