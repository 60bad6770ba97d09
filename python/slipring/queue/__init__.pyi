"""The host-to-device command queue: a simulated board as a host program meets it."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias, overload

SMALL: int
LARGE: int

_Path: TypeAlias = str | os.PathLike[str]
_Bytes: TypeAlias = bytes | bytearray | memoryview
_Stream: TypeAlias = str | _Bytes | os.PathLike[str]
_Mode: TypeAlias = Literal["strict", "silicon"]

class QueueError(Exception):
    """What a machine or a stream refuses."""

class FindingError(QueueError):
    """A driver did what no board survives: a finding."""

class ThreadError(QueueError):
    """A machine was used from a thread that did not create it."""

class Memory:
    """Bytes that are read and written by calls or by index: `memory[4:8]`."""

    size: int

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> bytes: ...
    @overload
    def __setitem__(self, at: int, value: int) -> None: ...
    @overload
    def __setitem__(self, at: slice, value: _Bytes) -> None: ...

class Pinned(Memory):
    """Host memory that the device sees at `address`."""

    machine: Machine
    number: int
    address: int
    array: Any

    def read(self, offset: int, size: int) -> bytes: ...
    def write(self, offset: int, data: _Bytes) -> None: ...
    def unpin(self) -> None: ...

class Window(Memory):
    """Addresses of a tile, or of a rectangle of tiles, as memory. It can be used like an `mmap`."""

    machine: Machine
    number: int
    closed: bool

    def read(self, offset: int, size: int) -> bytes: ...
    def write(self, offset: int, data: _Bytes) -> None: ...
    def read32(self, offset: int) -> int: ...
    def write32(self, offset: int, value: int) -> None: ...
    def read16(self, offset: int) -> int: ...
    def write16(self, offset: int, value: int) -> None: ...
    def retarget(
        self,
        x0: int,
        y0: int,
        x1: int | None = ...,
        y1: int | None = ...,
        *,
        addr: int = ...,
        multicast: bool | None = ...,
        noc: int = ...,
        ordering: str = ...,
    ) -> None:
        """Changes the target of the window."""
    def close(self) -> None: ...
    def flush(self, *_: Any) -> None: ...
    def __enter__(self) -> Window: ...
    def __exit__(self, *_: object) -> None: ...

class Time:
    """The clock of a machine, with the interface of the module `time`: sleeping lets the device run."""

    def sleep(self, seconds: float) -> None: ...
    def time_ns(self) -> int: ...
    def monotonic_ns(self) -> int: ...
    def perf_counter_ns(self) -> int: ...
    def time(self) -> float: ...
    def monotonic(self) -> float: ...
    def perf_counter(self) -> float: ...

class Job:
    """A launch of one worker while its function runs: reads are immediate, and writes take effect when its cycles are
    over."""

    tile: tuple[int, int]
    worker: int
    cycle: int
    @property
    def launch(self) -> dict[str, int]:
        """Fields of its launch message, by name."""
    def read(self, addr: int, bytes: int) -> bytes: ...
    def read_dram(self, bank: int, addr: int, bytes: int) -> bytes: ...
    def read_host(self, address: int, bytes: int) -> bytes: ...
    def write(self, addr: int, data: bytes) -> None: ...
    def write_dram(self, bank: int, addr: int, data: bytes) -> None: ...
    def write_host(self, address: int, data: bytes) -> None: ...

class Machine:
    """A board with its queue: p100, p150, or the name of a board file (`my.toml`)."""

    time: Time

    def __init__(
        self,
        board: _Path = ...,
        mode: _Mode = ...,
        seed: int | None = ...,
        *,
        late: str | None = ...,
        allow: str | Iterable[str] = ...,
        layout: Mapping[str, Any] | None = ...,
        limits: Mapping[str, int] | None = ...,
        trace: bool = ...,
        record: bool = ...,
        base_from_launch: bool = ...,
        queues: Literal[1, 2] = ...,
        worker: Callable[[Job], int] | None = ...,
    ) -> None: ...
    def pin(self, memory: Any) -> Pinned:
        """Pins zeroed memory of this size, or memory of the host: any writable buffer."""
    def open(
        self,
        x0: int,
        y0: int,
        x1: int | None = ...,
        y1: int | None = ...,
        *,
        addr: int = ...,
        size: int = ...,
        multicast: bool | None = ...,
        noc: int = ...,
        ordering: str = ...,
    ) -> Window:
        """A window of 2 MiB or 4 GiB to a tile, or to a rectangle of tiles that all receive the writes."""
    def register(self, offset: int) -> int:
        """A register of the management core."""
    def wait(self, ns: int) -> None:
        """Advances time by this many nanoseconds."""
    def now(self) -> int:
        """Nanoseconds since the machine was created."""
    def peek(self, x: int, y: int, addr: int, size: int) -> bytes:
        """The contents of a tile's memory, read without advancing time."""
    @property
    def findings(self) -> list[tuple[str, str]]: ...
    @property
    def allowed(self) -> dict[str, int]: ...
    def status(self) -> dict[str, Any]:
        """The state of the machine: counters by name, and under `actors` the activity of each core of the queue."""
    def diagnose(self) -> tuple[str, str] | None:
        """A description of the deadlock as (code, text), if nothing can happen without the host."""
    def trace(self, path: _Path) -> None:
        """Writes the activity of all actors."""
    def record(self, path: _Path) -> None:
        """Writes the actions of the host as a stream that `slipring queue` reads."""
    @property
    def timeline(self) -> Any:
        """The data of `trace`, to be combined with other machines by `timeline`."""
    @property
    def last_error(self) -> str | None: ...

