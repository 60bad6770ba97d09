"""Debugger sessions: the commands of `slipring debug`, with tiles as arrays."""

from html import escape

from ._arrays import dtype_of, of_bytes
from ._html import LEFT, WIDTH, timeline

# Number of events shown on each side of the current cycle in a notebook's picture.
SHOWN = 1000


class Session:
    """A run and a position in it. Called with a command of `slipring debug`, it moves and returns the command's
    output."""

    def __init__(self, inner, shapes):
        self._inner = inner
        self._shapes = shapes

    def __call__(self, *words):
        """Executes each line: `session("until slot 2 of ring C2V becomes full", "where")`; returns the outputs as one
        text."""
        return "".join(self._inner.said(word) for word in words)

    @property
    def cycle(self):
        """The current cycle."""
        return self._inner.place[2]

    @property
    def event(self):
        """The number of events that have begun."""
        return self._inner.place[0]

    @property
    def line(self):
        """The source line of the current event, or `None`."""
        place = self._inner.place_in_source
        return place and place[0]

    @property
    def file(self):
        """The file of that line if it is not the kernel's file; else `None`."""
        place = self._inner.place_in_source
        return place and place[1]

    @property
    def events(self):
        """All events: agent, name, first cycle, one past the last cycle, source line."""
        return self._inner.events()

    @property
    def tiles(self):
        """The names of the tiles with known addresses."""
        return self._inner.names[0]

    @property
    def buffers(self):
        """The names of the array arguments."""
        return self._inner.names[1]

    def tile(self, name, core=None):
        """The contents of a tile at the end of the current cycle, as an array. `core` selects one if several cores have
        such a tile."""
        found = {one[0]: one for one in self._inner.tiles(name)}
        if not found:
            raise KeyError(f"there is no tile `{name}` whose address is known; there are {', '.join(self.tiles)}")
        if core is None and len(found) > 1:
            raise ValueError(f"`{name}` is on {' and '.join(found)}: say whose with `core`")
        core = core or next(iter(found))
        if core not in found:
            raise KeyError(f"`{name}` is on {' and '.join(found)}, and not on {core}")
        _, _, _, elem, shape, data = found[core]
        return of_bytes(data, dtype_of(elem), shape)

    def buffer(self, name):
        """The contents of an array argument at the end of the current cycle, as a new array."""
        found = self._inner.buffer(name)
        if found is None:
            raise KeyError(f"no array is called `{name}`; there are {', '.join(self.buffers)}")
        elem, data = found
        return of_bytes(data, dtype_of(elem), self._shapes.get(name, (-1,)))

    def __repr__(self):
        begun, count, cycle, last = self._inner.place
        return f"<run at cycle {cycle} of {last}, event {begun} of {count}>"

    def _repr_html_(self):
        begun, count, cycle, last = self._inner.place
        first = max(0, min(begun - SHOWN // 2, count - SHOWN))
        near = self.events[first : first + SHOWN]
        rows = [("", *who.rpartition(".")[::2], what, start, end, line) for who, what, start, end, line in near]
        waits = [at for at, wait in enumerate(self._inner.waits()[first : first + SHOWN]) if wait]
        picture = timeline(rows, last, waits)
        # The current cycle, as a line across all rows.
        at = LEFT + cycle * WIDTH / max(last, 1)
        mark = f"<line x1='{at:.1f}' x2='{at:.1f}' y1='0' y2='100%' stroke='#c0392b' stroke-width='1.5'/></svg>"
        picture = picture.replace("</svg>", mark, 1)
        head = f"<p>cycle <b>{cycle}</b> of {last}, event {begun} of {count}</p>"
        # The current line is visibly marked.
        listed = "".join(f"▶{line[1:]}" if line.startswith("*") else line for line in self("list").splitlines(keepends=True))
        parts = (listed, self("where"), self("rings"))
        said = "".join(f"<pre style='overflow-x:auto'>{escape(part)}</pre>" for part in parts if part.strip())
        return head + picture + said


def debug(kernel, *args, **kwargs):
    """Runs a kernel for these arguments once, and returns a `Session` for stepping through the run. The arrays are left
    unchanged.

    `schedule` is a list of delayed operations, as `slipring prove` writes them; further options are those of `run`.
    """
    if not hasattr(kernel, "debug"):
        raise TypeError(f"a kernel is gone through, and a {type(kernel).__name__} is given")
    return kernel.debug(*args, **kwargs)
