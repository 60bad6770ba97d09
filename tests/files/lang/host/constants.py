# test: run %s --arg full:f32[16x64]=1.0 --arg zeros:f32[16x64]
# out[1]: f32 1024*46.125
# What the file computes before any kernel is compiled, as Python does it:
# 1/sqrt(64) = 0.125; 3 + 4 + 5 = 12; 2*16 = 32; max(1, 2) = 2; 0.125 + 12 + 32 + 2 = 46.125
import math
import os
import sys
from collections import namedtuple
from dataclasses import dataclass, field

import pypto.language as pl

try:
    import torch
except ImportError:
    torch = None

N = 64
SCALE = 1.0 / math.sqrt(N)
SHAPE = [16, N]
DT = pl.FP32
VERBOSE = os.environ.get("VERBOSE", "0") == "1"
SIZES = {"rows": 16, "cols": [n for n in (16, 32, 64, 128) if n > 32][0]}
PARTS = [i + 3 for i in range(pl.cdiv(5, 2))]
ROWS, (COLS, _) = SHAPE[0], (SHAPE[-1], None)


@dataclass(frozen=True)
class Config:
    rows: int = 16
    factor: int = field(default=2)
    names: list = field(default_factory=list)

    def total(self):
        return self.rows * self.factor


CFG = Config()
SUM = sum(PARTS)
LIMIT = float("-inf")
TOTAL = CFG.total()


def larger(a, b):
    if a > b:
        return a
    return b


BEST = larger(*[1, 2])
assert abs(-3) == 3 and round(2.5) == 2 and len(SHAPE) == 2

if __name__ == "__main__":
    print(f"N={N}", file=sys.stderr)


@pl.incore
def kernel(x: pl.Tensor[SHAPE, DT], y: pl.Out[pl.Tensor[[CFG.rows, SIZES["cols"]], DT]]):
    """A docstring."""
    low = pl.full([ROWS, COLS], dtype=pl.FP32, value=LIMIT)
    t = pl.maximum(low, x * SCALE)
    y[:] = t + SUM + TOTAL + BEST