class Report:
    """The findings of a stream."""

    findings: list[tuple[str, str, int]]
    not_judged: list[str]
    allowed: dict[str, int]

    def __init__(
        self, findings: list[tuple[str, str, int]], not_judged: list[str] = ..., allowed: dict[str, int] = ...
    ) -> None: ...
    @property
    def codes(self) -> list[str]: ...

class StreamRun(Report):
    """The results of a stream on a simulated board."""

    complete: bool
    events: list[int]
    read_backs: list[Any]
    loads: list[bytes]
    cycles: int
    timeline: Any

    def __init__(
        self,
        findings: list[tuple[str, str, int]],
        not_judged: list[str] = ...,
        allowed: dict[str, int] = ...,
        complete: bool = ...,
        events: list[int] = ...,
        read_backs: list[Any] = ...,
        loads: list[bytes] = ...,
        cycles: int = ...,
        timeline: Any = ...,
    ) -> None: ...
    def trace(self, path: _Path) -> None:
        """Writes the activity of all actors in a run with `trace=True`."""

class Proof:
    """Whether a stream is `clean` for all delays, `wrong`, or `undecided`, and why."""

    verdict: str
    why: list[str]
    schedule: str

    def __init__(self, verdict: str, why: list[str], schedule: str) -> None: ...

def decode(stream: _Stream) -> str:
    """A stream as text. Streams are text (`str`), bytes, or paths (`pathlib.Path`)."""

def encode(stream: _Stream) -> bytes:
    """A stream in its binary form."""

def lint(stream: _Stream, **settings: Any) -> Report:
    """Checks a stream without running it; settings are those of `Machine`."""

def run(
    stream: _Stream,
    *,
    kernel_cycles: int | None = ...,
    worker: Callable[[Job], int] | None = ...,
    kernels: bool = ...,
    platform: str | None = ...,
    **settings: Any,
) -> StreamRun:
    """Runs a stream. Workers acknowledge launches, call a function, or run the kernels of the images that they are
    sent."""

def prove(stream: _Stream, *, seeds: int = ..., kernel_cycles: int = ..., **settings: Any) -> Proof:
    """Proves a stream clean for all delays, or finds a schedule that shows an error."""

def timeline(path: _Path, boards: Mapping[str, Machine | StreamRun]) -> None:
    """Writes the timelines of several boards as one, by their names."""
