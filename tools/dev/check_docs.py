#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the documents agree with the tree: relative links lead somewhere, and code that is
quoted from a file is still in that file.

    check_docs.py [--root DIR]

A quotation is a fenced block below a line `<!-- quoted from PATH -->`. It must be a run of lines of
that file, whose common indentation may be cut off.
"""

import argparse
import os
import re
import sys
import textwrap

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
QUOTED = re.compile(r"<!-- quoted from (\S+) -->\n+```\w*\n(.*?)```", re.S)
FENCE = re.compile(r"^```.*?^```", re.S | re.M)


def documents(root):
    """Markdown files of the project, relative to root."""
    for top in ("", "docs", "models", "examples", "tools"):
        for folder, subfolders, names in os.walk(os.path.join(root, top)):
            if top == "":
                subfolders.clear()
            for name in sorted(names):
                if name.endswith(".md"):
                    yield os.path.relpath(os.path.join(folder, name), root)


def is_quotation(block, text):
    """Whether the lines of block follow each other in text, up to indentation."""
    block_lines = textwrap.dedent(block).strip("\n").splitlines()
    lines = text.splitlines()
    for start in range(len(lines) - len(block_lines) + 1):
        window = "\n".join(lines[start:start + len(block_lines)])
        if textwrap.dedent(window).splitlines() == block_lines:
            return True
    return False


def check(root):
    """All violations as 'path:line: message'."""
    found = []
    for path in documents(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()

        def report(offset, message):
            found.append(f"{path}:{text.count(chr(10), 0, offset) + 1}: {message}")

        for match in QUOTED.finditer(text):
            source = os.path.join(root, match.group(1))
            if not os.path.exists(source):
                report(match.start(), f"quotes {match.group(1)}, which does not exist")
                continue
            with open(source, encoding="utf-8") as file:
                if not is_quotation(match.group(2), file.read()):
                    report(match.start(), f"{match.group(1)} no longer has these lines; quote it anew")
        # Blank out code, keeping offsets, so that brackets in it are not taken for links.
        prose = FENCE.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)
        prose = re.sub(r"`[^`\n]*`", lambda m: " " * len(m.group(0)), prose)
        for match in LINK.finditer(prose):
            target = (match.group(1) or match.group(2)).split("#")[0]
            if not target or re.match(r"[a-z]+:", target):
                continue
            if not os.path.exists(os.path.join(root, os.path.dirname(path), target)):
                report(match.start(), f"the link to {target} leads nowhere")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=os.path.join(os.path.dirname(__file__), "..", ".."))
    found = check(parser.parse_args().root)
    for line in found:
        print(line)
    print(f"docs: {len(found)} violations" if found else "docs: clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
