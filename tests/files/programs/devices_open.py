# Extents that are as many as there are devices: checked for as many as a run has where nobody says how many.
#
# test: check %s
# check: ok, 1 function
# check: note[devices]: checked for 2 devices: `NR` is 2
# check: help: use `--set NR=N` for other numbers
# test: check %s --set NR=3
# check-not: note
# test: run %s --func one --devices 3 --verify --arg full:f32[3x16x64]=2 --arg zeros:f32[3x16x64]
# check: 3 tasks with 0 edges
# check: verify clean
# out[1]: f32 3072*4
import pypto.language as pl
import pypto.language.distributed as pld

NR = pl.dynamic("NR")


@pl.jit.incore
def twice(x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    tile = pl.load(x, [0, 0], [16, 64])
    return pl.store(pl.add(tile, tile), [0, 0], y)


@pl.jit
def on_one(x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    return twice(x, y)


@pl.jit.host
def one(x: pl.Tensor[[NR, 16, 64], pl.FP32], y: pl.Out[pl.Tensor[[NR, 16, 64], pl.FP32]]):
    for r in pl.range(pld.world_size()):
        on_one(x[r], y[r], device=r)
    return y


@pl.jit.host
def other(x: pl.Tensor[[NR, 16, 64], pl.FP32], y: pl.Out[pl.Tensor[[NR, 16, 64], pl.FP32]]):
    for r in pl.range(pld.world_size()):
        on_one(x[r], y[r], device=r)
    return y
