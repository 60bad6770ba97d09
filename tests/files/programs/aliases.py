# Kernels and words of the language under other names: what a function starts is what its names stand for.
#
# platforms: a5, a2a3
# test: run %s --verify --arg full:f32[16x32]=2 --arg zeros:f32[16x32]
# exit: 0
# check: 4 tasks with 3 edges
# check: verify clean
# out[1]: f32 512*72
import pypto.language as pl
from pypto.language import submit as start


@pl.jit.incore
def doubled(x: pl.Tensor[[16, 32], pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
    tile = pl.load(x, [0, 0], [16, 32])
    return pl.store(pl.add(tile, tile), [0, 0], y)


@pl.jit.incore
def tripled(x: pl.Tensor[[16, 32], pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
    return pl.store(pl.mul(pl.load(x, [0, 0], [16, 32]), 3.0), [0, 0], y)


class Kernels:
    three = tripled


again = doubled
BY_NAME = {"two": doubled, "three": tripled}


# 2, doubled, times 3, times 3, doubled: 72.
@pl.jit
def main(x: pl.Tensor[[16, 32], pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
    a = pl.create_tensor([16, 32], dtype=pl.FP32)
    b = pl.create_tensor([16, 32], dtype=pl.FP32)
    c = pl.create_tensor([16, 32], dtype=pl.FP32)
    a = again(x, a)
    b, first = start(tripled, a, b)
    c = Kernels.three(b, c)
    return BY_NAME["two"](c, y)
