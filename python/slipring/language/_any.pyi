"""The type that mypy assumes for parameters: it does not support subscripts with extents."""

from typing import Any

Tensor: Any
Tile: Any
Scalar: Any
