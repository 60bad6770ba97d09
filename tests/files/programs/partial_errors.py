# test: check %s
# exit: 2
import functools

import pypto.language as pl


@pl.jit.incore
def add(x: pl.Tensor[[8, 64], pl.FP32], out: pl.Out[pl.Tensor[[8, 64], pl.FP32]]) -> pl.Tensor[[8, 64], pl.FP32]:
    out[:] = x + 1.0
    return out


@pl.function(type=pl.FunctionType.Orchestration)
def main(x: pl.Tensor[[8, 64], pl.FP32], a: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    submit = functools.partial(pl.submit, add, deps=[])
    # error: argument `functools.partial` of a word of the language takes arguments in order
    a, _ = submit(x, a)
    return a
