"""The host-to-device command queue: a simulated board as a host program meets it.

    machine = Machine("p150")
    memory = machine.pin(4096)                  # or machine.pin(array): memory that the host already has
    with machine.open(1, 2, addr=0) as window:  # 2 MiB of the tile's addresses
        window.write32(0x100, 7)
        assert window.read32(0x100) == 7
    machine.wait(1000)                          # nanoseconds of the board

The device works inside of these calls only, and `machine.time` is its clock: a host that uses it in place of its own `time`, and windows
in place of its own `mmap`, runs as on a board.

`python -m slipring.queue --board p100 host.py` runs a host program that expects a board's driver as it stands: see `driver`.

Streams, as text or bytes or the name of a file, are `decode`d, judged by `lint`, `run` and `prove`d.
"""

import os
import struct
import threading
from dataclasses import dataclass, field
from pathlib import Path

from .._slipring import Board, FindingError, Job, QueueError, stream_bytes, stream_lint, stream_prove, stream_run, stream_text, timelines

SMALL = 2 << 20
LARGE = 4 << 30


class ThreadError(QueueError):
    """A machine was used from a thread that did not create it."""


def _inside(what, offset, size, whole):
    if offset < 0 or size < 0 or offset + size > whole:
        raise IndexError(f"{size} bytes at {offset} of {what}, which has {whole}")


def brackets(at, size):
    """Parses an index: the first byte and the number of bytes, for a memory of `size` bytes."""
    if isinstance(at, slice):
        first, last, step = at.indices(size)
        if step != 1:
            raise ValueError("memory is read and written without a step")
        return first, max(last - first, 0)
    at = at + size if at < 0 else at
    if not 0 <= at < size:
        raise IndexError(f"byte {at} of {size}")
    return at, 1


class Memory:
    """Bytes that are read and written by calls or by index: `memory[4:8]`."""

    def __len__(self):
        return self.size

    def __getitem__(self, at):
        first, size = brackets(at, self.size)
        data = self.read(first, size)
        return data if isinstance(at, slice) else data[0]

    def __setitem__(self, at, value):
        first, size = brackets(at, self.size)
        data = bytes(value) if isinstance(at, slice) else bytes([value])
        if len(data) != size:
            raise ValueError(f"{len(data)} bytes do not fit {size}")
        self.write(first, data)


class Pinned(Memory):
    """Host memory that the device sees at `address`."""

    def __init__(self, machine, number, address, size, array=None):
        self.machine, self.number, self.address, self.size, self.array = machine, number, address, size, array

    def read(self, offset, size):
        _inside("pinned memory", offset, size, self.size)
        return self.machine._board.host_read(self.number, offset, size)

    def write(self, offset, data):
        data = bytes(data)
        _inside("pinned memory", offset, len(data), self.size)
        self.machine._board.host_write(self.number, offset, data)

    def unpin(self):
        self.machine._board.unpin(self.number)


