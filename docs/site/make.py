#!/usr/bin/env python3
"""The documentation as a folder of HTML: docs/site/README.md.

usage: make.py --out FOLDER --man SHARE_MAN --cmark CMARK_GFM --mandoc MANDOC
"""
import argparse
import concurrent.futures
import html
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SECTIONS = {"1": "Commands", "3": "Calls", "5": "Files", "7": "Overviews"}
FIRST = ["building", "running", "tracing", "parameters", "errors", "collectives", "datatypes", "limits", "administering", "security"]


def plain(text):
    """What a reader sees of a piece of HTML."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def anchor(heading):
    """As GitHub makes it, so that links of the Markdown pages lead there too."""
    return re.sub(r"[^\w\- ]", "", plain(heading).lower()).replace(" ", "-")


# ---- Markdown ------------------------------------------------------------------------------------------------------------

def markdown_pages():
    """Paths from the root of every page: those at the top, docs, and the READMEs of the rooms."""
    skipped = re.compile(r"(^|/)(build[^/]*|install[^/]*|\.[^/]*)/")
    pages = sorted(str(p.relative_to(ROOT)) for p in ROOT.rglob("*.md"))
    return [p for p in pages if not skipped.search(p) and not re.match(r"docs/manual/.*\.\d\.md$", p)]


def html_path(markdown):
    return re.sub(r"\.md$", ".html", markdown)


def resolve(link, page, pages):
    """Where a link of a Markdown page leads in the site; None when it leads to no page of it."""
    target, _, fragment = link.partition("#")
    if not target:
        return link
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
    for candidate in (path, posixpath.join(path, "README.md")):
        if candidate in pages:
            relative = posixpath.relpath(html_path(candidate), posixpath.dirname(page) or ".")
            return relative + ("#" + fragment if fragment else "")
    if path == "docs/decisions":
        return posixpath.relpath("decisions.html", posixpath.dirname(page) or ".")
    return None


def title_of(page):
    return re.search(r"^# (.*)$", (ROOT / page).read_text(), re.M)[1]


def render_markdown(page, pages, cmark):
    text = (ROOT / page).read_text()
    body = subprocess.run([cmark, "-e", "table", "-e", "autolink"], input=text, capture_output=True, text=True, check=True).stdout
    body = body.replace("<!-- raw HTML omitted -->", "")
    seen = {}

    def heading(match):
        name = anchor(match[2])
        seen[name] = seen.get(name, -1) + 1
        return f'<h{match[1]} id="{name}{"-" + str(seen[name]) if seen[name] else ""}">{match[2]}</h{match[1]}>'

    def link(match):
        href = html.unescape(match[1])
        if re.match(r"[a-z]+:", href):
            return match[0]
        target = resolve(href, page, pages)
        if target is None:
            return match[2]
        named = posixpath.normpath(posixpath.join(posixpath.dirname(page), href.partition("#")[0]))
        words = html.escape(title_of(named)) if match[2].endswith(".md") and named in pages else match[2]
        return f'<a href="{html.escape(target)}">{words}</a>'

    body = re.sub(r"<h([1-6])>(.*?)</h\1>", heading, body, flags=re.S)
    body = re.sub(r'<a href="([^"]*)">(.*?)</a>', link, body, flags=re.S)
    if page == "docs/parameters.md":                    # each parameter can be found
        body = re.sub(r"<tr>\s*<td><code>([\w.]+)</code></td>", r'<tr><td id="parameter-\1"><code>\1</code></td>', body)
    title = re.search(r"<h1[^>]*>(.*?)</h1>", body, re.S)
    return plain(title[1]) if title else page, body


# ---- manual pages --------------------------------------------------------------------------------------------------------

def manual_pages(man):
    """name -> section of every page, and names of links -> name of their page."""
    pages, links = {}, {}
    for section in SECTIONS:
        for path in sorted((man / f"man{section}").glob(f"*.{section}")):
            name = path.name[:-2]
            if path.is_symlink():
                links[name] = os.readlink(path)[:-2]
            else:
                pages[name] = section
    return pages, links


def manual_href(name, pages, links):
    name = links.get(name, name)
    return f"{name}.{pages[name]}.html" if name in pages else None


def render_manual(name, section, man, pages, links, mandoc):
    path = man / f"man{section}" / f"{name}.{section}"
    body = subprocess.run([mandoc, "-Thtml", "-Ofragment", path], capture_output=True, text=True, check=True).stdout
    body = re.sub(r'<table class="(?:head|foot)">.*?</table>', "", body, flags=re.S)

    def call(match):
        href = manual_href(html.unescape(match[1]), pages, links)
        return f'<a href="{href}">{match[0]}</a>' if href not in (None, f"{name}.{section}.html") else match[0]

    body = re.sub(r"<b>([\w.-]+)</b>(?:\(\d\))?", call, body)
    return f'<h1>{html.escape(name)}({section})</h1>\n<div class="manual">{body}</div>'


# ---- the site ------------------------------------------------------------------------------------------------------------

def navigation(here, groups):
    """The list at the side; `here` is the page's own path."""
    root = posixpath.relpath(".", posixpath.dirname(here) or ".") + "/"
    parts = [f'<nav><input id="search" type="search" placeholder="Search" aria-label="Search" data-root="{root}"><ul id="found"></ul>']
    for title, entries in groups:
        parts.append(f"<h2>{html.escape(title)}</h2><ul>")
        for text, path in entries:
            mark = ' class="here"' if path == here else ""
            parts.append(f'<li><a{mark} href="{root}{path}">{html.escape(text)}</a></li>')
        parts.append("</ul>")
    return "\n".join(parts) + "</nav>", root


