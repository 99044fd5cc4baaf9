"""An animated SVG of two terminals and the page of a device. It has no script: CSS shows each line at its time."""
import html

COLUMNS, ADVANCE, LINE = 66, 7.8, 18
MARGIN, TITLE = 12, 26
# Rows of the server's pane and of the device's.
ROWS = {"server": 8, "device": 9}
TITLES = {"server": "your server", "device": "a device"}
WIDTH = 760
PANE = COLUMNS * ADVANCE + 2 * MARGIN
# Seconds: a typed character, a line of output, a pause after a command has ended, before the page changes, and at the end.
TYPED, PRINTED, BREATH, CHANGE, TRIAL, END = 0.018, 0.2, 0.6, 0.5, 2.2, 5
MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
SANS = "system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif"
# The page's own font on the machine that took its layout, and fonts of about its width.
PAGE = "'DejaVu Sans',Verdana,sans-serif"
LIGHT = "--pane:#f6f8fa;--edge:#d1d9e0;--text:#1f2328;--dim:#59636e;--mark:#0969da"
DARK = "--pane:#151b23;--edge:#3d444d;--text:#f0f6fc;--dim:#9198a1;--mark:#4493f8"


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


def wrap(text):
    """The rows of a line, broken at blanks as far as there are any."""
    rows = []
    while len(text) > COLUMNS:
        at = text.rfind(" ", 1, COLUMNS + 1)
        at = at if at > 0 else COLUMNS
        rows.append(text[:at])
        text = text[at:].lstrip(" ")
    return rows + [text]


class Film:
    def __init__(self):
        self.now = 0.4
        # (time, row) of each pane; typed ones with their duration. And when each caption and page begins.
        self.rows = {"server": [], "device": []}
        self.captions, self.pages = [], []

    def record(self, events):
        last = None
        for kind, value in events:
            if kind == "caption":
                self.now += BREATH if last else 0
                self.captions.append((self.now, value))
                self.now += BREATH
            elif kind == "page":
                self.now += CHANGE
                self.pages.append((self.now, value))
                self.now += TRIAL if "Starting" in str(value["texts"]) else CHANGE
            elif kind.endswith(" command"):
                pane = kind.split()[0]
                for place, row in enumerate(wrap("$ " + value)):
                    length = TYPED * len(row)
                    self.rows[pane].append((self.now, row, "prompt" if place == 0 else "typed", length))
                    self.now += length
                self.now += PRINTED
            else:
                for row in wrap(value):
                    self.rows[kind].append((self.now, row, "out", 0))
                self.now += PRINTED
            last = kind
        self.total = round(self.now + END, 1)

    def percent(self, time):
        return number(100 * time / self.total) + "%"


