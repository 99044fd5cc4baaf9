#!/usr/bin/env python3
"""Puts the markers of page differences around what differs between two versions of a page.

usage: mark_pages.py OLD NEW OUT_OLD OUT_NEW

By lines: what differs is a block of both, and what is nearer than three lines is one block. Prints how many blocks there are, their bytes
in the new page, and the new page's.
"""
import difflib, re, sys

old, new = (open(name, newline="").read() for name in sys.argv[1:3])
# A page of one line is taken apart at its tags.
lines = [re.findall(r"[^\n]*\n|[^\n]+", text) if text.count("\n") > 50 else re.findall(r"[^>]*>|[^>]+", text) for text in (old, new)]
changes = [list(change[1:]) for change in difflib.SequenceMatcher(None, *lines, autojunk=False).get_opcodes() if change[0] != "equal"]
merged = []
for a, b, c, d in changes:
    # A block has something in it, in both pages.
    if a == b or c == d:
        a, c = max(a - 1, 0), max(c - 1, 0)
    if merged and a - merged[-1][1] < 3:
        merged[-1][1], merged[-1][3] = b, d
    else:
        merged.append([a, b, c, d])


def marked(parts, spans):
    out, place = [], 0
    for number, (start, end) in enumerate(spans):
        out += parts[place:start] + [f"<!--sonicdiff-b{number}-->"] + parts[start:end] + [f"<!--sonicdiff-b{number}-end-->"]
        place = end
    return "".join(out + parts[place:])


open(sys.argv[3], "w", newline="").write(marked(lines[0], [(a, b) for a, b, _, _ in merged]))
open(sys.argv[4], "w", newline="").write(marked(lines[1], [(c, d) for _, _, c, d in merged]))
print(len(merged), sum(len("".join(lines[1][c:d]).encode()) for _, _, c, d in merged), len(new.encode()))