class Window(Memory):
    """Addresses of a tile, or of a rectangle of tiles, as memory. It can be used like an `mmap`."""

    def __init__(self, machine, number, size):
        self.machine, self.number, self.size = machine, number, size
        self.closed = False

    def read(self, offset, size):
        _inside("a window", offset, size, self.size)
        return self.machine._board.read(self.number, offset, size)

    def write(self, offset, data):
        data = bytes(data)
        _inside("a window", offset, len(data), self.size)
        self.machine._board.write(self.number, offset, data)

    def read32(self, offset):
        return int.from_bytes(self.read(offset, 4), "little")

    def write32(self, offset, value):
        self.write(offset, struct.pack("<I", value))

    def read16(self, offset):
        return int.from_bytes(self.read(offset, 2), "little")

    def write16(self, offset, value):
        """Stores two bytes in one access: a slot."""
        self.write(offset, struct.pack("<H", value))

    def retarget(self, x0, y0, x1=None, y1=None, *, addr=0, multicast=None, noc=0, ordering="strict"):
        """Changes the target of the window."""
        self.machine._board.retarget(self.number, _target(x0, y0, x1, y1, addr, multicast, noc, ordering))

    def close(self):
        if not self.closed:
            self.closed = True
            self.machine._board.close(self.number)

    def flush(self, *_):
        """Does nothing: stores are strictly ordered unless the window specifies otherwise."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _target(x0, y0, x1, y1, addr, multicast, noc, ordering):
    far = (x0 if x1 is None else x1, y0 if y1 is None else y1)
    for value in (x0, y0, *far):
        _coordinate(value)
    if addr < 0:
        raise IndexError(f"no address is {addr}")
    return (x0, y0, *far, addr, (far != (x0, y0)) if multicast is None else multicast, noc, ordering)


def _coordinate(value):
    if not 0 <= value <= 255:
        raise ValueError(f"{value} is not a coordinate of a tile")


def _layout(layout, prefix="layout."):
    for name, value in layout.items():
        if isinstance(value, dict):
            yield from _layout(value, f"{prefix}{name}.")
        else:
            yield prefix + name, str(int(value))


def _settings(
    board=None, mode=None, seed=None, late=None, allow=(), layout=None, limits=None, trace=False, record=False, base_from_launch=False,
):
    """Named settings, in the order in which they are applied."""
    if board is not None:
        own = os.fspath(board)
        yield ("board-text", Path(own).read_text()) if own.endswith(".toml") else ("board", own)
    for name, value in (("mode", mode), ("seed", seed), ("late", late)):
        if value is not None:
            yield name, str(value)
    for code in [allow] if isinstance(allow, str) else allow:
        yield "allow", code
    yield from _layout(layout or {})
    for name, value in (limits or {}).items():
        yield name.replace("_", "-"), str(int(value))
    for name, wanted in (("trace", trace), ("record", record), ("base-from-launch", base_from_launch)):
        if wanted:
            yield name, "true"


class Time:
    """The clock of a machine, with the interface of the module `time`: sleeping lets the device run."""

    def __init__(self, machine):
        self._machine = machine

    def sleep(self, seconds):
        self._machine.wait(int(seconds * 1e9))

    def time_ns(self):
        return self._machine.now()

    def time(self):
        return self._machine.now() / 1e9

    monotonic = perf_counter = time
    monotonic_ns = perf_counter_ns = time_ns


class Machine:
    """A board with its queue: p100, p150, or the name of a board file (`my.toml`).

    `mode` is strict (it stops at the first error) or silicon; `seed` chooses delays, `late` names one kind that always is; `allow` are
    codes of hazards that are accepted; `layout` are fields of the memory map, `{"kernel_config_base": 0x82b0, "worker": {"go": 0x370}}`;
    `limits` are `steps` and `dram_bytes`. With `base_from_launch=True` the queue's kernels find their semaphores where their launch
    messages say, and not where the layout has them. With `trace=True` it keeps who did what when, with `record=True` what the host does.
    With `queues=2` the board has a second queue, on the two tiles below the first one's cores and in the next region of host memory.

    `worker` is a function that is called with each launch, a `Job`: it reads (`job.read(addr, size)`, `read_dram`, `read_host`), writes
    what comes to be there when the worker's time is over, and gives the cycles that this takes. Without it workers acknowledge launches."""

    def __init__(
        self, board="p150", mode="strict", seed=None, *,
        late=None, allow=(), layout=None, limits=None, trace=False, record=False, base_from_launch=False,
        queues=1, worker=None,
    ):
        settings = [*_settings(board, mode, seed, late, allow, layout, limits, trace, record, base_from_launch), ("queues", str(queues))]
        self._own = Board(settings)
        self._thread = threading.get_ident()
        self._calls = False
        self.time = Time(self)
        if worker is not None:
            self._own.set_worker(self._called(worker))

    def _called(self, worker):
        def call(job):
            self._calls = True
            try:
                return worker(job)
            finally:
                self._calls = False

        return call

    @property
    def _board(self):
        if self._calls:
            raise QueueError("a worker reaches the board by its job, and not by the machine")
        if threading.get_ident() != self._thread:
            raise ThreadError("a machine is used by the thread that made it, and by no other")
        return self._own

    def pin(self, memory):
        """Pins zeroed memory of this size, or memory of the host: any writable buffer, which the device then reads and
        writes in place during calls of the machine. The host's direct stores to it take no time and are not checked."""
        if isinstance(memory, int):
            number, address = self._board.pin(memory)
            return Pinned(self, number, address, memory)
        import numpy as np

        array = np.frombuffer(memory, dtype=np.uint8)
        if not array.flags.writeable:
            raise TypeError("the device writes pinned memory, and this is read-only")
        number, address = self._board.pin_array(array)
        return Pinned(self, number, address, array.size, array)

    def open(self, x0, y0, x1=None, y1=None, *, addr=0, size=SMALL, multicast=None, noc=0, ordering="strict"):
        """A window of 2 MiB or 4 GiB to a tile, or to a rectangle of tiles that all receive the writes."""
        number = self._board.open(size, _target(x0, y0, x1, y1, addr, multicast, noc, ordering))
        return Window(self, number, size)

    def register(self, offset):
        """A register of the management core."""
        return self._board.arc_read(offset)

    def wait(self, ns):
        """Advances time by this many nanoseconds."""
        self._board.wait(ns)

    def now(self):
        """Nanoseconds since the machine was created."""
        return self._board.now()

    def peek(self, x, y, addr, size):
        """The contents of a tile's memory, read without advancing time."""
        _coordinate(x)
        _coordinate(y)
        if addr < 0 or size < 0:
            raise IndexError(f"{size} bytes at {addr} of a tile")
        return self._board.peek(x, y, addr, size)

    @property
    def findings(self):
        """The findings, each as (code, text)."""
        return self._board.findings()

    @property
    def allowed(self):
        """Accepted hazards that occurred, and how often."""
        return dict(self._board.allowed())

    def status(self):
        """The state of the machine: counters by name, and under `actors` the activity of each core of the queue."""
        numbers, actors = self._board.status()
        return {**dict(numbers), "actors": actors}

    def diagnose(self):
        """A description of the deadlock as (code, text), if nothing can happen without the host; else `None`."""
        return self._board.diagnose()

    def trace(self, path):
        """Writes the activity of all actors: in Perfetto's own format if the name ends in `.pftrace`, else in
        Chrome's."""
        Path(path).write_bytes(self._board.trace(os.fspath(path)))

    def record(self, path):
        """Writes the actions of the host as a stream that `slipring queue` reads: records, and what it stored, loaded,
        polled and pinned."""
        Path(path).write_bytes(self._board.recorded())

    @property
    def timeline(self):
        """The data of `trace`, to be combined with other machines by `timeline`."""
        return self._board.timeline()

    @property
    def last_error(self):
        """The last error, or `None`."""
        return self._board.last_error()


