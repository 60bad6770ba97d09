# test: check %s
# exit: 2
from functools import partial

import slipring.language as pl


def plain(x, factor):
    return x * factor


twice = partial(plain, factor=2.0)


# error: decorator a decorator that `functools.partial` makes is not read
@partial(pl.function, type=pl.FunctionType.InCore)
def kernel(x: pl.Tensor[[8, 64], pl.FP32], out: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    out[:] = x + 1.0


@pl.incore
def other(x: pl.Tensor[[8, 64], pl.FP32], out: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    # error: not-constant `twice` is not known when the kernel is compiled: it comes from `plain`, a function of the host without
    out[:] = twice(x[:])
