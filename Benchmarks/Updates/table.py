"""Tables: aligned for a terminal, or as the pages have them."""


def thousands(number):
    return f"{number:,}"


class Table:
    def __init__(self, *columns):
        self.rows = [list(columns)]

    def row(self, *cells):
        self.rows.append([str(cell) for cell in cells] + [""] * (len(self.rows[0]) - len(cells)))

    def __str__(self):
        widths = [max(len(row[column]) for row in self.rows) for column in range(len(self.rows[0]))]
        last = len(widths) - 1
        lines = [["{:<{}}", "{:>{}}"][0 < column < last].format(cell, widths[column]) for row in self.rows for column, cell in enumerate(row)]
        step = len(widths)
        return "\n".join(("   " + "  ".join(lines[start : start + step])).rstrip() for start in range(0, len(lines), step))

    def markdown(self):
        rule = ["---"] + ["---:"] * (len(self.rows[0]) - 1)
        shown = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in self.rows]
        return "\n".join([shown[0], f"|{'|'.join(rule)}|", *shown[1:]])
