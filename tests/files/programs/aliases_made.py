# Kernels that a function makes, under names, in a class and in a dict: what a function starts is what its names stand for.
#
# platforms: a5, a2a3
# test: run %s --verify --arg full:f32[16x32]=2 --arg zeros:f32[16x32]
# exit: 0
# check: 6 tasks with 5 edges
# check: verify clean
# out[1]: f32 512*240
import pypto.language as pl
from pypto.language import submit as start


def scaled_by(factor):
    @pl.jit.incore
    def scaled(x: pl.Tensor[[16, 32], pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
        return pl.store(pl.mul(pl.load(x, [0, 0], [16, 32]), factor), [0, 0], y)

    return scaled


@pl.jit.incore
def doubled(x: pl.Tensor[[16, 32], pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
    tile = pl.load(x, [0, 0], [16, 32])
    return pl.store(pl.add(tile, tile), [0, 0], y)


class Kernels:
    five = scaled_by(5.0)


again = doubled
three = scaled_by(3.0)
BY_NAME = {"half": scaled_by(0.5), "four": scaled_by(4.0)}


# 2, doubled, times 3, 5, 4, a half, doubled: 240.
@pl.jit
def main(x: pl.Tensor[[16, 32], pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
    a = pl.create_tensor([16, 32], dtype=pl.FP32)
    b = pl.create_tensor([16, 32], dtype=pl.FP32)
    c = pl.create_tensor([16, 32], dtype=pl.FP32)
    d = pl.create_tensor([16, 32], dtype=pl.FP32)
    a = again(x, a)
    b, first = start(three, a, b)
    c = Kernels.five(b, c)
    d = BY_NAME["four"](c, d)
    return doubled(BY_NAME["half"](d, d), y)
