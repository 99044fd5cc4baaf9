"""Draws seconds over files from lines "files first update nothing start", both axes logarithmic, as an SVG.

usage: plot.py FIGURES >sync.svg
"""

import math, sys

NAMES = ("first sync", "1 % changed", "nothing new", "start to first byte")
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd")
WIDTH, HEIGHT, LEFT, TOP = 640, 420, 70, 30
INNER_WIDTH, INNER_HEIGHT = 400, 330

with open(sys.argv[1]) as file:
    rows = [[float(word) for word in line.split()] for line in file if line.strip()]
sizes = [row[0] for row in rows]
low = math.floor(math.log10(min(min(row[1:]) for row in rows)))
high = math.ceil(math.log10(max(max(row[1:]) for row in rows)))
least, most = math.log10(min(sizes)), math.log10(max(sizes))


def x(size):
    return LEFT + INNER_WIDTH * (math.log10(size) - least) / ((most - least) or 1)


def y(seconds):
    return TOP + INNER_HEIGHT * (high - math.log10(seconds)) / (high - low)


print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">')
print(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>')
for power in range(low, high + 1):
    place = y(10**power)
    print(f'<path d="M{LEFT} {place:.1f}h{INNER_WIDTH}" stroke="#ddd"/>')
    print(f'<text x="{LEFT - 6}" y="{place + 4:.1f}" text-anchor="end">{10**power:g} s</text>')
for size in sizes:
    print(f'<path d="M{x(size):.1f} {TOP}v{INNER_HEIGHT}" stroke="#eee"/>')
    print(f'<text x="{x(size):.1f}" y="{TOP + INNER_HEIGHT + 18}" text-anchor="middle">{size:,.0f}</text>')
print(f'<text x="{LEFT + INNER_WIDTH / 2}" y="{HEIGHT - 18}" text-anchor="middle">files in the bundle</text>')
for column, (name, colour) in enumerate(zip(NAMES, COLOURS), 1):
    points = [(x(row[0]), y(row[column])) for row in rows]
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
    print(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
    for a, b in points:
        print(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>')
    print(f'<text x="{points[-1][0] + 10:.1f}" y="{points[-1][1] + 4:.1f}" fill="{colour}">{name}</text>')
# What a cost that grows with the files looks like: one unit up for each unit to the right.
a, b = x(sizes[0]), y(rows[0][1])
rise = INNER_HEIGHT * (most - least) / (high - low)
print(f'<path d="M{a:.1f} {b:.1f}L{x(sizes[-1]):.1f} {b - rise:.1f}" stroke="#999" stroke-dasharray="4 4"/>')
print("</svg>")
