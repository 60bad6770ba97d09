"""Write, check and run Cube/Vector tile kernels without the hardware.

    import numpy as np, slipring, slipring.language as pl

    @pl.jit
    def double(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        out[:] = pl.mul(x[:, :], 2.0)

    double(x, y)             # compiled for these shapes, checked, run; y is written; findings raise
    run = double.run(x, y)   # or look at it
"""

from ._slipring import KernelError, __version__
from ._debug import debug
from ._files import open
from ._kernel import Function
from ._program import Program
from ._runs import KernelWarning, Run
from ._scales import pack_scales, packed_scales

__all__ = [
    "Function",
    "KernelError",
    "KernelWarning",
    "Program",
    "Run",
    "__version__",
    "campaign",
    "debug",
    "language",
    "open",
    "pack_scales",
    "packed_scales",
    "reference",
    "scale",
    "sweep",
    "testing",
]

# Names of this package as kernels see them.
__slipring_path__ = "slipring"
_LAZY = ("testing", "reference", "pypto", "language", "queue", "scale")
# Functions of the subpackage `scale`.
_SCALE = ("campaign", "sweep")


def __getattr__(name):
    if name in _LAZY:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    if name in _SCALE:
        from . import scale

        return getattr(scale, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
