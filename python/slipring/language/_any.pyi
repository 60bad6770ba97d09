"""What mypy takes the types of parameters for: it has no types with extents in their brackets."""

from typing import Any

Tensor: Any
Tile: Any
Scalar: Any
