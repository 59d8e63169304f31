#!/usr/bin/env python3
"""Checks that the files which the papers link to, and the paths which they name in `code`, exist.

usage: check_links.py SOURCE_FOLDER
"""
import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]+)(#[^)]*)?\)")
# A path of this repository in code marks: it begins with one of our folders and holds no placeholder.
PATH = re.compile(r"`((?:include|lib|protocol|driver|kernel-compiler|daemon|tools|tests|examples|docs|cmake)/[\w./-]+)`")


def problems_of(page, folder):
    text = page.read_text()
    found = [(match, page.parent / match.group(1)) for match in LINK.finditer(text) if "://" not in match.group(1)]
    found += [(match, folder / match.group(1)) for match in PATH.finditer(text)]
    for match, target in found:
        if not target.exists():
            line = text.count("\n", 0, match.start()) + 1
            yield f"{page.relative_to(folder)}:{line}: {match.group(1)} does not exist"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    pages = sorted([*folder.glob("*.md"), *folder.glob("docs/**/*.md")])
    problems = [problem for page in pages for problem in problems_of(page, folder)]
    print("\n".join(problems + [f"{len(pages)} pages, {len(problems)} problems"]))
    sys.exit(1 if problems or not pages else 0)


if __name__ == "__main__":
    main()
