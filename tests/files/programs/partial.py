# `functools.partial` of kernels, of their submits and of helpers that start some.
# test: run %s --arch a5 --arg full:f32[8x64]=1 --arg full:f32[8x64]=2 --arg zeros:f32[8x64] --arg zeros:f32[8x64] --arg zeros:f32[8x64]
# check: 3 tasks with 0 edges
# out[2]: f32 512*3
# out[3]: f32 512*2
# out[4]: f32 512*4
import functools

import pypto.language as pl


@pl.jit.incore
def add(
    x: pl.Tensor[[8, 64], pl.FP32], y: pl.Tensor[[8, 64], pl.FP32], out: pl.Out[pl.Tensor[[8, 64], pl.FP32]]
) -> pl.Tensor[[8, 64], pl.FP32]:
    out[:] = x + y
    return out


def both(y, x, out):
    return add(x, y, out)


@pl.function(type=pl.FunctionType.Orchestration)
def main(
    x: pl.Tensor[[8, 64], pl.FP32],
    y: pl.Tensor[[8, 64], pl.FP32],
    a: pl.Out[pl.Tensor[[8, 64], pl.FP32]],
    b: pl.Out[pl.Tensor[[8, 64], pl.FP32]],
    c: pl.Out[pl.Tensor[[8, 64], pl.FP32]],
):
    step = functools.partial(add, x)
    a = step(y, a)
    later = functools.partial(pl.submit, functools.partial(add, x, x))
    b, _ = later(b)
    c = functools.partial(both, out=c, x=y)(y)
    return a, b, c
