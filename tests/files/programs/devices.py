# A program for several devices: a function of the host starts functions on each, which have windows of memory of their own.
#
# platforms: a5, a2a3
# test: run %s --devices 3 --verify --arg full:f32[3x8x16]=2 --arg zeros:f32[3x8x16]
# exit: 0
# check: 6 tasks with 3 edges
# check: verify clean
# check: staged (r = 2)
# out[1]: f32 128*2 128*5 128*10
# test: run %s --device p150 --arg full:f32[2x8x16]=2 --arg zeros:f32[2x8x16]
# exit: 2
# check: a program of 2 devices is not sent to one board
# test: run %s --arg full:f32[2x8x16]=2 --arg zeros:f32[2x8x16]
# exit: 0
# check: 4 tasks with 2 edges
# out[1]: f32 128*2 128*5
# test: graph %s --arg full:f32[2x8x16]=2 --arg zeros:f32[2x8x16]
# exit: 0
# check: after #2 staged: it reads what that writes, `window0`
import pypto.language as pl
import pypto.language.distributed as pld

NR = pl.dynamic("NR")


@pl.jit.incore
def staged(
    x: pl.Tensor[[8, 16], pl.FP32], data: pld.DistributedTensor[[8, 16], pl.FP32], rank: pl.Scalar[pl.INT32]
):
    tile = pl.load(x, [0, 0], [8, 16])
    data = pl.store(pl.add(pl.mul(tile, pl.cast(rank, pl.FP32)), tile), [0, 0], data)
    return data


@pl.jit.incore
def squared(data: pld.DistributedTensor[[8, 16], pl.FP32], y: pl.Out[pl.Tensor[[8, 16], pl.FP32]], rank: pl.Scalar[pl.INT32]):
    # (rank + 1) * 2 + rank * rank
    square = pl.cast(rank * rank, pl.FP32)
    y = pl.store(pl.add(pl.load(data, [0, 0], [8, 16]), square), [0, 0], y)
    return y


@pl.jit
def on_a_device(
    x: pl.Tensor[[8, 16], pl.FP32],
    y: pl.Out[pl.Tensor[[8, 16], pl.FP32]],
    data: pld.DistributedTensor[[8, 16], pl.FP32],
    rank: pl.Scalar[pl.INT32],
):
    data = staged(x, data, rank)
    return squared(data, y, rank)


@pl.jit.host
def on_all(x: pl.Tensor[[NR, 8, 16], pl.FP32], y: pl.Out[pl.Tensor[[NR, 8, 16], pl.FP32]]):
    buffer = pld.alloc_window_buffer([8, 16], dtype=pl.FP32)
    for r in pl.range(pld.world_size()):
        data = pld.window(buffer, [8, 16], dtype=pl.FP32)
        on_a_device(x[r], y[r], data, r, device=r)
    return y
