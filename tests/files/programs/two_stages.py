# A whole program: two kernels, a tensor between them, an edge that follows from directions.
#
# args: full:f32[64x64]=1.5 zeros:f32[64x64]
# platforms: a5, a2a3
# test: run %s --verify
# exit: 0
# check: 2 tasks with 1 edge
# check: kernels clean
# check: tasks clean
# check: all orders of the tasks on any number of clusters, any contents of the tensors
# check: verify clean same bytes as the sequential semantics: x, out
# check: #0 doubled
# check: #1 plus_one
# check: 100% of the time: #0 doubled → #1 plus_one
# out[1]: f32 4096*4.0
# test: graph %s
# check: main: 2 tasks, 1 edge
# check: #1 plus_one, line
# check: after #0 doubled: it reads what that writes, `middle`
# test: run %s --expect out=full:f32[64x64]=4.5,atol=0.5
# check: expect clean out: all 4096 elements as in full:f32[64x64]=4.5 (atol 0.5)
# test: run %s --clusters 1 --order 7
# check: on 1 cluster
# out[1]: f32 4096*4.0
# test: run %s --device p150
# check: 2 of 2 tasks launched through the command queue
# out[1]: f32 4096*4.0
import pypto.language as pl


@pl.jit.incore
def doubled(x: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    out[:] = pl.add(x, x)
    return out


@pl.jit.incore
def plus_one(x: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    out[:] = pl.add(x, 1.0)
    return out


@pl.jit
def main(x: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    middle = pl.create_tensor([64, 64], dtype=pl.FP32)
    middle = doubled(x, middle)
    out = plus_one(middle, out)
    return out
