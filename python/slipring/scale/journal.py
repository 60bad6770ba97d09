"""The file of a sweep or a campaign: a header line, then one row of JSON per point, in order of completion.

Each row is written at once. If the work is interrupted, the complete rows are its results, and the same call resumes
after them. Once all rows are present, they are sorted by point.
"""

import array
import contextlib
import hashlib
import json
import os
import tempfile

from .. import __version__


def identity(*facts):
    """A digest of everything that determines the rows."""
    digest = hashlib.blake2b(digest_size=12)
    for fact in facts:
        digest.update(repr(fact).encode() + b"\n")
    return digest.hexdigest()


class Journal:
    """The rows of `points` points, by index; `head` describes them, and its `id` identifies the files that can be
    resumed.

    Only the offset of each row is kept in memory: 8 bytes per point.
    """

    def __init__(self, path, head, points):
        self.own = path is None
        self.path = tempfile.mkstemp(prefix="slipring-", suffix=".jsonl")[1] if self.own else os.fspath(path)
        self.head = {"slipring": __version__, **head, "points": points}
        self.at = array.array("q", [-1]) * points
        self.done = 0
        self.end = 0
        self.whole = False
        self.file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            self._go_on()
        except BaseException:
            os.close(self.file)
            self.file = None
            raise

    def _go_on(self):
        """Reads the existing file."""
        with open(self.path, "rb") as file:
            first = file.readline()
            if first:
                self._same(first)
                self.end, expected, ordered = len(first), 0, True
                for line in file:
                    number = _number(line)
                    if number is None or not 0 <= number < len(self.at):
                        # The row was not written completely.
                        break
                    if self.at[number] < 0:
                        self.done += 1
                        ordered &= number == expected
                        expected += 1
                        self.at[number] = self.end
                    self.end += len(line)
                self.whole = ordered and self.done == len(self.at)
        os.ftruncate(self.file, self.end)
        os.lseek(self.file, self.end, os.SEEK_SET)
        if not self.end:
            self._write(json.dumps(self.head, ensure_ascii=False).encode() + b"\n")

    def _same(self, first):
        try:
            head = json.loads(first)
        except ValueError:
            head = None
        if not isinstance(head, dict) or "slipring" not in head:
            raise ValueError(f"`{self.path}` is there and is not a file of slipring: name another one")
        if head.get("slipring") != __version__:
            raise ValueError(f"`{self.path}` was begun by slipring {head['slipring']}, and this is {__version__}: name another one")
        if head != self.head:
            what = [name for name in self.head if head.get(name) != self.head[name]]
            raise ValueError(f"`{self.path}` has rows of another {head.get('what', 'call')} ({', '.join(what)} differ): name another one")

    def _write(self, data):
        try:
            done = 0
            while done < len(data):
                done += os.write(self.file, memoryview(data)[done:])
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self.file, self.end)
                os.lseek(self.file, self.end, os.SEEK_SET)
            raise OSError(error.errno, error.strerror, self.path) from None
        self.end += len(data)

    def __contains__(self, number):
        return self.at[number] >= 0

    def add(self, number, text):
        """Appends a row, unless it is present."""
        if self.at[number] >= 0:
            return
        place = self.end
        self._write(text + b"\n")
        self.at[number] = place
        self.done += 1

    def missing(self):
        """Indices of the points without a row, in order."""
        return (number for number, place in enumerate(self.at) if place < 0)

    def row(self, number):
        """A row."""
        if self.at[number] < 0:
            raise IndexError(f"point {number} has no row yet")
        return json.loads(self._line(number))

    def _line(self, number):
        place, parts = self.at[number], []
        while True:
            part = os.pread(self.file, 4096, place)
            end = part.find(b"\n")
            if end >= 0 or not part:
                return b"".join(parts) + part[: end + 1]
            parts.append(part)
            place += len(part)

    def finish(self):
        """Sorts the rows by point, once all are present."""
        if self.whole or self.done < len(self.at):
            return
        beside = f"{self.path}.{os.getpid()}.tmp"
        places = array.array("q")
        try:
            with open(beside, "w+b") as file:
                place = file.write(json.dumps(self.head, ensure_ascii=False).encode() + b"\n")
                for number in range(len(self.at)):
                    places.append(place)
                    place += file.write(self._line(number))
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, self.path)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise OSError(error.errno, error.strerror, self.path) from None
        os.close(self.file)
        self.file = os.open(self.path, os.O_RDWR)
        self.at, self.end, self.whole = places, place, True

    def leave(self):
        """Keeps the file of interrupted work, and returns where it is; empty if nothing was done."""
        if self.done == 0 and self.own:
            return ""
        self.own = False
        return f"{self.done} of {len(self.at)} rows stand in {self.path}: the same call with `file` set to it goes on after them"

    def close(self):
        """Closes the file; a temporary file is deleted."""
        if self.file is None:
            return
        os.close(self.file)
        self.file = None
        if self.own:
            with contextlib.suppress(OSError):
                os.unlink(self.path)

    def __del__(self):
        if getattr(self, "file", None) is not None:
            self.close()


def _number(line):
    """The point of a row; `None` for an incomplete line."""
    if not line.endswith(b"}\n"):
        return None
    head = line[:32]
    if not head.startswith(b'{"at":'):
        return None
    digits = head[6:].split(b",", 1)[0].rstrip(b"}\n")
    return int(digits) if digits.isdigit() else None