def document(here, title, body, groups):
    side, root = navigation(here, groups)
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">\n'
            f'<title>{html.escape(title)} - Ashlar MPI</title><link rel="stylesheet" href="{root}style.css"></head>\n'
            f'<body>{side}\n<main>\n{body}\n</main>\n<script src="{root}search-index.js"></script>'
            f'<script src="{root}search.js"></script></body></html>\n')


def entries_of(path, title, body):
    """What the search knows of a page: each heading with the text up to the next one, and each parameter."""
    pieces = re.split(r'<h[1-4][^>]*? id="([^"]*)"[^>]*>(.*?)</h[1-4]>', body, flags=re.S)
    yield {"title": title, "page": path, "text": plain(pieces[0])[:2000]}
    for name, heading, text in zip(pieces[1::3], pieces[2::3], pieces[3::3]):
        words = plain(heading)
        if words != title:
            yield {"title": f"{words} - {title}", "page": f"{path}#{name}", "text": plain(text)[:2000]}
        else:
            yield {"title": title, "page": path, "text": plain(text)[:2000]}
    for name, row in re.findall(r'<tr>\s*<td id="parameter-([\w.]+)">(.*?)</tr>', body, re.S):
        yield {"title": name, "page": f"{path}#parameter-{name}", "text": plain(row)}


def manual_entry(name, section, body, links):
    """One entry for a call or a command, under all of its names; the messages are found one by one."""
    brief = plain(re.search(r'id="NAME".*?<p class="Pp">(.*?)</p>', body, re.S)[1])
    text = re.search(r'id="DESCRIPTION".*?</section>', body, re.S)
    path = f"man/{name}.{section}.html"
    also = " ".join(other for other, page in links.items() if page == name)
    yield {"title": name, "page": path, "text": f"{brief} {also} {plain(text[0]) if text else ''}"[:2000]}
    for anchor_name, heading, words in re.findall(r'<h1 class="Sh" id="([^"]+)">(.*?)</h1>(.*?)</section>', body, re.S):
        if section != "3" and plain(heading) not in ("NAME", "DESCRIPTION", "SYNOPSIS", "SEE ALSO", "MESSAGES"):
            yield {"title": f"{plain(heading)} - {name}", "page": f"{path}#{anchor_name}", "text": plain(words)[:2000]}
    if name == "ashlar-messages":
        for anchor_name, text in re.findall(r'<h2 class="Ss" id="([^"]+)">(.*?)</section>', body, re.S):
            yield {"title": plain(text).split()[0], "page": f"{path}#{anchor_name}", "text": plain(text)}


def order(page):
    name = posixpath.basename(page)[:-3]
    return (FIRST.index(name) if name in FIRST else len(FIRST), page)


def make(o):
    pages = markdown_pages()
    man, links = manual_pages(o.man)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        texts = dict(zip(pages, pool.map(lambda p: render_markdown(p, pages, o.cmark), pages)))
        calls = dict(zip(man, pool.map(lambda n: render_manual(n, man[n], o.man, man, links, o.mandoc), man)))
    guides = sorted((p for p in pages if re.fullmatch(r"docs/[\w-]+\.md", p)), key=order)
    decisions = [p for p in pages if p.startswith("docs/decisions/")]
    rooms = [p for p in pages if p.endswith("README.md") and p != "README.md"]
    entry = lambda p: (texts[p][0], html_path(p))
    groups = [("Start", [("Ashlar MPI", "README.html"), ("Manual pages", "man/index.html")]), ("Guides", [entry(p) for p in guides]),
              ("Code", [entry("CONTRIBUTING.md"), ("READMEs", "rooms.html"), ("Decisions", "decisions.html")])]
    written, index = {}, []

    def add(path, title, body):
        written[path] = document(path, title, body, groups)

    def listing(path, title, items):
        rows = "\n".join(f'<li><a href="{posixpath.relpath(target, posixpath.dirname(path) or ".")}">{html.escape(text)}</a></li>'
                         for text, target in items)
        add(path, title, f"<h1>{title}</h1>\n<ul>\n{rows}\n</ul>")

    for page, (title, body) in texts.items():
        add(html_path(page), title, body)
        index += entries_of(html_path(page), title, body)
    listing("rooms.html", "READMEs of rooms and folders", [(f"{texts[p][0]}  ({posixpath.dirname(p)})", html_path(p)) for p in rooms])
    listing("decisions.html", "Decisions", [entry(p) for p in decisions])
    for name, body in calls.items():
        add(f"man/{name}.{man[name]}.html", f"{name}({man[name]})", body)
        index += manual_entry(name, man[name], body, links)
    lists = [f'<h2>{title}</h2><ul class="columns">' + "\n".join(
        f'<li><a href="{manual_href(n, man, links)}">{html.escape(n)}</a></li>' for n in man if man[n] == section) + "</ul>"
        for section, title in SECTIONS.items()]
    add("man/index.html", "Manual pages", "<h1>Manual pages</h1>\n" + "\n".join(lists))
    written["index.html"] = written["README.html"]
    return written, index


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("out", "man"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    for name in ("cmark", "mandoc"):
        parser.add_argument(f"--{name}", required=True)
    o = parser.parse_args(arguments)
    written, index = make(o)
    shutil.rmtree(o.out, ignore_errors=True)
    for path, text in written.items():
        target = o.out / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    for name in ("style.css", "search.js"):
        shutil.copy(HERE / name, o.out / name)
    # A script and not a file of JSON: browsers read nothing else from a folder.
    rows = ",\n".join(json.dumps(entry, ensure_ascii=True).replace("</", "<\\/") for entry in index)
    (o.out / "search-index.js").write_text(f"var ASHLAR_INDEX = [\n{rows}\n];\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