@dataclass
class Report:
    """The findings of a stream."""

    findings: list
    """(code, text, number of the record) each."""
    not_judged: list = field(default_factory=list)
    allowed: dict = field(default_factory=dict)

    @property
    def codes(self):
        return [code for code, _, _ in self.findings]


@dataclass
class StreamRun(Report):
    """The results of a stream on a simulated board."""

    complete: bool = False
    events: list = field(default_factory=list)
    read_backs: list = field(default_factory=list)
    loads: list = field(default_factory=list)
    """The bytes of each load of its host."""
    cycles: int = 0
    timeline: object = field(default=None, repr=False, compare=False)
    """What `trace` writes, where the run was asked to keep it."""

    def trace(self, path):
        """Writes the activity of all actors in a run with `trace=True`: in Perfetto's own format if the name ends in
        `.pftrace`, else in Chrome's."""
        if self.timeline is None:
            raise QueueError("the run kept no timeline: run it with `trace=True`")
        Path(path).write_bytes(self.timeline.written(os.fspath(path)))


@dataclass
class Proof:
    """Whether a stream is `clean` for all delays, `wrong`, or `undecided`; `why` holds the codes of errors, or for a
    clean stream those of warnings and of allowed hazards that occurred, or the reasons for no verdict; `schedule` holds
    the options of `slipring queue run` that reproduce an error."""

    verdict: str
    why: list
    schedule: str


def _stream(stream):
    if isinstance(stream, os.PathLike):
        return Path(stream).read_bytes()
    if isinstance(stream, str):
        return stream.encode()
    if isinstance(stream, int):
        raise TypeError("a stream is text, bytes or a path, not a number")
    return bytes(stream)


def decode(stream):
    """A stream as text. Streams are text (`str`), bytes, or paths (`pathlib.Path`)."""
    return stream_text(_stream(stream))


def encode(stream):
    """A stream in its binary form."""
    return stream_bytes(_stream(stream))


def lint(stream, **settings):
    """Checks a stream without running it; settings are those of `Machine`."""
    findings, not_judged, allowed = stream_lint(_stream(stream), list(_settings(**settings)))
    return Report(findings, not_judged, dict(allowed))


def run(stream, *, kernel_cycles=None, worker=None, kernels=False, platform=None, **settings):
    """Runs a stream. Workers acknowledge launches after `kernel_cycles` (1000), call the function `worker`, or run the
    `kernels` of the images that they are sent, on `platform` or on the one that an image names. Settings are those of
    `Machine`."""
    if (kernel_cycles is not None) + (worker is not None) + bool(kernels) > 1:
        raise ValueError("workers do one thing: `kernel_cycles=`, `worker=` or `kernels=True`")
    if platform is not None and not kernels:
        raise ValueError("`platform=` is for `kernels=True`")
    if worker is not None and not callable(worker):
        raise TypeError(f"`worker=` takes a function, not {worker!r}")
    work = (worker, (platform,) if kernels else None, 1000 if kernel_cycles is None else kernel_cycles)
    findings, complete, events, (back, loads), cycles, timeline = stream_run(_stream(stream), list(_settings(**settings)), work)
    return StreamRun(
        findings, complete=complete, events=events, read_backs=back, loads=loads, cycles=cycles, timeline=timeline,
    )


def prove(stream, *, seeds=16, kernel_cycles=1000, **settings):
    """Proves a stream clean for all delays, or finds a schedule that shows an error."""
    return Proof(*stream_prove(_stream(stream), list(_settings(**settings)), seeds, kernel_cycles))


def timeline(path, boards):
    """Writes the timelines of several boards as one: `boards` holds machines, or runs of streams, by name. Boards share
    nothing, and each counts time from its own start."""
    parts = [(name, board.timeline) for name, board in boards.items()]
    if any(own is None for _, own in parts):
        raise QueueError("the run kept no timeline: run it with `trace=True`")
    Path(path).write_bytes(timelines(parts, os.fspath(path)))


__all__ = [
    "LARGE", "SMALL", "FindingError", "Job", "Machine", "Pinned", "Proof", "QueueError", "Report", "StreamRun", "ThreadError", "Time", "Window",
    "decode", "encode", "lint", "prove", "run", "timeline",
]
