"""Write, check and run Cube/Vector tile kernels without the hardware."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from . import language as language
from . import pypto as pypto
from . import queue as queue
from . import reference as reference
from . import scale as scale
from . import testing as testing

__version__: str

class KernelError(ValueError):
    """A kernel that does not compile, or in which something was found: its report."""

    findings: list[dict[str, Any]]
    filename: str | None
    lineno: int | None
    waits_for_arguments: bool

class KernelWarning(UserWarning):
    """A warning of the compiler or of a run."""

class Facts(dict[str, Any]):
    """Facts of a report, with its text."""

    @property
    def text(self) -> str: ...

class Graph(str):
    """The tasks of a program as text; `svg` is a picture of them."""

    svg: str

class Run:
    """A run of a kernel: its findings, its cycles, and its results."""

    @property
    def kernel(self) -> str: ...
    @property
    def platform(self) -> str: ...
    @property
    def verdict(self) -> str: ...
    @property
    def complete(self) -> bool: ...
    @property
    def flags(self) -> str: ...
    @property
    def cycles(self) -> int: ...
    @property
    def findings(self) -> list[dict[str, Any]]: ...
    @property
    def report(self) -> str: ...
    @property
    def checks(self) -> list[dict[str, Any]]: ...
    @property
    def facts(self) -> dict[str, Any]: ...
    @property
    def printed(self) -> list[str]: ...
    @property
    def timeline(self) -> list[tuple[Any, ...]]: ...
    @property
    def memory_map(self) -> list[Any]: ...
    @property
    def returned(self) -> Any: ...
    def get(self, name: str) -> Any: ...
    def write(self) -> None: ...
    def show(self) -> None: ...
    def check(self) -> None: ...
    def trace(self, path: str | os.PathLike[str]) -> None: ...
    def text(self, stats: bool = ...) -> str: ...

class BoardRun(Run):
    """A run of a kernel through the command queue of a board (`device=`)."""

class ProgramRun(Run):
    """A run of a whole program."""

    @property
    def tasks(self) -> list[dict[str, Any]]: ...
    @property
    def windows(self) -> list[bytes]: ...
    def given_back(self, passed: Mapping[str, Any]) -> Any: ...

class Function:
    """A function of the kernel language: a kernel, or a part of one."""

    function: Callable[..., Any]
    __name__: str
    @property
    def name(self) -> str: ...
    @property
    def own_parameters(self) -> list[str]:
        """The names of the parameters in its text."""
    @property
    def peers(self) -> list[Function]:
        """The functions connected to this one by pipes: they are launched together with it."""
    @property
    def parameter_names(self) -> list[str]: ...
    @property
    def constant_names(self) -> list[str]: ...
    @property
    def defaults(self) -> dict[str, Any]: ...
    @property
    def directions(self) -> dict[str, str]: ...
    @property
    def params(self) -> list[tuple[str, Any]]: ...
    @property
    def return_types(self) -> list[Any]: ...
    @property
    def func_type(self) -> Any: ...
    @property
    def requires_runtime_binding(self) -> bool: ...
    @property
    def text(self) -> Any: ...
    def __get__(self, instance: object, owner: type | None = ...) -> Function: ...
    def __getitem__(self, blocks: int | tuple[int]) -> Callable[..., Any]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def run(self, *args: Any, platform: str | None = ..., verify: bool = ..., **kwargs: Any) -> Run: ...
    def reference(self, *args: Any, blocks: int = ..., **kwargs: Any) -> Any: ...
    def debug(
        self, *args: Any, schedule: Sequence[str] = ..., platform: str | None = ..., **kwargs: Any
    ) -> Session: ...
    def prove(self, *args: Any, timings: int | None = ..., platform: str | None = ..., **kwargs: Any) -> Facts: ...
    def rings(
        self, *args: Any, sweep: tuple[int, int] | None = ..., platform: str | None = ..., **kwargs: Any
    ) -> Facts: ...
    def benchmark(self, *args: Any, platforms: Sequence[str] = ..., **kwargs: Any) -> list[dict[str, Any]]: ...
    def graph(self, *args: Any, platform: str | None = ..., **kwargs: Any) -> Graph: ...
    def graph_svg(self, *args: Any, platform: str | None = ..., **kwargs: Any) -> str: ...
    def compile(self, *args: Any, platform: str | None = ..., config: Any = ..., **kwargs: Any) -> Any: ...
    def lower(self, *args: Any, platform: str | None = ..., config: Any = ..., **kwargs: Any) -> Any: ...
    def as_python(self) -> str: ...

class Program:
    """A class whose functions are one program."""

    @property
    def name(self) -> str: ...
    def entries(self) -> list[Any]: ...
    def lower(self, *args: Any, **kwargs: Any) -> Any: ...
    @property
    def decorator(self) -> str: ...
    def as_python(self) -> str: ...
    def get_function(self, name: str) -> Function | None: ...
    def __getattr__(self, name: str) -> Any: ...

class File:
    """A kernel or whole program of a file."""

    @property
    def parameters(self) -> Any: ...
    def arguments(self, *texts: str, seed: int = ...) -> list[Any]: ...
    def run(self, *args: Any, verify: bool = ..., **kwargs: Any) -> Run: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class Session:
    """A run and a position in it."""

    @property
    def cycle(self) -> int: ...
    @property
    def event(self) -> int: ...
    @property
    def line(self) -> int | None: ...
    @property
    def file(self) -> str | None: ...
    @property
    def events(self) -> list[tuple[str, str, int, int, int | None]]: ...
    @property
    def tiles(self) -> list[str]: ...
    @property
    def buffers(self) -> list[str]: ...
    def __call__(self, *words: str) -> str: ...
    def tile(self, name: str, core: str | None = ...) -> Any: ...
    def buffer(self, name: str) -> Any: ...

def debug(kernel: Any, *args: Any, **kwargs: Any) -> Session:
    """Runs a kernel once, and returns a session for stepping through the run."""

def open(
    path: str | os.PathLike[str],
    platform: str | None = ...,
    function: str | None = ...,
    interpretation: str | Sequence[str] = ...,
    values: Mapping[str, Any] | None = ...,
) -> File:
    """Reads a kernel or whole program from a file."""

def pack_scales(scales: Any, layout: Any) -> Any:
    """Scales in the byte order in which scaled products read them."""

def packed_scales(scales: Any, layout: Any) -> Any:
    """Marks scales that already have the byte order in which scaled products read them."""

def sweep(
    kernel: Any,
    points: Any,
    arrays: Any = ...,
    *,
    where: str = ...,
    workers: int | None = ...,
    file: str | os.PathLike[str] | None = ...,
    platform: str | None = ...,
    verify: bool = ...,
    timeout: float = ...,
    memory: Any = ...,
    progress: Any = ...,
    logs: Any = ...,
    **options: Any,
) -> Any:
    """Compiles, checks and runs a kernel at every point, and returns a table."""

def campaign(
    kind: str,
    programs: Iterable[Any] = ...,
    seeds: Iterable[int] = ...,
    *,
    where: str = ...,
    workers: int | None = ...,
    file: str | os.PathLike[str] | None = ...,
    platforms: Sequence[str] = ...,
    timeout: float = ...,
    memory: Any = ...,
    progress: Any = ...,
    logs: Any = ...,
) -> Any:
    """Tests programs with many seeds against an oracle, and returns a report."""
