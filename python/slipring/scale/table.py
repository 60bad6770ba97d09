"""The table of a finished sweep."""

import heapq
import json

# Limit on the displayed part of a table.
SHOWN = 12


def flat(row):
    """A row with one column per local memory."""
    memory = row.get("memory")
    rest = {name: value for name, value in row.items() if name not in ("at", "memory")}
    rest.update({f"memory {name}": value for name, value in (memory or {}).items()})
    return rest


class Table:
    """The rows of a sweep, in the order of its points: dictionaries with the parameters, then `verdict`, `cycles`,
    `local_memory` (bytes), `memory` (by memory), `outputs` (a digest of the outputs), `reason` and `line` of the first
    finding.

    The rows are stored in a file (`path`) and are read from there.
    """

    def __init__(self, journal, names):
        self._journal, self.names = journal, names

    @property
    def path(self):
        """The file: one line of JSON per row, after a header line."""
        return self._journal.path

    def __len__(self):
        return len(self._journal.at)

    def __getitem__(self, number):
        if not -len(self) <= number < len(self):
            raise IndexError(number)
        return self._journal.row(number % len(self))

    def __iter__(self):
        for number in range(len(self)):
            yield self._journal.row(number)

    def best(self, count=1, by="cycles"):
        """The clean rows with the smallest `by`, of equal ones the earlier point first; a single row for a count of
        one."""
        clean = (row for row in self if row["verdict"] == "clean" and row.get(by) is not None)
        rows = heapq.nsmallest(count, clean, key=lambda row: (row[by], row["at"]))
        if count == 1:
            return rows[0] if rows else None
        return rows

    def verdicts(self):
        """The number of points with each verdict."""
        counts = {}
        for row in self:
            counts[row["verdict"]] = counts.get(row["verdict"], 0) + 1
        return dict(sorted(counts.items()))

    def to_arrow(self):
        """A `pyarrow` table."""
        import pyarrow

        columns = {}
        rows = [flat(row) for row in self]
        for row in rows:
            for name in row:
                columns.setdefault(name)
        return pyarrow.table({name: _column(pyarrow, [row.get(name) for row in rows]) for name in columns})

    def to_pandas(self):
        """A `pandas` data frame."""
        import pandas

        return pandas.DataFrame([flat(row) for row in self])

    def write_parquet(self, path):
        """Writes a Parquet file."""
        import pyarrow.parquet

        pyarrow.parquet.write_table(self.to_arrow(), path)

    def write_json(self, file):
        """Writes one line of JSON per row to an open text file."""
        for row in self:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def plot(self, path=None, x=None, y="cycles", by=None):
        """An SVG plot of `y` over the parameter `x`, with a line for each value of `by`; refused points are left out.
        The defaults are the first two parameters. If several points share both, the smallest is shown."""
        from .plot import picture

        x = x or self.names[0]
        if by is None and len(self.names) > 1:
            by = next(name for name in self.names if name != x)
        svg = picture(self, x, y, by)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(svg)
        return svg

    def __str__(self):
        from .plot import words

        columns = [*self.names, "verdict", "cycles", "local_memory", "reason"]
        head = [name.replace("_", " ") for name in columns]
        cells = [head] + [[words(self[n].get(name)) for name in columns] for n in range(min(SHOWN, len(self)))]
        right = [all(_is_number(row[at]) for row in cells[1:]) for at in range(len(columns))]
        widths = [max(len(row[at]) for row in cells) for at in range(len(columns))]
        lines = []
        for row in cells:
            each = zip(row, widths, right)
            lines.append("  ".join(cell.rjust(width) if number else cell.ljust(width) for cell, width, number in each).rstrip())
        if len(self) > SHOWN:
            lines.append(f"… {len(self) - SHOWN} more")
        return "\n".join(lines)

    def __repr__(self):
        counts = ", ".join(f"{count} {verdict}" for verdict, count in self.verdicts().items())
        return f"<slipring table of {len(self)} points: {counts}>"


def _is_number(text):
    return text in ("", "-") or text.lstrip("-").replace(".", "", 1).isdigit()


def _column(pyarrow, values):
    try:
        return pyarrow.array(values)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
        return pyarrow.array([None if value is None else str(value) for value in values])
