"""Plots as plain SVG text, readable on light and on dark pages."""

import math

# Told apart by eyes that see few colours, and of enough contrast to white and to black.
COLOURS = ["#2f81d8", "#d1600a", "#2c9a5b", "#a35bd0", "#b8860b", "#c4387c"]
DASHES = ["", "7 3", "2 3", "9 3 2 3"]

PANEL_WIDTH, PANEL_HEIGHT = 300, 210
LEFT, TOP, GAP_X, GAP_Y = 52, 74, 64, 74

STYLE = """
  <style>
    svg { color: #1f2328; font: 12px system-ui, sans-serif; }
    @media (prefers-color-scheme: dark) { svg { color: #e6edf3; } }
    text { fill: currentColor; }
    .title { font-weight: 600; font-size: 13px; }
    .grid { stroke: currentColor; stroke-opacity: 0.13; }
    .frame { stroke: currentColor; stroke-opacity: 0.5; fill: none; }
    .guide { stroke: currentColor; stroke-opacity: 0.4; stroke-dasharray: 1 4; stroke-linecap: round; }
    .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
  </style>"""


class Series:
    """Points (x, y) of a name; the same colour and dashes in every panel."""

    def __init__(self, name, points, index):
        self.name, self.points = name, points
        self.colour, self.dash = COLOURS[index % len(COLOURS)], DASHES[index % len(DASHES)]


class Panel:
    """One pair of axes, both logarithmic: cost in proportion to size is a straight line of the guide's slope."""

    def __init__(self, title, x_label, y_label, series, x_ticks, guide=None, least=None, most=None):
        self.title, self.x_label, self.y_label, self.series = title, x_label, y_label, series
        self.x_ticks, self.guide = x_ticks, guide
        # Of the vertical axis; by default what the points need.
        self.least, self.most = least, most


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def ticks(least, most):
    """1, 2 and 5 times powers of ten, or only the powers where that would be too many."""
    found = []
    for power in range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1):
        for factor in (1, 2, 5) if most / least < 9000 else (1,):
            value = factor * 10.0**power
            if least * 0.999 <= value <= most * 1.001:
                found.append(value)
    return found


def bounds(values):
    """The range of an axis: to the next of 1, 2 and 5 below and above."""
    steps = [factor * 10.0**power for power in range(-6, 10) for factor in (1, 2, 5)]
    least = max(step for step in steps if step <= min(values))
    return least, min(step for step in steps if step >= max(values) and step > least)


def label(value):
    return f"{value:g}" if value < 10000 else f"{value / 1000:g}k"


def panel_lines(panel, left, top):
    values = [y for series in panel.series for _, y in series.points]
    xs = [x for series in panel.series for x, _ in series.points]
    least, most = bounds(values)
    least, most = panel.least or least, panel.most or most
    first, last = min(xs), max(xs)

    def across(x):
        return left + PANEL_WIDTH * math.log(x / first) / math.log(last / first)

    def down(y):
        return top + PANEL_HEIGHT * (1 - math.log(y / least) / math.log(most / least))

    yield f'<text class="title" x="{left}" y="{top - 10}">{escaped(panel.title)}</text>'
    for value in ticks(least, most):
        y = down(value)
        yield f'<line class="grid" x1="{left}" y1="{y:.1f}" x2="{left + PANEL_WIDTH}" y2="{y:.1f}"/>'
        yield f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{label(value)}</text>'
    for value in panel.x_ticks:
        # 12 megapixels are 12.19.
        if first * 0.97 <= value <= last * 1.03:
            x = across(min(max(value, first), last))
            yield f'<line class="grid" x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{top + PANEL_HEIGHT}"/>'
            yield f'<text x="{x:.1f}" y="{top + PANEL_HEIGHT + 16}" text-anchor="middle">{label(value)}</text>'
    yield f'<rect class="frame" x="{left}" y="{top}" width="{PANEL_WIDTH}" height="{PANEL_HEIGHT}"/>'
    middle = left + PANEL_WIDTH / 2
    yield f'<text x="{middle}" y="{top + PANEL_HEIGHT + 33}" text-anchor="middle">{escaped(panel.x_label)}</text>'
    x, y = left - 40, top + PANEL_HEIGHT / 2
    yield f'<text x="{x}" y="{y}" text-anchor="middle" transform="rotate(-90 {x} {y})">{escaped(panel.y_label)}</text>'
    if panel.guide:
        # From where it enters to where it leaves the frame: y in proportion to x.
        start = max(first, first * least / panel.guide)
        end = min(last, first * most / panel.guide)
        yield (
            f'<line class="guide" x1="{across(start):.1f}" y1="{down(panel.guide * start / first):.1f}" '
            f'x2="{across(end):.1f}" y2="{down(panel.guide * end / first):.1f}"/>'
        )
    for series in panel.series:
        points = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in series.points)
        dash = f' stroke-dasharray="{series.dash}"' if series.dash else ""
        yield f'<polyline class="line" stroke="{series.colour}"{dash} points="{points}"/>'
        for x, y in series.points:
            yield f'<circle cx="{across(x):.1f}" cy="{down(y):.1f}" r="2.6" fill="{series.colour}"/>'


def legend(series, width):
    """In one row at the top; the series of one name once."""
    x = LEFT
    for name, one in {s.name: s for s in series}.items():
        dash = f' stroke-dasharray="{one.dash}"' if one.dash else ""
        yield f'<line class="line" stroke="{one.colour}"{dash} x1="{x}" y1="38" x2="{x + 30}" y2="38"/>'
        yield f'<text x="{x + 36}" y="42">{escaped(name)}</text>'
        x += 58 + 7 * len(name)
    yield f'<line class="guide" x1="{x}" y1="38" x2="{x + 30}" y2="38"/>'
    yield f'<text x="{x + 36}" y="42">in proportion to the megapixels</text>'


def svg(title, rows):
    """Rows of panels as one document."""
    columns = max(len(row) for row in rows)
    width = LEFT + columns * PANEL_WIDTH + (columns - 1) * GAP_X + 24
    height = TOP + len(rows) * PANEL_HEIGHT + (len(rows) - 1) * GAP_Y + 46
    series = [one for row in rows for panel in row for one in panel.series]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escaped(title)}">' + STYLE,
        f'<text class="title" x="{LEFT}" y="18">{escaped(title)}</text>',
        *legend(series, width),
    ]
    for down, row in enumerate(rows):
        for across, panel in enumerate(row):
            lines += panel_lines(panel, LEFT + across * (PANEL_WIDTH + GAP_X), TOP + down * (PANEL_HEIGHT + GAP_Y))
    return "\n  ".join(lines) + "\n</svg>\n"
