"""Notebook display of runs, kernels and findings."""

from html import escape

from . import _slipring

# Colours that are readable on light and on dark backgrounds.
COLORS = {"clean": "#2e8b57", "findings": "#c0392b", "partly": "#b8860b"}
PIPES = ["#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#9d755d", "#eeca3b"]
# Maximum number of events in a picture.
SHOWN = 2000
# Left edge and width of a timeline.
LEFT, WIDTH = 110, 720


def table(head, rows):
    cells = "".join(f"<th style='text-align:left'>{escape(str(cell))}</th>" for cell in head)
    lines = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{cells}</tr>{lines}</table>"


def timeline(events, cycles, waits=()):
    """An SVG of the activity of each pipe. `waits` are the indices of events that are waits: they are drawn pale and
    low."""
    rows = sorted({(event[0], event[1], event[2]) for event in events})
    if not rows or not cycles:
        return ""
    width, line, left = WIDTH, 16, LEFT
    marks = []
    for at, (block, core, pipe) in enumerate(rows):
        y = at * line
        marks.append(f"<text x='0' y='{y + 11}' font-size='10' fill='currentColor'>{block} {escape(core)} {escape(pipe)}</text>")
    waits = set(waits)
    for at, (block, core, pipe, op, start, end, where) in enumerate(events[:SHOWN]):
        x, w = left + start * width / cycles, max((end - start) * width / cycles, 0.5)
        y = rows.index((block, core, pipe)) * line + 2
        color = PIPES[sum(op.encode()) % len(PIPES)]
        title = f"{op}: cycles {start} to {end}" + (f", line {where}" if where else "")
        look = f"fill='{color}'"
        high = line - 4
        if at in waits:
            look, high, y = "fill='currentColor' fill-opacity='0.25'", 3, y + line - 9
        marks.append(
            f"<rect x='{x:.1f}' y='{y}' width='{w:.1f}' height='{high}' {look}><title>{escape(title)}</title></rect>"
        )
    more = f"<p>{len(events) - SHOWN} more events are not shown</p>" if len(events) > SHOWN else ""
    size = f"{left + width + 4} {len(rows) * line + 4}"
    # In narrow notebooks the picture scrolls, not the page.
    picture = f"<svg viewBox='0 0 {size}' width='{left + width + 4}' style='max-width:none'>{''.join(marks)}</svg>"
    return f"<div style='overflow-x:auto'>{picture}</div>{more}"


def line_of(own):
    """A line as displayed: with its file, if that is another one."""
    return f"{own['line']} of {own['file']}" if own.get("file") else own["line"]


def memory(maps):
    """The buffers of each local memory."""
    parts = []
    for one in maps:
        rows = [
            (buffer["name"], line_of(buffer), buffer["address"], buffer["bytes"], buffer["slots"] or "")
            for buffer in one["buffers"]
        ]
        head = f"<b>{escape(one['title'])}</b>, {one['capacity']} bytes"
        parts.append(head + table(("buffer", "line", "address", "bytes", "slots"), rows))
    return "".join(parts)


def figure(one):
    """The cycles of a run with their error, or without it if the run states none, such as a run on a board."""
    if "evidence" not in one.facts:
        return f"{one.cycles} cycles"
    return _slipring.figure(one.cycles, one.facts["evidence"]["error_percent"])


def findings(report):
    """Messages as in the terminal."""
    return f"<pre style='overflow-x:auto'>{escape(report)}</pre>" if report else ""


def outcome(one):
    """The name, verdict and cycles of a run, its findings, and what was checked."""
    head = (
        f"<b>{escape(one.kernel)}</b> on {escape(one.platform)}: "
        f"<b style='color:{COLORS[one.verdict]}'>{one.verdict}</b>, {figure(one)}"
    )
    checks = table(
        ("tool", "verdict", "what"), [(check["tool"], check["verdict"], check["detail"]) for check in one.checks]
    )
    return head + findings(one.report) + checks


def program(one):
    """The run of a whole program: its tasks by cluster, and their dependencies."""
    tasks = [
        (task["task"], task["name"] + task["iteration"], line_of(task), task["blocks"], task["start"], task["end"])
        for task in one.tasks[:SHOWN]
    ]
    tasks = table(("task", "name", "line", "blocks", "start", "end"), tasks)
    events = [(0, "cluster", str(cluster), name, start, end, line) for cluster, name, start, end, line in one.timeline]
    picture = one._kernel.svg(one.facts["critical_path"]["tasks"])
    graph = f"<details><summary>graph</summary>{picture}</details>" if picture else ""
    return f"<div>{outcome(one)}{timeline(events, one.cycles)}<details><summary>tasks</summary>{tasks}</details>{graph}</div>"


def run(one):
    rings = [
        (ring["name"], ring["lane"], ring["slots"], ring["pushed"], ring["most_filled"], f"{ring['mean_filled']:.2f}")
        for ring in one.facts["rings"]
    ]
    rings = table(("ring", "lane", "slots", "pushed", "most filled", "mean filled"), rings) if rings else ""
    memories = f"<details><summary>memory</summary>{memory(one.memory_map)}</details>"
    return f"<div>{outcome(one)}{timeline(one.timeline, one.cycles)}{rings}{memories}</div>"


def kernel(one):
    text = "".join(one.text.lines)
    return f"<div><b>{escape(one.__qualname__)}</b>, a kernel of slipring<pre>{escape(text)}</pre></div>"


class Facts(dict):
    """Facts by their names, also as attributes; their `text`, the report as the command line prints it, is what a notebook shows."""

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(f"there is no `{name}` among these facts: they are {', '.join(self)}")

    def __repr__(self):
        return self["text"]

    def _repr_html_(self):
        return f"<pre>{escape(self['text'])}</pre>"


class Graph(str):
    """Tasks and their dependencies as text; a notebook displays the picture."""

    svg = ""

    def _repr_html_(self):
        return self.svg or f"<pre>{escape(self)}</pre>"