def svg(events):
    film = Film()
    film.record(events)
    rules, defined = [], {}

    def appear(time, until=None):
        """The class that shows an element from `time` on."""
        key = (round(time, 3), until and round(until, 3))
        if key not in defined:
            name = defined[key] = f"a{len(defined)}"
            end = f"{film.percent(until)},100%{{opacity:0}}" if until else ""
            shown = f"{film.percent(time)}{'' if until else ',100%'}{{opacity:1}}"
            rules.append(f"@keyframes {name}{{0%{{opacity:0}}{shown}{end}}}.{name}{{animation-name:{name}}}")
        return defined[key]

    parts, top = [], 0
    for pane, rows in film.rows.items():
        height = TITLE + ROWS[pane] * LINE + MARGIN
        parts.append(f'<g transform="translate(.5 {top + 0.5})"><rect class="pane" width="{number(PANE)}" height="{height}" rx="6"/>'
                     f'<text class="title" x="{MARGIN}" y="18">{TITLES[pane]}</text>'
                     f'<svg x="{MARGIN}" y="{TITLE}" width="{number(COLUMNS * ADVANCE)}" height="{ROWS[pane] * LINE}">')
        # The pane scrolls as soon as a row would be below it.
        stops, offset = ["0%{transform:translateY(0)}"], 0
        for place, (time, *_) in enumerate(rows):
            if (below := max(0, place + 1 - ROWS[pane])) > offset:
                offset = below
                stop = f"{film.percent(time)}{{transform:translateY({-offset * LINE}px)}}"
                if stops[-1].startswith(film.percent(time) + "{"):
                    stops[-1] = stop
                else:
                    stops.append(stop)
        stops[-1] = stops[-1].replace("{", ",100%{", 1)
        rules.append(f"@keyframes {pane}{{{''.join(stops)}}}.{pane}{{animation-name:{pane};transform:translateY({-offset * LINE}px)}}")
        parts.append(f'<g class="s {pane}">')
        for place, (time, row, kind, length) in enumerate(rows):
            y = place * LINE + 13
            text = html.escape(row, quote=False)
            if kind == "prompt":
                text = f'<tspan class="mark">$</tspan>{text[1:]}'
            fit = f' textLength="{number(len(row) * ADVANCE)}"'
            parts.append(f'<text class="s {"cmd " if kind != "out" else ""}{appear(time)}" y="{y}"{fit}>{text}</text>')
            if length:
                # A cover over the row, which moves away as its characters are typed.
                name, wide = f"t{len(defined)}-{pane[0]}{place}", number(len(row) * ADVANCE + 2)
                rules.append(f"@keyframes {name}{{0%,{film.percent(time)}{{transform:translateX(0);animation-timing-function:steps({len(row)})}}"
                             f"{film.percent(time + length)},100%{{transform:translateX({wide}px)}}}}"
                             f".{name}{{animation-name:{name};transform:translateX({wide}px)}}")
                parts.append(f'<rect class="s cover {name}" y="{place * LINE}" width="{wide}" height="{LINE}"/>')
        parts.append("</g></svg></g>")
        top += height + MARGIN
    left, height = PANE + MARGIN, top - MARGIN
    first = film.pages[0][1]
    wide = WIDTH - left - 1
    scale = (wide - 2) / first["width"]
    tall = height - TITLE
    parts.append(f'<g transform="translate({number(left + 0.5)} .5)"><rect class="pane" width="{number(wide)}" height="{height}" rx="6"/>'
                 f'<text class="title" x="{MARGIN}" y="18">the device’s page</text>'
                 f'<svg x="1" y="{TITLE}" width="{number(wide - 2)}" height="{number(tall - 1)}">')
    for place, (time, layout) in enumerate(film.pages):
        until = film.pages[place + 1][0] if place + 1 < len(film.pages) else None
        hidden = " hidden" if until else ""
        parts.append(f'<g class="s {appear(time, until)}{hidden}"><rect width="100%" height="100%" fill="{layout["background"]}"/>')
        for text in layout["texts"]:
            # Chromium's box of a text reaches about a quarter of the type below its base line.
            base = (text["y"] + (text["height"] + text["size"] * 0.72) / 2) * scale
            look = f"font:{text['weight']} {number(text['size'] * scale)}px {PAGE};fill:{text['color']}"
            x, width = number(text["x"] * scale), number(text["width"] * scale)
            words = html.escape(text["text"], quote=False)
            parts.append(f'<text style="{look}" x="{x}" y="{number(base)}" textLength="{width}">{words}</text>')
        parts.append("</g>")
    parts.append("</svg></g>")
    # On a ground of its own: a page may be light where the reader's system is dark.
    parts.append(f'<rect class="pane" x=".5" y="{height + MARGIN + 0.5}" width="{WIDTH - 1}" height="36" rx="6"/>')
    for place, (time, caption) in enumerate(film.captions):
        until = film.captions[place + 1][0] if place + 1 < len(film.captions) else None
        parts.append(f'<text class="s caption {appear(time, until)}{" hidden" if until else ""}" x="{WIDTH / 2:g}" y="{height + MARGIN + 24}">{html.escape(caption)}</text>')
    style = (
        f"svg{{{LIGHT}}}@media(prefers-color-scheme:dark){{svg{{{DARK}}}}}"
        f"text{{font:13px {MONO};fill:var(--text);white-space:pre}}.title,.caption{{font-family:{SANS};fill:var(--dim)}}.title{{font-size:12px}}"
        f".caption{{font-size:15px;text-anchor:middle;fill:var(--text)}}.pane{{fill:var(--pane);stroke:var(--edge)}}.cover{{fill:var(--pane)}}"
        f".cmd{{font-weight:600}}.mark{{fill:var(--mark)}}.hidden{{opacity:0}}"
        f".s{{animation-duration:{film.total}s;animation-timing-function:step-end;animation-iteration-count:infinite}}"
        f"{''.join(rules)}@media(prefers-reduced-motion:reduce){{.s{{animation:none}}}}")
    label = "Two terminals and the page of a device: a version is signed and installed, an update follows, and a broken version rolls itself back."
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height + MARGIN + 37}" width="{WIDTH}" height="{height + MARGIN + 37}" role="img" aria-label="{label}">'
            f"<style>{style}</style>{''.join(parts)}</svg>\n")
