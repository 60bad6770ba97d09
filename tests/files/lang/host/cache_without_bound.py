# `lru_cache(None)` is a decorator without a bound: calls with the same arguments are made once.
# test: run %s --arch a5
# args: full:f32[32x64]=1 zeros:f32[32x64]
# out[1]: f32 2048*2
from functools import lru_cache

import slipring.language as pl

CALLS = 0


@lru_cache(None)
def square(x):
    global CALLS
    CALLS += 1
    return x * x


square(1)
square(1)
square(2)


@pl.incore
def k(a: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    out[:, :] = a[:, :] * float(CALLS)
