"""Runs an unmodified host program on a simulated board: `python -m slipring.queue --board p100 host.py`.

The program opens `/dev/tenstorrent/0`, reads `/sys/class/tenstorrent`, sends ioctls, maps windows and pins memory of
its own, and finds a board behind them. Time is the board's: `time.sleep` lets it run, and clocks show its cycles.

Only accesses through Python's own modules are intercepted: `open`, `os`, `fcntl.ioctl`, `mmap.mmap`, `time`. Windows
and pinned memory are accessed by index, or a window by `read` and `write`; a `memoryview` of pinned memory bypasses the
machine, which then does not check these accesses. Workers acknowledge launches and run no kernels.
"""

import builtins
import contextlib
import fcntl
import io
import mmap
import os
import pathlib
import runpy
import shutil
import sys
import tempfile
import threading
import time
import traceback

from . import FindingError, Machine
from ._node import Node, refused

NODES = "/dev/tenstorrent"
CLASS = "/sys/class/tenstorrent"
# The driver's names of the cards with built-in boards.
CARDS = {"p100": "p100a", "p150": "p150a"}
# The time that reading a clock takes the host, in nanoseconds.
LOOK = 50


class Driver:
    """Makes the nodes of a board visible to programs in this process, while `active`."""

    def __init__(self, machine):
        self.machine = machine
        self.node = Node(machine)
        self._root = None
        self._file = None
        self._thread = threading.get_ident()
        self._started = time.time_ns()
        self._now = 0

    @contextlib.contextmanager
    def active(self):
        """Installs the nodes where programs look for them, and removes them at the end."""
        self._root = tempfile.mkdtemp(prefix="slipring-board-")
        try:
            self._lay_out()
            with contextlib.ExitStack() as stack:
                for module, name, new in self._replacements():
                    stack.callback(setattr, module, name, getattr(module, name))
                    setattr(module, name, new)
                yield self
        finally:
            shutil.rmtree(self._root)

    def _lay_out(self):
        name = self.machine._board.board()[0]
        files = {f"{NODES}/0": "", f"{CLASS}/tenstorrent!0/tt_card_type": CARDS.get(name, name) + "\n"}
        for path, text in files.items():
            path = self._root + path
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        node = os.stat(f"{self._root}{NODES}/0")
        self._file = node.st_dev, node.st_ino

    def _replacements(self):
        for module, names in (
            (os, ("open", "stat", "lstat", "listdir", "scandir", "access")),
            (io, ("open",)),
            (builtins, ("open",)),
        ):
            for name in names:
                yield module, name, self._redirected(getattr(module, name))
        # Python 3.10 stores these functions for paths in a class at import time.
        kept = getattr(pathlib, "_NormalAccessor", None)
        for name in ("open", "stat", "lstat", "listdir", "scandir"):
            if hasattr(kept, name):
                yield kept, name, staticmethod(self._redirected(getattr(kept, name)))
        yield fcntl, "ioctl", self._ioctl(fcntl.ioctl)
        yield mmap, "mmap", self._mapping(mmap.mmap)
        yield time, "sleep", self._sleep(time.sleep)
        for name, since in (("time", self._started), ("monotonic", 0), ("perf_counter", 0)):
            yield time, name, lambda since=since: (since + self._clock()) / 1e9
            yield time, f"{name}_ns", lambda since=since: since + self._clock()

    def _redirected(self, real):
        """A function on paths that also finds the board's files."""

        def call(path=".", *args, **kwargs):
            own = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
            if isinstance(own, str) and any(own == top or own.startswith(top + "/") for top in (NODES, CLASS)):
                path = self._root + own
            return real(path, *args, **kwargs)

        return call

    def _is_node(self, fd):
        if not isinstance(fd, int):
            fd = fd.fileno()
        if fd < 0:
            return False
        found = os.fstat(fd)
        return (found.st_dev, found.st_ino) == self._file

    def _ioctl(self, real):
        def ioctl(fd, request, arg=0, mutate_flag=True, /):
            if not self._is_node(fd):
                return real(fd, request, arg, mutate_flag)
            if isinstance(arg, int):
                raise refused(22, f"ioctl {request:#x} of a board has an argument in memory, not the number {arg}")
            given = memoryview(arg).cast("B")
            out = self.node.ioctl(request, bytes(given))
            if given.readonly or not mutate_flag:
                return out[: len(given)].ljust(len(given), b"\0")
            given[: len(out)] = out[: len(given)]
            return 0

        return ioctl

    def _mapping(self, real):
        driver = self

        class Mapping(real):
            """Memory of the host. Loads and stores of pinned parts go through the machine."""

            def __new__(cls, fileno, length, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ | mmap.PROT_WRITE, *rest, **more):
                if fileno != -1 and driver._is_node(fileno):
                    offset = rest[1] if len(rest) > 1 else more.get("offset", 0)
                    return driver.node.map(length, offset)
                own = super().__new__(cls, fileno, length, flags, prot, *rest, **more)
                own.pins = []
                if fileno == -1:
                    driver.node.host.add(own)
                return own

            def _pinned(self, at):
                """The pinned memory that an index selects, and the offset in it."""
                if not self.pins or (isinstance(at, slice) and at.step not in (None, 1)):
                    return None
                first, last, _ = at.indices(len(self)) if isinstance(at, slice) else (at % len(self), at % len(self) + 1, 1)
                for start, pinned in self.pins:
                    if start <= first and last <= start + pinned.size and first < last:
                        return pinned, first - start, last - first
                return None

            def __getitem__(self, at):
                found = self._pinned(at)
                if found is None:
                    return super().__getitem__(at)
                pinned, first, size = found
                data = pinned.read(first, size)
                return data if isinstance(at, slice) else data[0]

            def __setitem__(self, at, value):
                found = self._pinned(at)
                if found is None:
                    super().__setitem__(at, value)
                    return
                pinned, first, size = found
                data = bytes(value) if isinstance(at, slice) else bytes([value])
                if len(data) != size:
                    raise IndexError("mmap slice assignment is wrong size")
                pinned.write(first, data)

        return Mapping

    def _clock(self):
        """Nanoseconds since the start, by the board's clock. Findings are not raised here, but at the host's next
        access to the board."""
        if threading.get_ident() == self._thread:
            with contextlib.suppress(FindingError):
                self.machine._board.elapse(LOOK)
            self._now = self.machine.now()
        return self._now

    def _sleep(self, real):
        def sleep(seconds, /):
            if threading.get_ident() != self._thread:
                return real(seconds)
            if seconds < 0:
                raise ValueError("sleep length must be non-negative")
            self.machine.wait(int(seconds * 1e9))

        return sleep


