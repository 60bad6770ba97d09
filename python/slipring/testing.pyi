"""Comparisons for tests."""

from collections.abc import Sequence
from typing import Any

from . import KernelError as KernelError

PLATFORMS: tuple[str, ...]
SLACK: dict[str, float]

def difference(got: Any, wanted: Any, rtol: float | None = ..., atol: float | None = ...) -> str | None:
    """The difference of two arrays, as text; `None` if they agree."""

def assert_agrees(
    kernel: Any,
    arguments: Sequence[Any],
    platforms: Sequence[str] = ...,
    rtol: float | None = ...,
    atol: float | None = ...,
    reference: bool = ...,
    **options: Any,
) -> None:
    """Runs a kernel on every platform, and compares its outputs with the reference and between the platforms."""
