"""Plots as SVG, for light and dark pages, with the colours of docs/flow.svg and a mark beside each colour."""

import html
import math

COLOURS = [("#0969da", "#4493f8"), ("#bc4c00", "#db6d28"), ("#1a7f37", "#3fb950"), ("#8250df", "#ab7df8"),
           ("#bf3989", "#db61a2"), ("#9a6700", "#d29922"), ("#1b7c83", "#39c5cf"), ("#cf222e", "#f85149"),
           ("#59636e", "#9198a1"), ("#0550ae", "#79c0ff")]
WIDTH, LEFT, RIGHT, TOP = 720, 62, 14, 44


def style():
    lines = ["text { font: 13px system-ui, sans-serif; fill: #1f2328; } .small { font-size: 12px; fill: #59636e; }",
             ".name { font-size: 15px; font-weight: 600; } .ground { fill: #ffffff; }",
             ".grid { stroke: #d1d9e0; stroke-width: 1; } .bound { stroke: #59636e; stroke-dasharray: 4 4; }"]
    dark = ["text { fill: #f0f6fc; } .small { fill: #9198a1; } .ground { fill: #0d1117; } .grid { stroke: #3d444d; }",
            ".bound { stroke: #9198a1; }"]
    for number, (light, night) in enumerate(COLOURS):
        for rules, colour in ((lines, light), (dark, night)):
            rules.append(f".c{number} {{ stroke: {colour}; fill: {colour}; }} path.c{number} {{ fill: none; }}")
    return "\n".join([*lines, "@media (prefers-color-scheme: dark) {", *dark, "}"])


def mark(number, x, y):
    """A shape of its own for each series, so that colour is not all that tells them apart."""
    draw = [f'<circle class="c{number}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>',
            f'<rect class="c{number}" x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"/>',
            f'<path class="c{number}" style="fill:currentColor" d="M{x:.1f} {y - 5:.1f} l5 9 h-10 z"/>',
            f'<path class="c{number}" stroke-width="2" d="M{x - 4:.1f} {y - 4:.1f} l8 8 m0 -8 l-8 8"/>']
    return draw[number % 4].replace(' style="fill:currentColor"', "")


def svg(title, height, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="title">\n'
            f'<title id="title">{html.escape(title)}</title>\n<style>\n{style()}\n</style>\n'
            f'<rect class="ground" width="{WIDTH}" height="{height}" rx="8"/>\n'
            f'<text class="name" x="{LEFT - 46}" y="26">{html.escape(title)}</text>\n' + "\n".join(body) + "\n</svg>\n")


def decades(numbers):
    least = math.floor(math.log10(min(numbers)))
    return least, max(math.ceil(math.log10(max(numbers))), least + 1)


def shown(power, unit):
    number = 10.0 ** power
    return f"{number:,.0f}{unit}" if power >= 0 else f"{number:.{-power}f}{unit}"


def lines(title, series, unit, across):
    """Both axes by powers of ten. `series`: name to points."""
    points = [point for values in series.values() for point in values]
    (x0, x1), (y0, y1) = decades([x for x, _ in points]), decades([y for _, y in points])
    rows = (len(series) + 1) // 2
    bottom = TOP + 330
    width, deep = WIDTH - LEFT - RIGHT, bottom - TOP

    def place(x, y):
        return (LEFT + (math.log10(x) - x0) / (x1 - x0) * width, bottom - (math.log10(y) - y0) / (y1 - y0) * deep)

    body = []
    for power in range(y0, y1 + 1):
        _, y = place(10 ** x0, 10.0 ** power)
        body.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>')
        body.append(f'<text class="small" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{shown(power, unit)}</text>')
    for power in range(x0, x1 + 1):
        x, _ = place(10.0 ** power, 10.0 ** y0)
        anchor = "end" if power == x1 else "middle"
        body.append(f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}"/>')
        body.append(f'<text class="small" x="{x:.1f}" y="{bottom + 18}" text-anchor="{anchor}">{shown(power, "")}</text>')
    body.append(f'<text class="small" x="{LEFT + width / 2}" y="{bottom + 36}" text-anchor="middle">{across}</text>')
    for number, (name, values) in enumerate(series.items()):
        places = [place(*point) for point in values]
        path = " L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        wide = 3 if number == 0 else 1.6
        body.append(f'<path class="c{number}" stroke-width="{wide}" d="M{path}"/>')
        body += [mark(number, x, y) for x, y in places]
        x, y = LEFT + (number // rows) * width / 2, bottom + 62 + (number % rows) * 21
        body.append(mark(number, x, y))
        body.append(f'<text x="{x + 12:.1f}" y="{y + 4.5:.1f}">{html.escape(name)}</text>')
    return svg(title, bottom + 62 + rows * 21, body)


def bars(title, rows, unit, bounds):
    """A line from least to most with the median on it, by powers of ten. `rows`: name to least, median, most."""
    numbers = [number for row in rows.values() for number in row.values()]
    x0, x1 = decades([min(1, *numbers), *numbers, *bounds.values()])
    left = 270
    width, deep = WIDTH - left - 62, len(rows) * 30

    def place(value):
        return left + (math.log10(value) - x0) / (x1 - x0) * width

    body = []
    for power in range(x0, x1 + 1):
        x = place(10.0 ** power)
        body.append(f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{TOP + deep}"/>')
        body.append(f'<text class="small" x="{x:.1f}" y="{TOP + deep + 18}" text-anchor="middle">{shown(power, unit)}</text>')
    for number, (name, row) in enumerate(rows.items()):
        y = TOP + 17 + number * 30
        body.append(f'<text x="{left - 12}" y="{y + 4}" text-anchor="end">{html.escape(name)}</text>')
        body.append(f'<path class="c{0 if row["median"] >= 1 else 1}" stroke-width="9" '
                    f'd="M{place(1):.1f} {y} H{place(row["median"]):.1f}"/>')
        body.append(f'<path class="c8" stroke-width="2" d="M{place(row["min"]):.1f} {y} H{place(row["max"]):.1f}"/>')
        if name in bounds:
            x = place(bounds[name])
            body.append(f'<line class="bound" stroke-width="2" x1="{x:.1f}" y1="{y - 13}" x2="{x:.1f}" y2="{y + 13}"/>')
        end = max(place(row["max"]), place(row["median"]), place(1)) + 8
        body.append(f'<text x="{end:.1f}" y="{y + 4}">{figure(row["median"])}{unit}</text>')
    return svg(title, TOP + deep + 30, body)


def figure(number):
    """Three digits are all that a noisy machine says."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