def run(host, arguments, machine):
    """Runs a host program on a machine; returns its exit code, or its exception."""
    argv, path = sys.argv, sys.path[:]
    sys.argv, sys.path[0] = [host, *arguments], os.path.dirname(os.path.abspath(host))
    try:
        with Driver(machine).active():
            runpy.run_path(host, run_name="__main__")
        return 0
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else end
    except Exception as error:
        return error
    finally:
        sys.argv, sys.path[:] = argv, path


def report(host, machine, end, out=sys.stderr):
    """Prints the outcome and returns the exit code: 0 for no findings, 1 for errors, or that of the host program."""
    errors, warnings = machine._board.counts()
    said = ""
    if isinstance(end, SystemExit):
        said = str(end.code)
        print(said, file=out)
    elif isinstance(end, Exception):
        said = str(end)
        lines = traceback.TracebackException.from_exception(end)
        lines.stack = traceback.StackSummary.from_list([frame for frame in lines.stack if not _own(frame.filename)])
        print("".join(lines.format()), end="", file=out)
    met = {}
    for code, text in machine.findings:
        if code not in met and text not in said:
            print(text, file=out)
        met[code] = met.get(code, 0) + 1
    for code, times in met.items():
        if times > 1:
            print(f"{code}: {times} times, the first is shown", file=out)
    status, stuck = machine.status(), machine.diagnose()
    # A host that never queued anything waits for nothing.
    if isinstance(end, Exception) and stuck and not errors and status["announced"]:
        print(stuck[1], file=out)
    for code, times in machine.allowed.items():
        print(f"{code}: {times} times, allowed", file=out)
    name = machine._board.board()[0]
    print(
        f"{host} on a {name}: {status['announced']} records, {status['prefetch_commands']} prefetch and "
        f"{status['dispatch_commands']} dispatch commands, {status['launches']} launches of workers, which run no kernels; "
        f"{errors} errors, {warnings} warnings, {machine.now() / 1000:.1f} us of the board",
        file=out,
    )
    return 1 if errors or isinstance(end, Exception) or isinstance(end, SystemExit) else end


def _own(file):
    return os.path.dirname(os.path.abspath(file)) == os.path.dirname(os.path.abspath(__file__)) or "<frozen" in file


__all__ = ["Driver", "Machine", "report", "run"]
