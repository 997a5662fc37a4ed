#!/usr/bin/env python3
"""The documentation site: it is made, every link leads to a page and a place that are there, nothing is fetched from
elsewhere, and the search finds what people look for.

usage: site_test.py SHARE_MAN CMARK_GFM MANDOC [DUK]       DUK runs the search; without it that part is left out
"""
import html.parser
import json
import posixpath
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What people type, and the page that has to be among the first three.
QUESTIONS = {
    "MPI_Send": "man/MPI_Send.3.html", "mpi_allreduce": "man/MPI_Allreduce.3.html", "PMPI_Wait": "man/MPI_Wait.3.html",
    "p2p.eager_limit": "docs/parameters.html#parameter-p2p.eager_limit", "argument.rank": "man/ashlar-messages.7.html#argument.rank",
    "mpiexec exit status": "man/mpiexec.1.html#EXIT_STATUS", "which setting wins": "docs/parameters.html#which-setting-wins",
}


class Page(html.parser.HTMLParser):
    """Links, places and what is loaded."""

    def __init__(self, text):
        super().__init__()
        self.links, self.places, self.loaded, self.twice = [], set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if "id" in given:
            if given["id"] in self.places:
                self.twice.append(given["id"])
            self.places.add(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link":
            self.loaded.append(given["href"])
        elif "src" in given:
            self.loaded.append(given["src"])


def dead_links(site):
    pages = {str(p.relative_to(site)): Page(p.read_text()) for p in site.rglob("*.html")}
    if len(pages) < 500:
        yield f"there are only {len(pages)} pages"
    for path, page in pages.items():
        yield from (f"{path}: the place {place} is there twice" for place in page.twice)
        for target in page.loaded:
            if ":" in target or not (site / posixpath.dirname(path) / target).exists():
                yield f"{path} loads {target}"
        for link in page.links:
            if link.startswith(("http:", "https:", "mailto:")):
                continue                                # read by people, not fetched
            target, _, place = link.partition("#")
            at = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
            if at not in pages:
                yield f"{path}: {link} leads nowhere"
            elif place and place not in pages[at].places:
                yield f"{path}: {link} leads to no place of that page"


def index_of(site):
    text = (site / "search-index.js").read_text()
    return json.loads(text.removeprefix("var ASHLAR_INDEX = ").rstrip().removesuffix(";"))


def wrong_entries(site):
    for entry in index_of(site):
        path, _, place = entry["page"].partition("#")
        if not (site / path).exists():
            yield f"the index names {path}"
        elif place and f'id="{place}"' not in (site / path).read_text():
            yield f"the index names {entry['page']}"


def unfound(site, duk):
    script = (site / "search-index.js").read_text() + (site / "search.js").read_text() + "".join(
        f"print(AshlarSearch.find(ASHLAR_INDEX, {json.dumps(q)}, 3).map(function (e) {{ return e.page; }}).join(' '));\n"
        for q in QUESTIONS) + "print(AshlarSearch.find(ASHLAR_INDEX, 'nosuchword', 3).length);\n"
    with tempfile.NamedTemporaryFile("w", suffix=".js") as file:
        file.write(script)
        file.flush()
        done = subprocess.run([duk, file.name], capture_output=True, text=True)
    answers = done.stdout.splitlines()
    if len(answers) != len(QUESTIONS) + 1:
        yield f"the search ends early: {done.stdout}{done.stderr}"
        return
    for (question, page), answer in zip(QUESTIONS.items(), answers):
        if page not in answer.split():
            yield f"'{question}' finds {answer or 'nothing'}, and not {page}"
    if answers[-1] != "0":
        yield "a word that is nowhere is found"


def main(arguments):
    man, cmark, mandoc, *duk = arguments
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder, "site")
        subprocess.run([sys.executable, ROOT / "docs/site/make.py", "--out", site, "--man", man, "--cmark", cmark, "--mandoc",
                        mandoc], check=True)
        wrong = [*dead_links(site), *wrong_entries(site)]
        if duk:
            wrong += unfound(site, duk[0])
    return "\n".join(wrong[:40]) or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
