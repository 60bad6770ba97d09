"""Beyond one process: many points, campaigns and large launches on local processes or on a cluster of Ray."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TextIO, TypeAlias

_Path: TypeAlias = str | os.PathLike[str]

class PoolError(RuntimeError):
    """The workers cannot do what they are asked for: there are none, or they are another version of slipring."""

class Table:
    """The rows of a sweep, in the order of its points: dictionaries with the parameters, the verdict, cycles and memory."""

    names: list[str]

    @property
    def path(self) -> str: ...
    def __len__(self) -> int: ...
    def __getitem__(self, number: int) -> dict[str, Any]: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def best(self, count: int = ..., by: str = ...) -> Any:
        """The rows with the smallest `by` among the clean ones; one row, or `None`, for one."""
    def verdicts(self) -> dict[str, int]:
        """How many points came to each verdict."""
    def to_arrow(self) -> Any:
        """A table of `pyarrow`."""
    def to_pandas(self) -> Any:
        """A frame of `pandas`."""
    def write_parquet(self, path: _Path) -> None:
        """Writes a file of Parquet."""
    def write_json(self, file: TextIO) -> None:
        """Writes a line of JSON for each row into an open text file."""
    def plot(self, path: _Path | None = ..., x: str | None = ..., y: str = ..., by: str | None = ...) -> str:
        """A picture (SVG) of `y` over the parameter `x`, a line for each value of `by`."""

class Report:
    """What a campaign found: `findings`, in the order in which they come first, and `counts` of outcomes by class."""

    kind: str
    findings: list[dict[str, Any]]
    counts: dict[str, dict[str, int]]

    def __len__(self) -> int: ...
    @property
    def path(self) -> str: ...
    @property
    def rows(self) -> Iterator[dict[str, Any]]: ...

class Trial:
    """A way to try programs."""

    needs_programs: bool
    options: dict[str, Any]

    def ready(self, name: str, text: str, platform: str) -> Any:
        """What is kept of a program, whatever the seed; raises `KernelError` or `Skip`."""
    def text(self, name: str, text: str, platform: str, seed: int) -> str:
        """The program that a seed means, for people."""

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
    """Compiles, checks and runs a kernel at every point and gives a `Table`."""

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
    """Tries every program on every platform at every seed and gives a `Report`."""
