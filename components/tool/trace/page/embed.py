#!/usr/bin/env python3
"""The page with its style and script as one C++ constant:  embed.py FOLDER OUTPUT"""
import sys
from pathlib import Path

folder, output = Path(sys.argv[1]), Path(sys.argv[2])
page = (folder / "page.html").read_text()
for hole, name in (("@CSS@", "page.css"), ("@JS@", "page.js")):
    before, after = page.split(hole)
    page = before + (folder / name).read_text().rstrip("\n") + after
assert page.count("@TITLE@") == page.count("@DATA@") == 1 and ')page"' not in page
output.write_text(f"""// Made of components/tool/trace/page by embed.py; do not edit.
namespace ashlar::tool_trace {{

extern const char* const kPage;
const char* const kPage = R"page({page})page";

}}  // namespace ashlar::tool_trace
""")
