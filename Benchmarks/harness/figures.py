"""What is worked out from measurements: no process is started here, no file read."""

import math
import re

MEASURES = ("wall_ms", "cpu_ms", "peak_mb")
TITLES = {"wall_ms": "wall", "cpu_ms": "CPU", "peak_mb": "peak"}
PRODUCT = "downsample"
# Differences below these are the clock's and the allocator's, not the program's.
LEAST_MS = 1.0
LEAST_MB = 0.5


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def summary(values):
    """Median, extremes, and the median of the distances from the median, which one outlier does not move."""
    middle = median(values)
    return {
        "median": rounded(middle),
        "least": rounded(min(values)),
        "most": rounded(max(values)),
        "spread": rounded(median([abs(value - middle) for value in values])),
    }


def rounded(value):
    """To four significant digits, so that a file of figures stays readable."""
    return 0.0 if value == 0 else round(value, 3 - math.floor(math.log10(abs(value))))


def number(value):
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def with_spread(figures):
    """Of a single round nothing is known of the spread."""
    middle = number(figures["median"])
    return middle if figures["least"] == figures["most"] else f"{middle} ±{number(figures['spread'])}"


def fit(width, height, longest):
    """The size of a result of which only the longest side is given; a small picture keeps its size."""
    scale = min(1.0, longest / max(width, height))
    return tuple(max(1, math.floor(side * scale + 0.5)) for side in (width, height))


def jpeg_size(data):
    """Width and height of a complete JPEG, else None."""
    if data[:2] != b"\xff\xd8" or data[-2:] != b"\xff\xd9":
        return None
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(data[at + 5 : at + 7], "big")
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None


def wrong_size(found, wanted, slack):
    """What is wrong with an output's size, or None. Programs round differently: peers have a pixel of slack."""
    if found is None:
        return "left no whole JPEG"
    if any(abs(a - b) > slack for a, b in zip(found, wanted)):
        return f"left {found[0]}x{found[1]}, not {wanted[0]}x{wanted[1]}"
    return None


def parse_tolerance(text):
    """"10%" or "0.1" as 0.1."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(%?)", text)
    if not match:
        raise ValueError(f"{text} is neither a percentage such as 10% nor a number such as 0.1")
    return float(match[1]) / (100 if match[2] else 1)


def parse_sizes(text):
    sizes = [int(part) for part in text.split(",") if re.fullmatch(r"[1-9]\d*", part)]
    if len(sizes) != text.count(",") + 1:
        raise ValueError(f"{text} is not a list of whole numbers from 1, with commas between them")
    return sizes


# MARK: Ratios


def best_peer(tools, measure):
    """Name of the peer with the least median, or None."""
    peers = [name for name, tool in tools.items() if tool["role"] == "peer" and measure in tool]
    return min(peers, key=lambda name: (tools[name][measure]["median"], name), default=None)


def ratios(tools):
    """The product's median to that of the best peer and of each reference, by measure."""
    found = {}
    product = tools.get(PRODUCT, {})
    for measure in MEASURES:
        if measure not in product:
            continue
        against = {}
        best = best_peer(tools, measure)
        if best:
            against["best peer"] = best
            against["to best peer"] = rounded(product[measure]["median"] / tools[best][measure]["median"])
        for name, tool in tools.items():
            if tool["role"] == "reference" and measure in tool and measure != "peak_mb":
                against[f"to {name}"] = rounded(product[measure]["median"] / tool[measure]["median"])
        found[measure] = against
    return found


def growth(before, now, measure):
    """How much one case's figure has grown, as a factor, and by what yardstick; None where nothing can be said.

    Peaks are compared as they are. Times are compared by what else ran in the same rounds: the fixed piece of work, and the
    peer that was the best in the baseline; by the medians, and by the least of the rounds. Any of them may be disturbed, and
    a peer may be another version, so the product is slower only when it is slower by all: the smallest factor counts.
    """
    old, new = before[PRODUCT].get(measure), now[PRODUCT].get(measure)
    if old is None or new is None:
        return None
    if measure == "peak_mb":
        return grown(old["median"], new["median"], LEAST_MB), "MB"
    candidates = [name for name, tool in before.items() if tool["role"] == "reference"]
    best = best_peer(before, measure)
    if best:
        candidates.append(best)
    factors = []
    for name in candidates:
        if measure in before.get(name, {}) and measure in now.get(name, {}):
            for kind in ("median", "least"):
                expected = old[kind] * now[name][measure][kind] / before[name][measure][kind]
                factors.append((grown(expected, new[kind], LEAST_MS), name))
    return min(factors, default=None)


def grown(expected, found, least):
    """The factor; 1 where the growth is less than `least`."""
    return 1.0 if expected < found < expected + least else found / expected


def compare(before, now, tolerance):
    """Two documents: what has become slower or larger, what faster or smaller, and how many cases both have."""
    worse, better, common = [], [], 0
    for name, case in now["cases"].items():
        if name not in before["cases"]:
            continue
        old, new = before["cases"][name]["tools"], case["tools"]
        if "failed" in old.get(PRODUCT, {"failed": ""}) or "failed" in new.get(PRODUCT, {"failed": ""}):
            continue
        common += 1
        for measure in MEASURES:
            found = growth(old, new, measure)
            if found is None:
                continue
            entry = (name, measure, *found)
            if found[0] > 1 + tolerance:
                worse.append(entry)
            elif found[0] < 1 / (1 + tolerance):
                better.append(entry)
    return worse, better, common


def in_words(entries):
    """"12mp.jpg to 2048 CPU +23%, ..."."""
    return ", ".join(f"{name} {TITLES[measure]} {100 * (factor - 1):+.0f}%" for name, measure, factor, _ in entries)


# MARK: Scaling


def cliffs(points, tolerance=0.35):
    """Steps between neighbours (size, cost), sorted by size, that cost more than the sizes explain.

    A cost is at most in proportion to the size, or, where there is a fixed part, below that. A step whose costs differ by more
    than the sizes' ratio and the tolerance is given as (from, to, factor beyond proportion).
    """
    found = []
    for (size, cost), (next_size, next_cost) in zip(points, points[1:]):
        beyond = next_cost / cost / (next_size / size)
        if beyond > 1 + tolerance:
            found.append((size, next_size, beyond))
    return found


# MARK: Tables


def table(rows, markdown=False, words=1):
    """Lines of a table whose first row is its head: `words` columns to the left, the others, numbers, to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for index, row in enumerate(rows):
        cells = [
            cell.ljust(width) if i < words else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))
        ]
        lines.append("| " + " | ".join(cells) + " |" if markdown else "  ".join(cells).rstrip())
        if markdown and index == 0:
            lines.append("|" + "---|" * words + "---:|" * (len(row) - words))
    return lines
