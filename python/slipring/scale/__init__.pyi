"""Distributed execution: many points, campaigns and large launches on local processes or on a Ray cluster."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TextIO, TypeAlias

_Path: TypeAlias = str | os.PathLike[str]

class PoolError(RuntimeError):
    """The pool cannot do the work: there are no workers, or they run another version of slipring."""

class Table:
    """The rows of a sweep, in the order of its points: dictionaries with the parameters, the verdict, cycles and memory."""

    names: list[str]

    @property
    def path(self) -> str: ...
    def __len__(self) -> int: ...
    def __getitem__(self, number: int) -> dict[str, Any]: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def best(self, count: int = ..., by: str = ...) -> Any:
        """The clean rows with the smallest `by`; a single row, or `None`, for a count of one."""
    def verdicts(self) -> dict[str, int]:
        """The number of points with each verdict."""
    def to_arrow(self) -> Any:
        """A `pyarrow` table."""
    def to_pandas(self) -> Any:
        """A `pandas` data frame."""
    def write_parquet(self, path: _Path) -> None:
        """Writes a Parquet file."""
    def write_json(self, file: TextIO) -> None:
        """Writes one line of JSON per row to an open text file."""
    def plot(self, path: _Path | None = ..., x: str | None = ..., y: str = ..., by: str | None = ...) -> str:
        """An SVG plot of `y` over the parameter `x`, with a line for each value of `by`."""

class Report:
    """The results of a campaign: `findings`, ordered by first occurrence, and `counts` of outcomes by class."""

    kind: str
    findings: list[dict[str, Any]]
    counts: dict[str, dict[str, int]]

    def __len__(self) -> int: ...
    @property
    def path(self) -> str: ...
    @property
    def rows(self) -> Iterator[dict[str, Any]]: ...

class Trial:
    """A method of testing programs."""

    needs_programs: bool
    options: dict[str, Any]

    def ready(self, name: str, text: str, platform: str) -> Any:
        """Data kept for a program, independent of the seed; raises `KernelError` or `Skip`."""
    def text(self, name: str, text: str, platform: str, seed: int) -> str:
        """The program for a seed, for display."""

def sweep(
    kernel: Any,
    points: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]],
    arrays: Sequence[Any] | Mapping[str, Any] | Callable[[dict[str, Any]], Any] | None = ...,
    *,
    where: str = ...,
    workers: int | None = ...,
    file: _Path | None = ...,
    platform: str | None = ...,
    verify: bool = ...,
    timeout: float = ...,
    memory: int | None = ...,
    progress: Any = ...,
    logs: _Path | None = ...,
    **options: Any,
) -> Table:
    """Compiles, checks and runs a kernel at every point, and returns a `Table`."""

def campaign(
    kind: str | type[Trial],
    programs: _Path | Iterable[_Path] = ...,
    seeds: int | Sequence[int] = ...,
    *,
    where: str = ...,
    workers: int | None = ...,
    file: _Path | None = ...,
    platforms: Sequence[str] = ...,
    timeout: float = ...,
    memory: int | None = ...,
    progress: Any = ...,
    logs: _Path | None = ...,
) -> Report:
    """Tests every program on every platform with every seed, and returns a `Report`."""
