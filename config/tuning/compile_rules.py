#!/usr/bin/env python3
"""Compiles a tuning file into the C++ table of built-in rules: compile_rules.py default.yaml default_rules.cc

Reads the restricted YAML that default.yaml is written in: comments, "key: value", one level of nesting by two blanks,
and rows as {key: value, ...}. Everything else is an error with its line, so the file stays in the form that the run-time
reader (framework/coll/rule_reader.cc) understands alike.
"""
import re
import sys

COLLECTIVES = ["barrier", "bcast", "reduce", "allreduce", "gather", "gatherv", "scatter", "scatterv", "allgather",
               "allgatherv", "alltoall", "alltoallv", "alltoallw", "reduce_scatter", "reduce_scatter_block", "scan",
               "exscan", "neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv",
               "neighbor_alltoallw"]
UNITS = {"": 1, "B": 1, **{u + s: 1 << (10 * (i + 1)) for i, u in enumerate("KMGT") for s in ("", "iB")}}
INT_MAX, INT64_MAX = (1 << 31) - 1, (1 << 63) - 1


class Mistake(Exception):
    pass


def number(text, limit):
    match = re.fullmatch(r"(\d+)([A-Za-z]*)", text)
    if not match or match[2] not in UNITS:
        raise Mistake(f"cannot read '{text}' as a number")
    value = int(match[1]) * UNITS[match[2]]
    if value > limit:
        raise Mistake(f"{text} is too large")
    return value


def number_range(text, limit):
    low, dots, high = text.partition("..")
    if not low and not dots:
        raise Mistake("an empty range")
    first = number(low, limit) if low else 0
    last = (number(high, limit) if high else limit) if dots else first
    if first > last:
        raise Mistake(f"the range {text} is empty")
    return first, last


def flow_map(text):
    if not (text.startswith("{") and text.endswith("}")):
        raise Mistake("a row has the form {key: value, ...}")
    pairs = {}
    for part in text[1:-1].split(","):
        key, colon, value = part.partition(":")
        key, value = key.strip(), value.strip()
        if not colon or not key or not value or key in pairs:
            raise Mistake(f"cannot read '{part.strip()}'")
        pairs[key] = value
    return pairs


def parse(lines, name):
    """Yields (collective, row, {key: value}, line number), and returns through `about` what the file says of itself."""
    about, rows, collective = {}, [], None
    for line_number, line in enumerate(lines, 1):
        text = re.sub(r"(^|\s)#.*", "", line).rstrip()
        if not text:
            continue
        try:
            indent = len(text) - len(text.lstrip(" "))
            key, colon, value = text.strip().partition(":")
            value = value.strip()
            if not colon:
                raise Mistake("neither 'key: value' nor 'key:'")
            if indent == 0 and value:
                about[key] = value
            elif indent == 0:
                if key not in COLLECTIVES:
                    raise Mistake(f"there is no collective '{key}'")
                collective = key
            elif indent == 2 and collective:
                if any(r[0] == collective and r[1] == key for r in rows):
                    raise Mistake(f"row '{key}' comes twice")
                rows.append((collective, key, flow_map(value), line_number))
            else:
                raise Mistake("rows are indented by two blanks under a collective")
        except Mistake as mistake:
            raise Mistake(f"{name}:{line_number}: {mistake}") from None
    if about.get("schema") != "1":
        raise Mistake(f"{name}: schema is not 1")
    return about, rows


def rule(collective, row, pairs, origin):
    fields = [f".collective = static_cast<Collective>({COLLECTIVES.index(collective)})"]
    values = dict(pairs)
    conditional = "commutative" in values or "bandwidth" in values
    if "commutative" in values:
        yes = values.pop("commutative")
        if yes not in ("true", "false"):
            raise Mistake("commutative is true or false")
        fields.append(f".commute = Rule::Commute::{'kYes' if yes == 'true' else 'kNo'}")
    if conditional:
        fields.append(".conditional = true")
    for key in ("ranks", "nodes", "node_ranks"):
        if key in values:
            fields.append(".%s = {%d, %d}" % (key, *number_range(values.pop(key), INT_MAX)))
    for key in ("bytes", "bandwidth"):
        if key in values:
            fields.append(".%s = {%d, %d}" % (key, *number_range(values.pop(key), INT64_MAX)))
    if "use" not in values:
        raise Mistake("the row does not say what to use")
    fields.append(f'.algorithm = "{values.pop("use")}"')
    arguments = []
    if "segment" in values:
        arguments.append(f".segment = {number(values.pop('segment'), INT64_MAX)}")
    if "window" in values:
        arguments.append(f".window = {number(values.pop('window'), INT_MAX)}")
    if "radix" in values:
        arguments.append(f".radix = {number(values.pop('radix'), INT_MAX)}")
    if "leaders" in values:
        arguments.append(f".leaders = {number(values.pop('leaders'), INT_MAX)}")
    if arguments:
        fields.append(f".arguments = {{{', '.join(arguments)}}}")
    values.pop("note", None)
    if values:
        raise Mistake(f"unknown: {', '.join(values)}")
    fields.append(f'.origin = "{origin}"')
    return "    {" + ", ".join(fields) + "},"


def compile_file(path):
    name = path.rsplit("/", 1)[-1]
    with open(path, encoding="utf-8") as file:
        about, rows = parse(file.read().splitlines(), name)
    out = []
    for collective, row, pairs, line in rows:
        try:
            out.append(rule(collective, row, pairs, f"{name}:{line} ({collective}.{row})"))
        except Mistake as mistake:
            raise Mistake(f"{name}:{line}: {mistake}") from None
    for collective in COLLECTIVES:
        last = [pairs for c, _, pairs, _ in rows if c == collective][-1:]
        if not last or set(last[0]) - {"use", "segment", "window", "radix", "leaders", "note"}:
            raise Mistake(f"{name}: the last row of {collective} must have no conditions")
    origin = about.get("origin", "not stated").replace("\\", "\\\\").replace('"', '\\"')
    return "\n".join([
        f"// Made by config/tuning/compile_rules.py from {name}; do not edit.",
        '#include "framework/coll/rule.h"', "", "namespace ashlar::coll {", "namespace {", "",
        "constexpr Rule kRules[] = {", *out, "};", "", "}  // namespace", "",
        f'RuleTable default_rules() {{ return {{kRules, {len(out)}, "{origin}"}}; }}', "",
        "}  // namespace ashlar::coll", ""])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        text = compile_file(sys.argv[1])
    except Mistake as mistake:
        sys.exit(f"compile_rules.py: {mistake}")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
