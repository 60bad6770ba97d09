"""Plots of a table."""

import html

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 320, 70, 46, 20, 150
COLORS = ("#1b6ca8", "#d1495b", "#2e8b57", "#b8860b", "#6a4c93", "#008b8b", "#8b4513", "#555555")


def words(value):
    """A value of a table in readable form."""
    return "-" if value is None else str(value)


def nice(largest):
    """The step of an axis up to a maximum: 1, 2 or 5 times a power of ten."""
    step = 10 ** max(len(str(int(largest))) - 2, 0)
    for times in (1, 2, 5, 10, 20, 50):
        if largest <= 6 * step * times:
            return step * times
    return step * 100


def picture(table, x, y, by):
    """The smallest `y` for each value of `x` and of `by`, as an SVG."""
    places, series = {}, {}
    for row in table:
        if row["verdict"] != "clean" or row.get(y) is None:
            continue
        place = places.setdefault(words(row[x]), len(places))
        line = series.setdefault(words(row[by]) if by else "", {})
        line[place] = min(line.get(place, row[y]), row[y])
    largest = max((value for line in series.values() for value in line.values()), default=1)
    step = nice(largest)
    top = step * (-(-largest // step))
    wide = (WIDTH - LEFT - RIGHT) / max(len(places) - 1, 1)

    def at(place, value):
        return LEFT + place * wide, HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / top

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for value in range(0, int(top) + 1, int(step)):
        _, high = at(0, value)
        parts.append(f'<path d="M{LEFT} {high:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{high + 4:.1f}" text-anchor="end">{value}</text>')
    for name, place in places.items():
        parts.append(f'<text x="{at(place, 0)[0]:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{html.escape(name)}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{html.escape(x)}</text>')
    parts.append(f'<text x="8" y="{TOP - 6}">{html.escape(y)}</text>')
    for number, (name, line) in enumerate(series.items()):
        color = COLORS[number % len(COLORS)]
        points = [at(place, line[place]) for place in sorted(line)]
        path = " ".join(f"{left:.1f},{high:.1f}" for left, high in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [f'<circle cx="{left:.1f}" cy="{high:.1f}" r="3" fill="{color}"/>' for left, high in points]
        if by:
            text = html.escape(f"{by} {name}")
            parts.append(f'<text x="{WIDTH - RIGHT + 12}" y="{TOP + 16 * number + 10}" fill="{color}">{text}</text>')
    return "\n".join([*parts, "</svg>", ""])
