"""A list in a page that a script writes and a test holds against what the library says."""


def keep(path, text, begin, new, write, nouns, command):
    """Holds what follows `begin` in `text` of the page `path` against `new`, or with `write` puts `new` there.

    `nouns`: what the list is of, and what it is compared with. Returns 0, or what is wrong, in words.
    """
    head, found, old = text.partition(begin)
    if write:
        path.write_text(head + begin + new)
        return 0
    if not found:
        return f"{path} has no list of {nouns[0]}"
    if old == new:
        return 0
    have, want = set(old.splitlines()), set(new.splitlines())
    for line in sorted(want - have):
        print("missing: ", line)
    for line in sorted(have - want):
        print("obsolete:", line)
    return f"{path} and the {nouns[1]} differ; {command} mends it"
